"""The custom operators of PyTorch `heed::attention` and `heed::attention_backward`, which heed.torch calls.

The forward operator returns the result and the mark of a state: what the engine stored for the backward pass. The state
lives as long as the memory of the mark, and serves one backward pass. A backward pass without a state (a second one
through the same graph, or with a copy of the mark) computes the forward pass again.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import torch
from torch import Tensor

from . import _heed

_PRECISIONS = {torch.float32: "float32", torch.float64: "float64"}
SEPARATOR = "\x1f"  # between the settings, which are texts such as "attention.score=additive"


@functools.lru_cache(maxsize=512)
def operator(settings: str, precision: str, heads: int, widths: tuple[int, ...], longest: int) -> (
        _heed.AttentionOperator):
    """The engine's operator for these settings: of heads with the widths of queries, keys and values; or with
    projections, of one width, or, for cross attention, with that of the encoder output."""
    all_settings = [f"precision={precision}", *filter(None, settings.split(SEPARATOR))]
    try:
        if len(widths) == 3:
            return _heed.attention_operator(all_settings, heads, *widths, longest)
        return _heed.multi_head_operator(all_settings, heads, widths[0], widths[1] if len(widths) == 2 else 0, longest)
    except _heed.Refused as error:
        raise _heed.Refused(str(error).replace("command line: ", "", 1)) from None


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


_SCHEMA = ("Tensor[] inputs, Tensor[] parameters, Tensor? bias, Tensor? lengths, Tensor? allowed, Tensor? seed, "
           "str settings, int heads, int longest, int offset, bool[] differentiable")


class _Arguments(NamedTuple):
    """The arguments of both operators, as in the schema."""

    inputs: Sequence[Tensor]          # queries, keys and values; or x; or x and the encoder output
    parameters: Sequence[Tensor]      # contiguous, in the engine's order
    bias: Optional[Tensor]            # [H or 1, Tq, Tk], contiguous
    lengths: Optional[Tensor]         # [B], int32
    allowed: Optional[Tensor]         # [B or 1, H or 1, Tq, Tk], uint8, contiguous
    seed: Optional[Tensor]            # one int64; None: nothing is random
    settings: str
    heads: int
    longest: int                      # 0: that of the inputs
    offset: int
    differentiable: Sequence[bool]    # of the inputs, the parameters and the bias

    def further(self) -> list[Tensor]:
        return [*self.parameters] if self.bias is None else [*self.parameters, self.bias]

    def operator(self) -> _heed.AttentionOperator:
        longest = self.longest
        if not longest:
            longest = max(int(self.inputs[0].shape[-2]) + self.offset, int(self.inputs[-1].shape[-2]), 1)
        widths = tuple(int(x.shape[-1]) for x in self.inputs)
        found = operator(self.settings, _PRECISIONS[self.inputs[0].dtype], self.heads, widths, longest)
        for (name, shape), given in zip(found.parameters(), self.parameters):
            if list(given.shape) != shape:
                raise _heed.Refused(f"the parameter {name} must have the shape {shape}; it has {list(given.shape)}")
        return found

    def call(self) -> _heed.OperatorCall:
        keys = self.inputs[-1].shape[-2]
        if self.lengths is not None and len(self.lengths) and not 0 <= self.lengths.min() <= self.lengths.max() <= keys:
            lowest, highest = int(self.lengths.min()), int(self.lengths.max())
            raise _heed.Refused(f"lengths has values from {lowest} to {highest}; there are {keys} keys")
        call = _heed.OperatorCall([_memory(x) for x in self.inputs], [x.data_ptr() for x in self.parameters],
                                  list(self.differentiable), torch.get_num_threads())
        call.set_mask(self.offset, 0 if self.lengths is None else self.lengths.data_ptr(),
                      *(0, 1, 1) if self.allowed is None else (self.allowed.data_ptr(), *self.allowed.shape[:2]))
        if self.bias is not None:
            call.set_bias(_memory(self.bias))
        if self.seed is not None:
            call.set_training(int(self.seed.item()))
        return call

    def result(self) -> Tensor:
        """Memory for the result: of heads, so that a merge of the heads copies nothing."""
        x = self.inputs[0]
        if len(self.inputs) == 3:
            batch, heads, queries, _ = x.shape
            return x.new_empty((batch, queries, heads, self.inputs[2].shape[-1])).transpose(1, 2)
        return x.new_empty((*x.shape[:-1], self.operator().result_width()))

    def gradients(self) -> list[Tensor]:
        """Memory for the gradients of all arguments that require one."""
        all_strides = [*map(gradient_strides, self.inputs), *(tuple(x.stride()) for x in self.further())]
        return [x.new_empty_strided(x.shape, strides)
                for x, strides, wanted in zip([*self.inputs, *self.further()], all_strides, self.differentiable)
                if wanted]


def _memory(x: Tensor) -> tuple[int, list[int], list[int]]:
    return x.data_ptr(), list(x.shape), list(x.stride())


@torch.library.custom_op("heed::attention", mutates_args=(), device_types="cpu",
                         schema=f"({_SCHEMA}) -> (Tensor, Tensor)")
def attention_forward(*given: Any) -> tuple[Tensor, Tensor]:
    arguments = _Arguments(*given)
    y = arguments.result()
    return y, torch.from_numpy(arguments.operator().forward(arguments.call(), _memory(y)))


@attention_forward.register_fake
def _(*given: Any) -> tuple[Tensor, Tensor]:
    arguments = _Arguments(*given)
    arguments.operator()
    return arguments.result(), torch.empty(1, dtype=torch.int64)


@torch.library.custom_op("heed::attention_backward", mutates_args=(), device_types="cpu",
                         schema=f"(Tensor dy, Tensor mark, {_SCHEMA}) -> Tensor[]")
def attention_backward(dy: Tensor, mark: Tensor, *given: Any) -> list[Tensor]:
    arguments = _Arguments(*given)
    gradients = arguments.gradients()
    arguments.operator().backward(arguments.call(), mark.data_ptr(), _memory(dy), [x.data_ptr() for x in gradients])
    return gradients


@attention_backward.register_fake
def _(dy: Tensor, mark: Tensor, *given: Any) -> list[Tensor]:
    return _Arguments(*given).gradients()


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    arguments = _Arguments(*inputs)
    ctx.counts = len(arguments.inputs), len(arguments.parameters)
    ctx.options = tuple(arguments[6:])
    ctx.save_for_backward(*arguments.inputs, *arguments.parameters, *arguments[2:6], output[1])


def _pull(ctx: Any, dy: Tensor, _: Any) -> tuple[Any, ...]:
    saved = list(ctx.saved_tensors)
    first, second = ctx.counts[0], sum(ctx.counts)
    bias, lengths, allowed, seed, mark = saved[second:]
    arguments = _Arguments(saved[:first], saved[first:second], bias, lengths, allowed, seed, *ctx.options)
    gradients = iter(torch.ops.heed.attention_backward(dy, mark, *arguments))
    of_all = [next(gradients) if wanted else None for wanted in arguments.differentiable]
    of_bias = None if bias is None else of_all[-1]
    return of_all[:first], of_all[first:second], of_bias, *(None,) * (len(arguments) - 3)


def _refuse_second(ctx: Any, *_: Any) -> Any:
    raise NotImplementedError("heed.torch has no second derivatives: attention was part of a gradient that is "
                              "differentiated again; compute that gradient without create_graph=True")


attention_forward.register_autograd(_pull, setup_context=_remember)
attention_backward.register_autograd(_refuse_second)
