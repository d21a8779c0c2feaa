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
from ._torch_arguments import SEPARATOR, Choices, assignments

PRECISIONS = {torch.float32: "float32", torch.float64: "float64"}
LAST_PART = "*"  # before the last part of a parameter's name, which stands for the full name


@functools.lru_cache(maxsize=512)
def operator(chosen: Choices, precision: str, heads: int, widths: tuple[int, ...], longest: int) -> (
        _heed.AttentionOperator):
    """The engine's operator for these options: of heads with the widths of queries, keys and values; or with
    projections, of one width, or, for cross attention, with that of the encoder output."""
    arguments, further = assignments(chosen)
    try:
        if len(widths) == 3:
            return _heed.attention_operator(precision, arguments, further, heads, *widths, longest)
        return _heed.multi_head_operator(precision, arguments, further, heads, widths[0],
                                         widths[1] if len(widths) == 2 else 0, longest)
    except _heed.Refused as error:
        raise _heed.Refused(str(error).replace("heed.torch: ", "")) from None


def order_of(names: Sequence[str], given: Sequence[str]) -> list[int]:
    """For each parameter, which of those that are given it is."""
    found: dict[str, int] = {}
    for index, name in enumerate(given):
        full = name
        if name.startswith(LAST_PART):
            last = name.removeprefix(LAST_PART)
            meant = [one for one in names if one.split(".")[-1] == last]
            if len(meant) != 1:
                allowed = ", ".join(names) or "none"
                raise _heed.Refused(f"there is no parameter {last!r}; parameters of these options: {allowed}"
                                    if not meant else f"the parameter {last!r} is one of {', '.join(meant)}: give its "
                                    "full name in `parameters`")
            full = meant[0]
            if full in found:
                raise _heed.Refused(f"the parameter {full} is given twice: as {last!r} and in `parameters`")
        found[full] = index
    missing = [name for name in names if name not in found]
    if missing:
        raise _heed.Refused(f"parameters are missing: {', '.join(missing)}; give each by its last part, such as "
                            f"{missing[0].split('.')[-1]}=tensor, or in `parameters`")
    unknown = [name for name in found if name not in names]
    if unknown:
        raise _heed.Refused(f"there is no parameter {unknown[0]!r}; parameters of these options: "
                            f"{', '.join(names) or 'none'}")
    return [found[name] for name in names]


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
           "str options, SymInt[] integers, float[] numbers, str names, SymInt heads, SymInt longest, SymInt offset, "
           "SymInt width, bool[] differentiable")


class _Arguments(NamedTuple):
    """The arguments of both operators, as in the schema."""

    inputs: Sequence[Tensor]          # queries, keys and values; or x; or x and the encoder output
    parameters: Sequence[Tensor]      # contiguous
    bias: Optional[Tensor]            # [H or 1, Tq, Tk], contiguous
    lengths: Optional[Tensor]         # [B], int32, contiguous
    allowed: Optional[Tensor]         # [B or 1, H or 1, Tq, Tk], uint8, contiguous
    seed: Optional[Tensor]            # one int64; None: nothing is random
    options: str                      # these three: Choices
    integers: Sequence[int]
    numbers: Sequence[float]
    names: str                        # of the parameters
    heads: int
    longest: int                      # 0: that of the inputs
    offset: int
    width: int                        # of the result
    differentiable: Sequence[bool]    # of the inputs, the parameters and the bias

    def further(self) -> list[Tensor]:
        return [*self.parameters] if self.bias is None else [*self.parameters, self.bias]

    def operator(self) -> _heed.AttentionOperator:
        longest = self.longest
        if not longest:
            longest = max(int(self.inputs[0].shape[-2]) + self.offset, int(self.inputs[-1].shape[-2]), 1)
        return operator(Choices(self.options, tuple(self.integers), tuple(self.numbers)),
                        PRECISIONS[self.inputs[0].dtype], self.heads, tuple(x.shape[-1] for x in self.inputs), longest)

    def order(self, found: _heed.AttentionOperator) -> list[int]:
        """For each parameter of the engine, which of the given ones it is."""
        wanted = found.parameters()
        order = order_of([name for name, _ in wanted], self.names.split(SEPARATOR) if self.names else [])
        for (name, shape), index in zip(wanted, order):
            given = list(self.parameters[index].shape)
            if given != shape:
                raise _heed.Refused(f"the parameter {name} must have the shape {shape}; it has {given}")
        return order

    def in_order(self, of_all: Sequence[Any], order: Sequence[int]) -> list[Any]:
        """What belongs to the inputs, the parameters and the bias, with the parameters in the engine's order."""
        first, last = len(self.inputs), len(self.inputs) + len(self.parameters)
        return [*of_all[:first], *(of_all[first + index] for index in order), *of_all[last:]]

    def call(self, order: Sequence[int]) -> _heed.OperatorCall:
        for x in (*self.further(), self.lengths, self.allowed):
            if x is not None and not x.is_contiguous():
                raise _heed.Refused("an argument of the operator heed::attention is not contiguous: call "
                                    "heed.torch.attention, which makes it so")
        keys = self.inputs[-1].shape[-2]
        if self.lengths is not None and len(self.lengths) and not 0 <= self.lengths.min() <= self.lengths.max() <= keys:
            lowest, highest = int(self.lengths.min()), int(self.lengths.max())
            raise _heed.Refused(f"lengths has values from {'below 0' if lowest < 0 else lowest} to {highest}"
                                f"{' or more' if highest == 2**31 - 1 else ''}; there are {keys} keys")
        call = _heed.OperatorCall([memory(x) for x in self.inputs], [self.parameters[n].data_ptr() for n in order],
                                  self.in_order(self.differentiable, order), torch.get_num_threads())
        call.set_mask(self.offset, 0 if self.lengths is None else self.lengths.data_ptr(),
                      *(0, 1, 1) if self.allowed is None else (self.allowed.data_ptr(), *self.allowed.shape[:2]))
        if self.bias is not None:
            call.set_bias(memory(self.bias))
        if self.seed is not None:
            call.set_training(int(self.seed.item()))
        return call

    def result(self) -> Tensor:
        """Memory for the result: of heads, so that a merge of the heads copies nothing. It is no view, so that it may
        be changed in place."""
        x = self.inputs[0]
        if len(self.inputs) == 3:
            batch, heads, queries, _ = x.shape
            return x.new_empty_strided((batch, heads, queries, self.width),
                                       (queries * heads * self.width, self.width, heads * self.width, 1))
        return x.new_empty((*x.shape[:-1], self.width))

    def gradients(self) -> list[Tensor]:
        """Memory for the gradients of all arguments that require one."""
        all_strides = [*map(gradient_strides, self.inputs), *(tuple(x.stride()) for x in self.further())]
        return [x.new_empty_strided(x.shape, strides)
                for x, strides, wanted in zip([*self.inputs, *self.further()], all_strides, self.differentiable)
                if wanted]


