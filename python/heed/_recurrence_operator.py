"""The custom operators of PyTorch `heed::linear_recurrence` and `heed::linear_recurrence_backward`, which
heed.torch.linear_recurrence calls. The mark of a state is as in _attention_operator.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

import torch
from torch import Tensor

from . import _heed
from ._attention_operator import PRECISIONS, gradient_strides, memory

_SCHEMA = ("Tensor q, Tensor k, Tensor v, Tensor? g, Tensor? initial_state, Tensor? beta, Tensor? lengths, "
           "Tensor? segments, bool output_final_state, bool[] differentiable")


class _Arguments(NamedTuple):
    """The arguments of both operators, as in the schema."""

    q: Tensor                         # [B, Hk, T, K]
    k: Tensor
    v: Tensor                         # [B, H, T, V]
    g: Optional[Tensor]               # [B, H, T, K or 1]
    initial_state: Optional[Tensor]   # [B, H, K, V]
    beta: Optional[Tensor]            # [B, H, T, K or 1]
    lengths: Optional[Tensor]         # [B], int32, contiguous
    segments: Optional[Tensor]        # [B, T], int32, contiguous
    output_final_state: bool
    differentiable: Sequence[bool]    # of the first six

    def inputs(self) -> list[Optional[Tensor]]:
        return [self.q, self.k, self.v, self.g, self.initial_state, self.beta]

    def call(self) -> _heed.RecurrenceCall:
        batch, tokens = self.q.shape[0], self.q.shape[2]
        for name, x, shape in (("lengths", self.lengths, [batch]), ("segments", self.segments, [batch, tokens])):
            if x is not None and (not x.is_contiguous() or x.dtype != torch.int32 or list(x.shape) != shape):
                raise _heed.Refused(f"the argument {name} of the operator heed::linear_recurrence must be {shape} of "
                                    "torch.int32, contiguous: call heed.torch.linear_recurrence, which makes it so")
        return _heed.RecurrenceCall(PRECISIONS[self.q.dtype], [None if x is None else memory(x) for x in self.inputs()],
                                    self.differentiable, 0 if self.lengths is None else self.lengths.data_ptr(),
                                    0 if self.segments is None else self.segments.data_ptr(), torch.get_num_threads())

    def results(self) -> tuple[Tensor, Tensor]:
        """Memory for the outputs, so that a merge of the heads copies nothing, and for the final state, which is empty
        if it is not wanted."""
        batch, heads, tokens, values = self.v.shape
        outputs = self.v.new_empty_strided((batch, heads, tokens, values),
                                           (tokens * heads * values, values, heads * values, 1))
        shape = (batch, heads, self.q.shape[3], values) if self.output_final_state else (0,)
        return outputs, self.v.new_empty(shape)

    def state_memory(self, state: Tensor) -> Optional[tuple[int, list[int], list[int]]]:
        return memory(state) if self.output_final_state else None

    def gradients(self) -> list[Tensor]:
        """Memory for the gradients of all arguments that require one."""
        return [x.new_empty_strided(x.shape, gradient_strides(x))
                for x, wanted in zip(self.inputs(), self.differentiable) if wanted and x is not None]


def _checked(arguments: _Arguments) -> _Arguments:
    q = arguments.q
    for name, x in zip(("q", "k", "v", "g", "initial_state", "beta"), arguments.inputs()):
        if x is not None and (x.dim() != 4 or x.dtype != q.dtype or x.dtype not in PRECISIONS):
            raise _heed.Refused(f"the argument {name} of the operator heed::linear_recurrence must have 4 axes and the "
                                f"precision of q, float32 or float64; it is {list(x.shape)} of {x.dtype}")
    return arguments


@torch.library.custom_op("heed::linear_recurrence", mutates_args=(), device_types="cpu",
                         schema=f"({_SCHEMA}) -> (Tensor, Tensor, Tensor)")
def recurrence_forward(*given: Any) -> tuple[Tensor, Tensor, Tensor]:
    arguments = _checked(_Arguments(*given))
    outputs, state = arguments.results()
    mark = arguments.call().forward(memory(outputs), arguments.state_memory(state))
    return outputs, state, torch.from_numpy(mark)


@recurrence_forward.register_fake
def _(*given: Any) -> tuple[Tensor, Tensor, Tensor]:
    arguments = _Arguments(*given)
    return *arguments.results(), arguments.q.new_empty(1, dtype=torch.int64)


@torch.library.custom_op("heed::linear_recurrence_backward", mutates_args=(), device_types="cpu",
                         schema=f"(Tensor d_outputs, Tensor d_state, Tensor mark, {_SCHEMA}) -> Tensor[]")
def recurrence_backward(d_outputs: Tensor, d_state: Tensor, mark: Tensor, *given: Any) -> list[Tensor]:
    arguments = _checked(_Arguments(*given))
    gradients = arguments.gradients()
    arguments.call().backward(mark.data_ptr(), memory(d_outputs), arguments.state_memory(d_state),
                              [x.data_ptr() for x in gradients])
    return gradients


@recurrence_backward.register_fake
def _(d_outputs: Tensor, d_state: Tensor, mark: Tensor, *given: Any) -> list[Tensor]:
    return _Arguments(*given).gradients()


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    arguments = _Arguments(*inputs)
    ctx.others = tuple(arguments[8:])
    ctx.save_for_backward(*arguments[:8], output[2])


def _pull(ctx: Any, d_outputs: Tensor, d_state: Tensor, _: Any) -> tuple[Any, ...]:
    *saved, mark = ctx.saved_tensors
    arguments = _Arguments(*saved, *ctx.others)
    gradients = iter(torch.ops.heed.linear_recurrence_backward(d_outputs, d_state, mark, *arguments))
    of_inputs = [next(gradients) if wanted else None for wanted in arguments.differentiable]
    return *of_inputs, None, None, None, None


def _refuse_second(ctx: Any, *_: Any) -> Any:
    raise NotImplementedError("heed.torch has no second derivatives: linear_recurrence was part of a gradient that is "
                              "differentiated again; compute that gradient without create_graph=True")


recurrence_forward.register_autograd(_pull, setup_context=_remember)
recurrence_backward.register_autograd(_refuse_second)
