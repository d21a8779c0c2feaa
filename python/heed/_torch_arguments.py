"""Checks the arguments of heed.torch, and makes of them what the operator takes. torch.compile traces these functions,
so numbers stay numbers: none of them becomes a part of a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional, Union

import numpy
import torch
from torch import Tensor
from torch.autograd import forward_ad

from . import _arguments, _heed

Option = Union[str, bool, int, float]
SEPARATOR = "\x1f"  # between assignments such as "attention.score=additive"
FURTHER = "\x1e"  # between what arguments choose and what `options` add
INTEGER, NUMBER = "\x1c", "\x1d"  # in place of a number, which is stored beside the text
_CONTROLS = (SEPARATOR, FURTHER, INTEGER, NUMBER)
_WHOLE = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


class Choices(NamedTuple):
    """The options of a call: a text with a mark for each number, and the numbers in order."""

    text: str
    integers: tuple[int, ...]
    numbers: tuple[float, ...]


def choices(score: str, normalizer: str, position: str, causal: Optional[bool], prefix: int, window: int, dilation: int,
            score_mod: str, mask_mod: str, dropout: float, options: Optional[Mapping[str, Option]]) -> Choices:
    """causal: None where it does not exist."""
    texts: list[str] = []
    integers: list[int] = []
    numbers: list[float] = []
    for name, word in (("score", score), ("normalizer", normalizer), ("score_mod", score_mod), ("mask_mod", mask_mod)):
        if not name.endswith("_mod") or word != "":
            texts.append(f"attention.{name}={_text(name, word)}")
    texts.append(f"position.kind={_text('position', position)}")
    if causal is not None:
        texts.append(f"attention.causal={'true' if flag('causal', causal) else 'false'}")
    for name, value, default in (("prefix", prefix, 0), ("window", window, 0), ("dilation", dilation, 1)):
        number = whole(name, value)
        if number != default:
            texts.append(f"attention.{name}={INTEGER}")
            integers.append(number)
    rate = real("dropout", dropout)
    if rate != 0:
        texts.append(f"attention.dropout={NUMBER}")
        numbers.append(rate)
    further = [_further(name, option, integers, numbers) for name, option in by_names("options", options).items()]
    return Choices(SEPARATOR.join(texts) + FURTHER + SEPARATOR.join(further), tuple(integers), tuple(numbers))


def _further(name: str, option: Any, integers: list[int], numbers: list[float]) -> str:
    if "=" in _text("the name of an option", name):
        raise _heed.Refused(f"options: there is no option {name!r}")
    if isinstance(option, (bool, numpy.bool_)):
        return f"{name}={'true' if option else 'false'}"
    if isinstance(option, str):
        return f"{name}={_text(name, option)}"
    if isinstance(option, (list, tuple)):
        return f"{name}={list(option)}"
    if isinstance(option, int) or (hasattr(option, "__index__") and not isinstance(option, Tensor)):
        integers.append(whole(name, option, -2**31))
        return f"{name}={INTEGER}"
    numbers.append(real(name, option))
    return f"{name}={NUMBER}"


def assignments(chosen: Choices) -> tuple[list[str], list[str]]:
    """What arguments choose, and what options add, with the numbers in their places."""
    integers, numbers = iter(chosen.integers), iter(chosen.numbers)
    both = []
    for part in chosen.text.split(FURTHER):
        texts = []
        for text in filter(None, part.split(SEPARATOR)):
            if text.endswith(INTEGER):
                text = text[:-1] + str(int(next(integers)))
            elif text.endswith(NUMBER):
                text = text[:-1] + repr(float(next(numbers)))
            texts.append(text)
        both.append(texts)
    return both[0], both[1]


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, numpy.bool_)):
        raise TypeError(f"{name} is {value!r}; it must be True or False")
    return bool(value)


def by_names(name: str, value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} is {value!r}; it must be a dictionary")
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}; it must be a text")
    for control in _CONTROLS:
        if control in value:
            raise _heed.Refused(f"{name} is {value!r}; it must not contain control characters")
    return value


def whole(name: str, value: Any, least: int = 0, bits: int = 31) -> int:
    """The same as _arguments.whole, which would take a tensor of one integer."""
    if isinstance(value, Tensor):
        raise TypeError(f"{name} is {value!r}; it must be a whole number")
    return _arguments.whole(name, value, least, bits)


def real(name: str, value: Any) -> float:
    if isinstance(value, (bool, str, Tensor)) or not (isinstance(value, (int, float)) or hasattr(value, "__float__")):
        raise TypeError(f"{name} is {value!r}; it must be a number")
    return value if isinstance(value, float) else float(value)


def cast(x: Any) -> Any:
    """Under autocast, a tensor of half precision in float32, as for PyTorch's own operators that compute in float32."""
    if isinstance(x, Tensor) and x.dtype in (torch.float16, torch.bfloat16) and torch.is_autocast_enabled("cpu"):
        return x.float()
    return x


def check_inputs(inputs: Sequence[tuple[str, Tensor]], axes: int, form: str) -> None:
    first_name, first = inputs[0]
    for name, x in inputs:
        check_place(name, x, first_name, first)
        if x.dim() != axes:
            raise _heed.Refused(f"{name} has the shape {list(x.shape)}; it must have {axes} axes, {form}")


