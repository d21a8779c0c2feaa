"""Heed's attention in PyTorch: every score, normaliser, position, mask and formula of the engine, by its streaming
kernels, in memory that grows linearly with the length.

    >>> from heed.torch import attention
    >>> y = attention(q, k, v, score="additive", query=wq, key=wk, v=w, causal=True)

    y_i = sum_j w_ij v_j,   w_i = normaliser(f(s(q_i, k_1) + bias_i1), f(s(q_i, k_2) + bias_i2), ...)

PyTorch's autograd differentiates it once, and torch.compile passes it through. It computes on the CPU, in float32 and
float64, with the number of threads of PyTorch (torch.get_num_threads). Batch entries are divided among the threads;
sums over the batch, which are the gradients of parameters, depend on that number in their last digits.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from ._packages import need

need("torch", "heed.torch")

import torch  # noqa: E402
from torch import Tensor, nn  # noqa: E402

from . import _heed  # noqa: E402
from ._attention_operator import SEPARATOR, operator  # noqa: E402
from ._run import Run  # noqa: E402

__all__ = ["Attention", "MultiHeadAttention", "attention", "load_checkpoint", "parameter_shapes"]

Option = Union[str, bool, int, float]


def attention(q: Tensor, k: Tensor, v: Tensor, /, *, score: str = "scaled_dot", normalizer: str = "softmax",
              position: str = "none", causal: bool = False, prefix: int = 0, window: int = 0, dilation: int = 1,
              score_mod: str = "", mask_mod: str = "", options: Optional[Mapping[str, Option]] = None,
              lengths: Optional[Tensor] = None, mask: Optional[Tensor] = None, bias: Optional[Tensor] = None,
              offset: int = 0, dropout: float = 0.0, training: bool = True, longest: int = 0,
              parameters: Optional[Mapping[str, Tensor]] = None, **by_name: Tensor) -> Tensor:
    """Attention of several heads, without projections.

    Args:
        q: Queries [B, H, Tq, D].
        k: Keys [B, Hk, Tk, Dk]. H is a multiple of Hk: H / Hk adjacent heads share a head of keys and values.
        v: Values [B, Hk, Tk, Dv].
        score: A score function: `heed options attention.score` lists them.
        normalizer: A normaliser.
        position: A positional scheme that acts within attention.
        causal: A query attends to no key after its own position.
        prefix: If causal: every query attends to this many first keys.
        window: How many keys a query attends to on each side of its own position; 0: all.
        dilation: A query attends to keys at distances that are multiples of this.
        score_mod: A formula that replaces the scores s, such as "30 * tanh(s / 30)".
        mask_mod: A formula that is true where a query may attend to a key, such as "i - j < 256".
        options: Further options by their names in a configuration: {"attention.additive.hidden": 32,
            "position.t5.buckets": 16, "attention.parameters.slope.per": "head"}.
        lengths: [B]: the number of keys of each batch entry; later keys are padding.
        mask: Booleans, true where a query may attend to a key: [Tq, Tk], or [B or 1, H or 1, Tq, Tk].
        bias: Added to the scores, before a formula: [Tq, Tk] or [H or 1, Tq, Tk]. It may require a gradient.
        offset: The position of the first query. The first key is at position 0.
        dropout: The probability with which a weight is dropped, if `training`.
        training: Are dropout, and the noise of normalisers that have one, active?
        longest: The greatest number of keys, for parameters by position; 0: that of this call.
        parameters: The parameters of score, normaliser, position and formulas by their full names, as
            `parameter_shapes` gives them: {"score.query": wq}.
        by_name: The same by the last part of their names: query=wq.
    Returns:
        [B, H, Tq, Dv]. A query that may attend to no key gives zeros.
    Raises:
        heed.Refused: An unknown word or option, an option without effect, a shape that does not fit, a missing
            parameter, a device other than the CPU, a precision other than float32 and float64.
        NotImplementedError: In the backward pass, for a second derivative.
    """
    settings = _settings(score, normalizer, position, causal, prefix, window, dilation, score_mod, mask_mod,
                         dropout, options)
    _check_inputs((("q", q), ("k", k), ("v", v)), 4, "[batch, heads, length, width]")
    if q.shape[0] != k.shape[0] or k.shape[:3] != v.shape[:3] or k.shape[1] == 0 or q.shape[1] % k.shape[1] != 0:
        raise _misfit(q, k, v)
    heads, widths = q.shape[1], (q.shape[3], k.shape[3], v.shape[3])
    names = _names(settings, heads, widths, longest)
    ordered = _by_name(names, {**(parameters or {})}, by_name)
    return _run([q, k, v], ordered, heads, q.shape[2], k.shape[2], settings, lengths, mask, bias, offset, longest,
                training and (dropout > 0 or normalizer == "gumbel"))


def parameter_shapes(heads: int, query_width: int, key_width: Optional[int] = None,
                     value_width: Optional[int] = None, *, longest: int = 1, score: str = "scaled_dot",
                     normalizer: str = "softmax", position: str = "none", causal: bool = False, score_mod: str = "",
                     mask_mod: str = "", options: Optional[Mapping[str, Option]] = None) -> dict[str, list[int]]:
    """The parameters of `attention` with these options: their full names and shapes, in order.

        >>> parameter_shapes(2, 8, score="additive")
        {'score.query': [2, 8, 8], 'score.key': [2, 8, 8], 'score.v': [2, 8]}

    Raises:
        heed.Refused: An unknown word or option, or an option without effect.
    """
    settings = _settings(score, normalizer, position, causal, 0, 0, 1, score_mod, mask_mod, 0.0, options)
    widths = (query_width, key_width or query_width, value_width or query_width)
    return dict(operator(settings, "float32", heads, widths, longest).parameters())


class _Layer(nn.Module):
    """A layer whose parameters the engine names."""

    def __init__(self, settings: str, heads: int, widths: tuple[int, ...], longest: int, has_noise: bool,
                 dtype: Optional[torch.dtype]) -> None:
        super().__init__()
        self.settings, self.heads, self.widths, self.longest, self.has_noise = (settings, heads, widths, longest,
                                                                               has_noise)
        self.parameter_names: list[str] = []
        if not longest and _shapes(settings, heads, widths, 1) != _shapes(settings, heads, widths, 2):
            raise _heed.Refused("a parameter has a value for each position or distance: give `longest`, the greatest "
                                "number of keys")
        for name, shape in _shapes(settings, heads, widths, longest or 1):
            owner: nn.Module = self
            *parts, last = name.split(".")
            for part in parts:
                if part not in owner._modules:
                    owner.add_module(part, nn.Module())
                owner = owner.get_submodule(part)
            owner.register_parameter(last, nn.Parameter(torch.empty(shape, dtype=dtype)))
            self.parameter_names.append(name)
        self.reset_parameters()

    def reset_parameters(self, seed: Optional[int] = None) -> None:
        """Draws the initial values of all parameters by the rules of a model of Heed.

        Args:
            seed: The seed; None: it is drawn from PyTorch's generator.
        """
        if seed is None:
            seed = int(torch.randint(2**62, ()).item())
        ordered = [torch.empty_like(x, memory_format=torch.contiguous_format) for x in self._ordered()]
        if not ordered:
            return
        precision = "float64" if ordered[0].dtype == torch.float64 else "float32"
        drawn = ordered if precision == "float64" else [x.float() for x in ordered]
        operator(self.settings, precision, self.heads, self.widths,
                 self.longest or 1).initialise(seed, [x.data_ptr() for x in drawn])
        with torch.no_grad():
            for parameter, value in zip(self._ordered(), drawn):
                parameter.copy_(value)

    def _ordered(self) -> list[Tensor]:
        return [self.get_parameter(name) for name in self.parameter_names]

    def extra_repr(self) -> str:
        chosen = ", ".join(self.settings.split(SEPARATOR))
        return f"heads={self.heads}, widths={self.widths}, {chosen}"


class Attention(_Layer):
    """`attention` with its parameters, which have the names of a checkpoint of Heed: `score.query` of a module
    `blocks.0.attention` is that checkpoint's `blocks.0.attention.score.query`.

    Args:
        heads: The number of heads H.
        query_width: The width of a head's queries.
        key_width: The width of a head's keys; None: query_width.
        value_width: The width of a head's values; None: query_width.
        longest: The greatest number of keys, for parameters by position; 0: there are none.
        dtype: torch.float32 or torch.float64.
    The other arguments are those of `attention`.
    """

    def __init__(self, heads: int, query_width: int, key_width: Optional[int] = None, value_width: Optional[int] = None,
                 *, score: str = "scaled_dot", normalizer: str = "softmax", position: str = "none",
                 causal: bool = False, prefix: int = 0, window: int = 0, dilation: int = 1, score_mod: str = "",
                 mask_mod: str = "", dropout: float = 0.0, options: Optional[Mapping[str, Option]] = None,
                 longest: int = 0, dtype: Optional[torch.dtype] = None) -> None:
        settings = _settings(score, normalizer, position, causal, prefix, window, dilation, score_mod, mask_mod,
                             dropout, options)
        widths = (query_width, key_width or query_width, value_width or query_width)
        super().__init__(settings, heads, widths, longest, dropout > 0 or normalizer == "gumbel", dtype)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, *, lengths: Optional[Tensor] = None,
                mask: Optional[Tensor] = None, bias: Optional[Tensor] = None, offset: int = 0) -> Tensor:
        """Queries [B, H, Tq, D], keys [B, Hk, Tk, Dk] and values [B, Hk, Tk, Dv] to [B, H, Tq, Dv]. The arguments are
        those of `attention`."""
        _check_inputs((("q", q), ("k", k), ("v", v)), 4, "[batch, heads, length, width]")
        if (q.shape[1], q.shape[3], k.shape[3], v.shape[3]) != (self.heads, *self.widths):
            raise _heed.Refused(f"this module has {self.heads} heads with queries, keys and values of the widths "
                                f"{self.widths}; q is {list(q.shape)}, k {list(k.shape)}, v {list(v.shape)}")
        if q.shape[0] != k.shape[0] or k.shape[:3] != v.shape[:3] or k.shape[1] == 0 or self.heads % k.shape[1] != 0:
            raise _misfit(q, k, v)
        return _run([q, k, v], self._ordered(), self.heads, q.shape[2], k.shape[2], self.settings, lengths, mask, bias,
                    offset, self.longest, self.training and self.has_noise)


class MultiHeadAttention(_Layer):
    """Multi-head attention with its projections, as a block of a model of Heed has it. The parameters have the names of
    a checkpoint: a module `blocks.0.attention` takes the values of `blocks.0.attention.qkv.weight` and so on from a
    run's checkpoint (`load_checkpoint`).

        >>> attend = MultiHeadAttention(512, 8, score="additive", causal=True)
        >>> y = attend(x)                                            # [B, T, 512] to [B, T, 512]

    Args:
        width: The width of the input and of the result.
        heads: The number of heads, which divides the width.
        memory_width: The width of an encoder output, to which cross attention attends; 0: self attention. Cross
            attention has no `position`, `causal`, `prefix`, `window` and `dilation`.
        options: Further options of [attention], [position] and [block] by their names in a configuration, such as
            {"attention.key_value_heads": 2, "attention.gate": "head", "block.bias": False}.
        longest: The greatest length, for parameters by position; 0: there are none.
        dtype: torch.float32 or torch.float64.
    The other arguments are those of `attention`.
    """

    def __init__(self, width: int, heads: int, memory_width: int = 0, *, score: str = "scaled_dot",
                 normalizer: str = "softmax", position: str = "none", causal: bool = False, prefix: int = 0,
                 window: int = 0, dilation: int = 1, score_mod: str = "", mask_mod: str = "", dropout: float = 0.0,
                 options: Optional[Mapping[str, Option]] = None, longest: int = 0,
                 dtype: Optional[torch.dtype] = None) -> None:
        further: dict[str, Option] = {"model.width": width, "model.heads": heads}
        if memory_width:
            if position != "none" or causal or prefix or window or dilation != 1:
                raise _heed.Refused("in cross attention, queries and keys are positions of different sequences: "
                                    "position, causal, prefix, window and dilation do not exist there")
            further["model.kind"] = "encoder_decoder"
            if score_mod:
                further["attention.cross_score_mod"] = score_mod
            if mask_mod:
                further["attention.cross_mask_mod"] = mask_mod
            score_mod = mask_mod = ""
        settings = _settings(score, normalizer, position, None if memory_width else causal, prefix, window, dilation,
                             score_mod, mask_mod, dropout, {**further, **(options or {})})
        super().__init__(settings, heads, (width, memory_width) if memory_width else (width,), longest,
                         dropout > 0 or normalizer == "gumbel", dtype)

    def forward(self, x: Tensor, memory: Optional[Tensor] = None, *, lengths: Optional[Tensor] = None,
                mask: Optional[Tensor] = None) -> Tensor:
        """x [B, T, width], and in cross attention the encoder output [B, Tk, memory_width], to [B, T, width]. The other
        arguments are those of `attention`."""
        inputs = [x] if memory is None else [x, memory]
        _check_inputs(tuple(zip(("x", "memory"), inputs)), 3, "[batch, length, width]")
        if tuple(y.shape[2] for y in inputs) != self.widths or inputs[-1].shape[0] != x.shape[0]:
            wanted = ", ".join(f"{name} [B, T, {width}]" for name, width in zip(("x", "memory"), self.widths))
            raise _heed.Refused(f"this module takes {wanted}; it got {', '.join(str(list(y.shape)) for y in inputs)}")
        return _run(inputs, self._ordered(), self.heads, x.shape[1], inputs[-1].shape[1], self.settings, lengths, mask,
                    None, 0, self.longest, self.training and self.has_noise)


def load_checkpoint(weights: Union[Run, Mapping[str, Any]]) -> dict[str, Tensor]:
    """The weights of a run as tensors, for `load_state_dict` of a model whose blocks have MultiHeadAttention as
    `attention` or `cross_attention`.

        >>> model.load_state_dict(load_checkpoint(heed.load_run("runs", "3f2a")), strict=False)

    Names are those of the checkpoint, with one exception: the positional scheme of a block, `blocks.0.position.bias`,
    is part of the block's attention here, `blocks.0.attention.position.bias`.

    Args:
        weights: A run, whose newest checkpoint is taken, or weights by name: `run.weights_at(step)`, `run.average(5)`.
    Raises:
        heed.Refused: The run has no intact checkpoint.
    """
    out = {}
    for name, values in (weights.weights if isinstance(weights, Run) else weights).items():
        block, is_position, rest = name.rpartition(".position.")
        out[f"{block}.attention.position.{rest}" if is_position else name] = torch.tensor(values)
    return out


def _settings(score: str, normalizer: str, position: str, causal: Optional[bool], prefix: int, window: int,
              dilation: int, score_mod: str, mask_mod: str, dropout: float,
              options: Optional[Mapping[str, Option]]) -> str:
    all_settings = [f"attention.score={score}", f"attention.normalizer={normalizer}", f"position.kind={position}"]
    if causal is not None:
        all_settings.append(f"attention.causal={'true' if causal else 'false'}")
    for name, value, default in (("prefix", prefix, 0), ("window", window, 0), ("dilation", dilation, 1),
                                 ("score_mod", score_mod, ""), ("mask_mod", mask_mod, ""), ("dropout", dropout, 0.0)):
        if value != default:
            all_settings.append(f"attention.{name}={value}")
    for name, option in (options or {}).items():
        all_settings.append(f"{name}={_text(option)}")
    return SEPARATOR.join(all_settings)


def _text(option: Option) -> str:
    return ("true" if option else "false") if isinstance(option, bool) else str(option)


@functools.lru_cache(maxsize=512)
def _shapes(settings: str, heads: int, widths: tuple[int, ...], longest: int) -> list[tuple[str, list[int]]]:
    return operator(settings, "float32", heads, widths, longest).parameters()


@torch._dynamo.assume_constant_result  # type: ignore[untyped-decorator]
def _names(settings: str, heads: int, widths: tuple[int, ...], longest: int) -> list[str]:
    return [name for name, _ in _shapes(settings, heads, widths, longest or 1)]


def _by_name(names: Sequence[str], by_full_name: dict[str, Tensor], by_last_part: Mapping[str, Tensor]) -> list[Tensor]:
    """The tensors in the order of the names."""
    for last, tensor in by_last_part.items():
        meant = [name for name in names if name.split(".")[-1] == last]
        if len(meant) != 1:
            allowed = ", ".join(names) or "none"
            raise _heed.Refused(f"there is no parameter {last!r}; parameters of these options: {allowed}" if not meant
                                else f"the parameter {last!r} is one of {', '.join(meant)}: give its full name in "
                                "`parameters`")
        if meant[0] in by_full_name:
            raise _heed.Refused(f"the parameter {meant[0]} is given twice: as {last!r} and in `parameters`")
        by_full_name[meant[0]] = tensor
    missing = [name for name in names if name not in by_full_name]
    if missing:
        raise _heed.Refused(f"parameters are missing: {', '.join(missing)}; give each by its last part, such as "
                            f"{missing[0].split('.')[-1]}=tensor, or in `parameters`")
    unknown = [name for name in by_full_name if name not in names]
    if unknown:
        raise _heed.Refused(f"there is no parameter {unknown[0]!r}; parameters of these options: "
                            f"{', '.join(names) or 'none'}")
    return [by_full_name[name] for name in names]


def _check_inputs(inputs: Sequence[tuple[str, Tensor]], axes: int, form: str) -> None:
    first_name, first = inputs[0]
    for name, x in inputs:
        if not isinstance(x, Tensor):
            raise TypeError(f"{name} is of type {type(x).__name__}; it must be a torch.Tensor")
        if x.device.type != "cpu":
            raise _heed.Refused(f"{name} is on the device {x.device}; heed.torch computes on the CPU: use {name}.cpu()")
        if x.dtype not in (torch.float32, torch.float64):
            raise _heed.Refused(f"{name} is of {x.dtype}; heed.torch computes in float32 and float64: use "
                                f"{name}.float()")
        if x.dtype != first.dtype:
            raise _heed.Refused(f"{name} is of {x.dtype}, and {first_name} of {first.dtype}: give all one precision")
        if x.dim() != axes:
            raise _heed.Refused(f"{name} has the shape {list(x.shape)}; it must have {axes} axes, {form}")


def _misfit(q: Tensor, k: Tensor, v: Tensor) -> _heed.Refused:
    return _heed.Refused(f"q {list(q.shape)}, k {list(k.shape)} and v {list(v.shape)} do not fit together: they must "
                         "be [B, H, Tq, D], [B, Hk, Tk, Dk] and [B, Hk, Tk, Dv], with H a multiple of Hk")


def _run(inputs: list[Tensor], parameters: list[Tensor], heads: int, queries: int, keys: int, settings: str,
         lengths: Optional[Tensor], mask: Optional[Tensor], bias: Optional[Tensor], offset: int, longest: int,
         is_random: bool) -> Tensor:
    batch = inputs[0].shape[0]
    for x in parameters:
        if x.dtype != inputs[0].dtype or x.device.type != "cpu":
            raise _heed.Refused(f"a parameter is of {x.dtype} on {x.device}, and the input of {inputs[0].dtype} on the "
                                "CPU: give all one precision, on the CPU")
    if offset < 0:
        raise _heed.Refused(f"offset is {offset}; the position of the first query must be at least 0")
    if longest and max(queries + offset, keys) > longest:
        raise _heed.Refused(f"there are positions up to {max(queries + offset, keys)}, and longest is {longest}")
    if lengths is not None:
        if lengths.shape != (batch,) or lengths.dtype.is_floating_point or lengths.dtype == torch.bool:
            raise _heed.Refused(f"lengths is {list(lengths.shape)} of {lengths.dtype}; it must be [{batch}] integers, "
                                "the number of keys of each batch entry")
        lengths = lengths.to(torch.int32).contiguous()
    if mask is not None:
        mask = _whole_mask(mask, batch, heads, queries, keys)
    if bias is not None:
        bias = _whole_bias(bias, inputs[0], heads, queries, keys)
    parameters = [x.contiguous() for x in parameters]
    operands = [*inputs, *parameters] if bias is None else [*inputs, *parameters, bias]
    differentiable = [x.requires_grad and torch.is_grad_enabled() for x in operands]
    seed = torch.randint(2**62, (1,)) if is_random else None
    y: Tensor = torch.ops.heed.attention(inputs, parameters, bias, lengths, mask, seed, settings, heads, longest,
                                         offset, differentiable)[0]
    return y


def _whole_mask(mask: Tensor, batch: int, heads: int, queries: int, keys: int) -> Tensor:
    if mask.dtype != torch.bool:
        raise _heed.Refused(f"mask is of {mask.dtype}; it must be torch.bool, true where a query may attend to a key; "
                            "numbers that are added to the scores are a bias (bias=)")
    shape = mask.shape if mask.dim() == 4 else (1, 1, *mask.shape)
    if (len(shape) != 4 or shape[0] not in (1, batch) or shape[1] not in (1, heads) or shape[2] not in (1, queries) or
            shape[3] not in (1, keys)):
        raise _heed.Refused(f"mask is {list(mask.shape)}; it must be [{queries}, {keys}] or [{batch} or 1, {heads} or "
                            f"1, {queries}, {keys}]")
    return mask.reshape(shape).expand(shape[0], shape[1], queries, keys).contiguous().view(torch.uint8)


def _whole_bias(bias: Tensor, x: Tensor, heads: int, queries: int, keys: int) -> Tensor:
    if bias.dtype != x.dtype or bias.device.type != "cpu":
        raise _heed.Refused(f"bias is of {bias.dtype} on {bias.device}, and the input of {x.dtype} on the CPU: give "
                            "all one precision, on the CPU")
    shape = (1,) * (3 - bias.dim()) + tuple(bias.shape)
    if (bias.dim() < 2 or len(shape) != 3 or shape[0] not in (1, heads) or shape[1] not in (1, queries) or
            shape[2] not in (1, keys)):
        raise _heed.Refused(f"bias is {list(bias.shape)}; it must be [{queries}, {keys}] or [{heads} or 1, {queries}, "
                            f"{keys}], the same for all batch entries")
    return bias.reshape(shape).expand(shape[0], queries, keys).contiguous()
