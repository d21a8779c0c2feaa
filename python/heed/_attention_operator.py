"""The custom operators of PyTorch `heed::attention` and `heed::attention_backward`, which heed.torch calls.

The forward operator returns the result and the mark of a state: what the engine stored for the backward pass. The state
lives as long as the memory of the mark, and serves one backward pass. A backward pass without a state (a second one
through the same graph, or with a copy of the mark) computes the forward pass again.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Optional

import torch
from torch import Tensor

from . import _heed

_PRECISIONS = {torch.float32: "float32", torch.float64: "float64"}
SEPARATOR = "\x1f"  # between the settings, which are texts such as "attention.score=additive"


@functools.lru_cache(maxsize=512)
def operator(settings: str, precision: str, heads: int, widths: tuple[int, ...], longest: int) -> (
        _heed.AttentionOperator):
    """The engine's operator for these settings: of heads with the widths of queries, keys and values, or with
    projections, of one width."""
    all_settings = [f"precision={precision}", *filter(None, settings.split(SEPARATOR))]
    try:
        if len(widths) == 3:
            return _heed.attention_operator(all_settings, heads, *widths, longest)
        return _heed.multi_head_operator(all_settings, heads, widths[0], longest)
    except _heed.Refused as error:
        raise _heed.Refused(str(error).replace("command line: ", "", 1)) from None


def operator_for(settings: str, inputs: Sequence[Tensor], heads: int, longest: int, offset: int = 0) -> (
        _heed.AttentionOperator):
    """The operator for these inputs: queries, keys and values, or the input of the projections."""
    if not longest:
        longest = max(int(inputs[0].shape[-2]) + offset, int(inputs[-1].shape[-2]), 1)
    return operator(settings, _PRECISIONS[inputs[0].dtype], heads, tuple(int(x.shape[-1]) for x in inputs), longest)


def gradient_strides(x: Tensor) -> tuple[int, ...]:
    """The strides of an input's gradient, by the engine's rule: the input's, if its batch entries fill their memory one
    after the other; otherwise those of a contiguous tensor."""
    contiguous: list[int] = []
    size = 1
    for extent in reversed(x.shape):
        contiguous.insert(0, size)
        size *= extent
    filled = 1
    left = [(x.stride(axis), x.shape[axis]) for axis in range(1, x.dim()) if x.shape[axis] != 1]
    if any(extent == 0 for _, extent in left):
        left = []
    while left:
        axis = next((axis for axis in left if axis[0] == filled), None)
        if axis is None:
            return tuple(contiguous)
        left.remove(axis)
        filled *= axis[1]
    return tuple(x.stride()) if x.shape[0] == 1 or x.stride(0) == filled else tuple(contiguous)


def _memory(x: Tensor) -> tuple[int, list[int], list[int]]:
    return x.data_ptr(), list(x.shape), list(x.stride())


def _address(x: Optional[Tensor]) -> int:
    return 0 if x is None else x.data_ptr()


def _call(inputs: Sequence[Tensor], parameters: Sequence[Tensor], lengths: Optional[Tensor], allowed: Optional[Tensor],
          seed: Optional[Tensor], differentiable: Sequence[bool], offset: int) -> _heed.OperatorCall:
    call = _heed.OperatorCall([_memory(x) for x in inputs], [x.data_ptr() for x in parameters], list(differentiable),
                              torch.get_num_threads())
    call.set_mask(offset, _address(lengths), _address(allowed), 1 if allowed is None else allowed.shape[0],
                  1 if allowed is None else allowed.shape[1])
    if seed is not None:
        call.set_training(int(seed.item()))
    return call


def _check_parameters(owner: _heed.AttentionOperator, parameters: Sequence[Tensor]) -> None:
    for (name, shape), given in zip(owner.parameters(), parameters):
        if list(given.shape) != shape:
            raise _heed.Refused(f"the parameter {name} must have the shape {shape}; it has {list(given.shape)}")


def _result(inputs: Sequence[Tensor], owner: _heed.AttentionOperator) -> Tensor:
    x = inputs[0]
    if len(inputs) == 3:
        batch, heads, queries, _ = x.shape
        return x.new_empty((batch, queries, heads, inputs[2].shape[-1])).transpose(1, 2)
    return x.new_empty((*x.shape[:-1], owner.result_width()))


_ARGUMENTS = ("Tensor[] inputs, Tensor[] parameters, Tensor? lengths, Tensor? allowed, Tensor? seed, str settings, "
              "int heads, int longest, int offset, bool[] differentiable")


@torch.library.custom_op("heed::attention", mutates_args=(), device_types="cpu",
                         schema=f"({_ARGUMENTS}) -> (Tensor, Tensor)")
def attention_forward(inputs: Sequence[Tensor], parameters: Sequence[Tensor], lengths: Optional[Tensor],
                      allowed: Optional[Tensor], seed: Optional[Tensor], settings: str, heads: int, longest: int,
                      offset: int, differentiable: Sequence[bool]) -> tuple[Tensor, Tensor]:
    owner = operator_for(settings, inputs, heads, longest, offset)
    _check_parameters(owner, parameters)
    y = _result(inputs, owner)
    mark = owner.forward(_call(inputs, parameters, lengths, allowed, seed, differentiable, offset), _memory(y))
    return y, torch.from_numpy(mark)


@attention_forward.register_fake
def _(inputs: Sequence[Tensor], parameters: Sequence[Tensor], lengths: Optional[Tensor], allowed: Optional[Tensor],
      seed: Optional[Tensor], settings: str, heads: int, longest: int, offset: int,
      differentiable: Sequence[bool]) -> tuple[Tensor, Tensor]:
    owner = operator_for(settings, inputs, heads, longest, offset)
    _check_parameters(owner, parameters)
    return _result(inputs, owner), torch.empty(1, dtype=torch.int64)


@torch.library.custom_op("heed::attention_backward", mutates_args=(), device_types="cpu",
                         schema=f"(Tensor dy, Tensor mark, {_ARGUMENTS}) -> Tensor[]")
def attention_backward(dy: Tensor, mark: Tensor, inputs: Sequence[Tensor], parameters: Sequence[Tensor],
                       lengths: Optional[Tensor], allowed: Optional[Tensor], seed: Optional[Tensor], settings: str,
                       heads: int, longest: int, offset: int, differentiable: Sequence[bool]) -> list[Tensor]:
    owner = operator_for(settings, inputs, heads, longest, offset)
    gradients = _gradients(inputs, parameters, differentiable)
    owner.backward(_call(inputs, parameters, lengths, allowed, seed, differentiable, offset), mark.data_ptr(),
                   _memory(dy), [x.data_ptr() for x in gradients])
    return gradients


@attention_backward.register_fake
def _(dy: Tensor, mark: Tensor, inputs: Sequence[Tensor], parameters: Sequence[Tensor], lengths: Optional[Tensor],
      allowed: Optional[Tensor], seed: Optional[Tensor], settings: str, heads: int, longest: int, offset: int,
      differentiable: Sequence[bool]) -> list[Tensor]:
    return _gradients(inputs, parameters, differentiable)


def _gradients(inputs: Sequence[Tensor], parameters: Sequence[Tensor], differentiable: Sequence[bool]) -> list[Tensor]:
    all_strides = [*map(gradient_strides, inputs), *(tuple(x.stride()) for x in parameters)]
    return [x.new_empty_strided(x.shape, strides)
            for x, strides, wanted in zip([*inputs, *parameters], all_strides, differentiable) if wanted]


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    operands, parameters, lengths, allowed, seed, *ctx.options = inputs
    ctx.counts = len(operands), len(parameters)
    ctx.save_for_backward(*operands, *parameters, lengths, allowed, seed, output[1])


def _pull(ctx: Any, dy: Tensor, _: Any) -> tuple[Any, ...]:
    saved = list(ctx.saved_tensors)
    count, parameter_count = ctx.counts
    operands, parameters = saved[:count], saved[count:count + parameter_count]
    lengths, allowed, seed, mark = saved[count + parameter_count:]
    differentiable = ctx.options[-1]
    gradients = iter(torch.ops.heed.attention_backward(dy, mark, operands, parameters, lengths, allowed, seed,
                                                       *ctx.options))
    of_all = [next(gradients) if wanted else None for wanted in differentiable]
    return of_all[:count], of_all[count:], *(None,) * (3 + len(ctx.options))


def _refuse_second(ctx: Any, *_: Any) -> Any:
    raise NotImplementedError("heed.torch has no second derivatives: attention was part of a gradient that is "
                              "differentiated again; compute that gradient without create_graph=True")


attention_forward.register_autograd(_pull, setup_context=_remember)
attention_backward.register_autograd(_refuse_second)