def memory(x: Tensor) -> tuple[int, list[int], list[int]]:
    return x.data_ptr(), list(x.shape), list(x.stride())


@torch.library.custom_op("heed::attention", mutates_args=(), device_types="cpu",
                         schema=f"({_SCHEMA}) -> (Tensor, Tensor)")
def attention_forward(*given: Any) -> tuple[Tensor, Tensor]:
    arguments = _Arguments(*given)
    found = arguments.operator()
    call = arguments.call(arguments.order(found))
    y = arguments.result()
    return y, torch.from_numpy(found.forward(call, memory(y)))


@attention_forward.register_fake
def _(*given: Any) -> tuple[Tensor, Tensor]:
    # Sizes may be symbols here, so nothing asks the engine.
    arguments = _Arguments(*given)
    return arguments.result(), arguments.inputs[0].new_empty(1, dtype=torch.int64)


@torch.library.custom_op("heed::attention_backward", mutates_args=(), device_types="cpu",
                         schema=f"(Tensor dy, Tensor mark, {_SCHEMA}) -> Tensor[]")
def attention_backward(dy: Tensor, mark: Tensor, *given: Any) -> list[Tensor]:
    arguments = _Arguments(*given)
    found = arguments.operator()
    order = arguments.order(found)
    gradients = arguments.gradients()
    of_wanted = iter(gradients)
    of_all = [next(of_wanted) if wanted else None for wanted in arguments.differentiable]
    found.backward(arguments.call(order), mark.data_ptr(), memory(dy),
                   [x.data_ptr() for x in arguments.in_order(of_all, order) if x is not None])
    return gradients


@attention_backward.register_fake
def _(dy: Tensor, mark: Tensor, *given: Any) -> list[Tensor]:
    return _Arguments(*given).gradients()


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    arguments = _Arguments(*inputs)
    ctx.counts = len(arguments.inputs), len(arguments.parameters)
    ctx.others = tuple(arguments[6:])
    ctx.save_for_backward(*arguments.inputs, *arguments.parameters, *arguments[2:6], output[1])


def _pull(ctx: Any, dy: Tensor, _: Any) -> tuple[Any, ...]:
    saved = list(ctx.saved_tensors)
    first, second = ctx.counts[0], sum(ctx.counts)
    bias, lengths, allowed, seed, mark = saved[second:]
    arguments = _Arguments(saved[:first], saved[first:second], bias, lengths, allowed, seed, *ctx.others)
    gradients = iter(torch.ops.heed.attention_backward(dy, mark, *arguments))
    of_all = [next(gradients) if wanted else None for wanted in arguments.differentiable]
    of_bias = None if bias is None else of_all[-1]
    # PyTorch takes an empty list for one of tensors.
    others: list[Any] = [[] if isinstance(other, (list, tuple)) and not other else None for other in arguments[3:]]
    return of_all[:first], of_all[first:second], of_bias, *others


def _refuse_second(ctx: Any, *_: Any) -> Any:
    raise NotImplementedError("heed.torch has no second derivatives: attention was part of a gradient that is "
                              "differentiated again; compute that gradient without create_graph=True")


attention_forward.register_autograd(_pull, setup_context=_remember)
attention_backward.register_autograd(_refuse_second)