def _has_tangent(x: Tensor) -> bool:
    if forward_ad._current_level < 0:
        return False
    return forward_ad.unpack_dual(x).tangent is not None  # type: ignore[no-untyped-call]


def check_place(name: str, x: Any, first_name: str, first: Any) -> None:
    """Raises unless the argument is a tensor of the first input's device and precision, which the engine has."""
    check_device(name, x, first_name, first)
    if x.dtype not in (torch.float32, torch.float64):
        raise _heed.Refused(f"{name} is of {x.dtype}; heed.torch computes in float32 and float64: use {name}.float()")
    if x.dtype != first.dtype:
        raise _heed.Refused(f"{name} is of {x.dtype}, and {first_name} of {first.dtype}: give all one precision")
    if _has_tangent(x):
        raise NotImplementedError("heed.torch has no forward-mode derivatives (torch.func.jvp, torch.autograd."
                                  f"forward_ad), and {name} has a tangent: use reverse mode, such as backward()")


def check_device(name: str, x: Any, first_name: str, first: Any) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"{name} is of type {type(x).__name__}; it must be a torch.Tensor")
    if x.device.type not in ("cpu", "meta"):
        raise _heed.Refused(f"{name} is on the device {x.device}; heed.torch computes on the CPU: use {name}.cpu()")
    if x.device != first.device:
        raise _heed.Refused(f"{name} is on the device {x.device}, and {first_name} is on the device {first.device}: "
                            "give all arguments on the CPU")


def whole_segments(segments: Any, first_name: str, first: Tensor, tokens: int) -> Tensor:
    """[B, T], int32, contiguous: numbers that differ where those that are given do."""
    check_device("segments", segments, first_name, first)
    batch = first.shape[0]
    if segments.dim() != 2 or tuple(segments.shape) != (batch, tokens) or segments.dtype not in _WHOLE:
        raise _heed.Refused(f"segments is {list(segments.shape)} of {segments.dtype}; it must be [{batch}, {tokens}] "
                            "integers, the segment of each token")
    begins = torch.cat([segments.new_zeros(batch, 1, dtype=torch.bool), segments[:, 1:] != segments[:, :-1]], 1)
    numbers: Tensor = begins[:, :tokens].cumsum(1, dtype=torch.int32).contiguous()
    return numbers


def key_counts(lengths: Any, first_name: str, first: Tensor, counted: str = "keys") -> Tensor:
    """[B], int32, contiguous. Values that 32 bits do not hold become the largest, of which the operator says so."""
    batch = first.shape[0]
    if isinstance(lengths, (list, tuple)):
        lengths = torch.tensor([whole("a value of lengths", count, -2**31) for count in lengths], dtype=torch.int64,
                               device=first.device)
    elif not isinstance(lengths, Tensor) and hasattr(lengths, "__array__"):
        lengths = torch.as_tensor(lengths)
    check_device("lengths", lengths, first_name, first)
    if lengths.dim() != 1 or lengths.shape[0] != batch or lengths.dtype not in _WHOLE:
        raise _heed.Refused(f"lengths is {list(lengths.shape)} of {lengths.dtype}; it must be [{batch}] integers, "
                            f"the number of {counted} of each batch entry")
    counts: Tensor = lengths.to(torch.int64).clamp(-1, 2**31 - 1).to(torch.int32).contiguous()
    return counts


def whole_mask(mask: Any, first_name: str, first: Tensor, heads: int, queries: int, keys: int) -> Tensor:
    """[B or 1, H or 1, Tq, Tk], uint8, contiguous."""
    check_device("mask", mask, first_name, first)
    batch = first.shape[0]
    if mask.dtype != torch.bool:
        raise _heed.Refused(f"mask is of {mask.dtype}; it must be torch.bool, true where a query may attend to a key; "
                            "numbers that are added to the scores are a bias (bias=)")
    shape = mask.shape if mask.dim() == 4 else (1, 1, *mask.shape)
    if (len(shape) != 4 or shape[0] not in (1, batch) or shape[1] not in (1, heads) or shape[2] not in (1, queries) or
            shape[3] not in (1, keys)):
        raise _heed.Refused(f"mask is {list(mask.shape)}; it must be [{queries}, {keys}] or [{batch} or 1, {heads} or "
                            f"1, {queries}, {keys}]")
    filled: Tensor = mask.reshape(shape).expand(shape[0], shape[1], queries, keys).contiguous().view(torch.uint8)
    return filled


def whole_bias(bias: Any, first_name: str, first: Tensor, heads: int, queries: int, keys: int) -> Tensor:
    """[H or 1, Tq, Tk], contiguous."""
    check_place("bias", bias, first_name, first)
    shape = (1,) * (3 - bias.dim()) + tuple(bias.shape)
    if (bias.dim() < 2 or len(shape) != 3 or shape[0] not in (1, heads) or shape[1] not in (1, queries) or
            shape[2] not in (1, keys)):
        raise _heed.Refused(f"bias is {list(bias.shape)}; it must be [{queries}, {keys}] or [{heads} or 1, {queries}, "
                            f"{keys}], the same for all batch entries")
    filled: Tensor = bias.reshape(shape).expand(shape[0], queries, keys).contiguous()
    return filled
