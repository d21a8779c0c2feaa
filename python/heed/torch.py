"""Heed's attention in PyTorch: every score, normaliser, position, mask and formula of the engine, by its streaming
kernels, in memory that grows linearly with the length; and the linear recurrence of its sequence mixers.

    >>> from heed.torch import attention
    >>> y = attention(q, k, v, score="additive", query=wq, key=wk, v=w, causal=True)

    y_i = sum_j w_ij v_j,   w_i = normaliser(f(s(q_i, k_1) + bias_i1), f(s(q_i, k_2) + bias_i2), ...)

PyTorch's autograd differentiates it once, and torch.compile passes it through. It computes on the CPU, in float32 and
float64, with the number of threads of PyTorch (torch.get_num_threads). Batch entries are divided among the threads;
sums over the batch, which are the gradients of parameters, depend on that number in their last digits.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from ._packages import need

need("torch", "heed.torch")

import numpy  # noqa: E402
import torch  # noqa: E402
import torch.nn.utils.parametrize  # noqa: E402
from torch import Tensor, nn  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensor  # noqa: E402

from . import _heed, _recurrence_operator  # noqa: E402, F401
from ._attention_operator import LAST_PART, operator  # noqa: E402
from ._run import Run  # noqa: E402
from ._torch_arguments import (SEPARATOR, Choices, Option, assignments, by_names, cast, check_inputs,  # noqa: E402
                               check_place, choices, flag, key_counts, real, whole, whole_bias, whole_mask,
                               whole_segments)

__all__ = ["Attention", "MultiHeadAttention", "attention", "linear_recurrence", "load_checkpoint", "parameter_shapes"]

Lengths = Union[Tensor, Sequence[int]]


def attention(q: Tensor, k: Tensor, v: Tensor, /, *, score: str = "scaled_dot", normalizer: str = "softmax",
              position: str = "none", causal: bool = False, prefix: int = 0, window: int = 0, dilation: int = 1,
              score_mod: str = "", mask_mod: str = "", options: Optional[Mapping[str, Option]] = None,
              lengths: Optional[Lengths] = None, mask: Optional[Tensor] = None, bias: Optional[Tensor] = None,
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
        lengths: [B]: the number of keys of each batch entry, as a tensor or a list; later keys are padding.
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
        NotImplementedError: For a forward-mode derivative; in the backward pass, for a second derivative.
    """
    chosen = choices(score, normalizer, position, causal, prefix, window, dilation, score_mod, mask_mod, dropout,
                     options)
    q, k, v = cast(q), cast(k), cast(v)
    check_inputs((("q", q), ("k", k), ("v", v)), 4, "[batch, heads, length, width]")
    if q.shape[0] != k.shape[0] or k.shape[:3] != v.shape[:3] or k.shape[1] == 0 or q.shape[1] % k.shape[1] != 0:
        raise _misfit(q, k, v)
    by_full_name = by_names("parameters", parameters)
    given = {**by_full_name, **{LAST_PART + name: tensor for name, tensor in by_name.items()}}
    for name in given:
        if not name or SEPARATOR in name or (name.startswith(LAST_PART) and name in by_full_name):
            raise _heed.Refused(f"there is no parameter {name!r}")
    return _run("q", [q, k, v], given, q.shape[1], v.shape[3], q.shape[2], k.shape[2], chosen, lengths, mask, bias,
                offset, longest, flag("training", training) and (dropout > 0 or normalizer == "gumbel"))


def linear_recurrence(q: Tensor, k: Tensor, v: Tensor, g: Optional[Tensor] = None, *,
                      beta: Optional[Tensor] = None, scale: Optional[float] = None,
                      initial_state: Optional[Tensor] = None, output_final_state: bool = False,
                      lengths: Optional[Lengths] = None, segments: Optional[Tensor] = None) -> (
                          tuple[Tensor, Optional[Tensor]]):
    """The recurrence of linear attention with decay. Each head carries a state S [K, V] from token to token:

        S_t = Diag(exp(g_t)) S_(t-1) + k_t v_t^T,   y_t = scale S_t^T q_t

    With `beta`, and D = Diag(exp(g_t)), the key first takes away what it reads (the delta rule):

        S_t = D S_(t-1) + beta_t k_t (v_t - k_t^T D S_(t-1))^T

    Linear attention (Katharopoulos et al. 2020, arXiv 2006.16236) has no decay, retention (Sun et al. 2023, arXiv
    2307.08621) the same at every token, Mamba-2 (Dao and Gu 2024, arXiv 2405.21060) one for each head and token, and
    gated linear attention (Yang et al. 2023, arXiv 2312.06635) one for each channel of the keys, too. With `beta`, these
    are DeltaNet (Yang et al. 2024, arXiv 2406.06484), Gated DeltaNet (arXiv 2412.06464) and Kimi Delta Attention (arXiv
    2510.26692). Time and memory are linear in the length. The arguments have the names of flash-linear-attention
    (`chunk_gla`, `chunk_gated_delta_rule`, `chunk_kda`). There, heads come after the tokens: use `q.transpose(1, 2)`.

        >>> y, state = linear_recurrence(q, k, v, torch.nn.functional.logsigmoid(x), output_final_state=True)

    Args:
        q: Queries [B, Hk, T, K].
        k: Keys [B, Hk, T, K].
        v: Values [B, H, T, V]. H is a multiple of Hk: H / Hk adjacent heads share a head of queries and keys.
        g: The natural logarithm of the decay, finite and at most 0: [B, H, T, K] by channel; [B, H, T] or [B, H, T, 1]
            by head; [H], the same at every token. None: the state does not decay.
        beta: The strength of erase and write, [B, H, T] or [B, H, T, 1], with keys of length 1 usually in 0..1 or 0..2.
            [B, H, T, K]: only of the erase, by channel of the key, S_t = D S_(t-1) + k_t (v_t - (beta_t k_t)^T D
            S_(t-1))^T, as in Gated DeltaNet-2 (arXiv 2605.22791). None: nothing is erased.
        scale: The factor of the queries; None: 1 / sqrt(K).
        initial_state: The state before the first token, [B, H, K, V]; None: zeros.
        output_final_state: Is the state after the last token returned?
        lengths: [B]: the number of tokens of each sequence, as a tensor or a list. Later tokens are padding: their
            outputs are 0, and they leave the state as it is.
        segments: Integers [B, T]. The state is zero before each token whose number differs from that of the token
            before it, such as the first of each of several documents in a row.
    Returns:
        The outputs [B, H, T, V], and the final state [B, H, K, V], or None.
    Raises:
        heed.Refused: A shape that does not fit, a device other than the CPU, a precision other than float32 and
            float64.
        NotImplementedError: For a forward-mode derivative; in the backward pass, for a second derivative.
    """
    q, k, v = cast(q), cast(k), cast(v)
    check_inputs((("q", q), ("k", k), ("v", v)), 4, "[batch, heads, length, width]")
    batch, heads, tokens, values = v.shape
    if (q.shape != k.shape or q.shape[0] != batch or q.shape[2] != tokens or q.shape[1] == 0 or q.shape[3] == 0 or
            values == 0 or heads % q.shape[1] != 0):
        raise _heed.Refused(f"q {list(q.shape)}, k {list(k.shape)} and v {list(v.shape)} do not fit together: they must "
                            "be [B, Hk, T, K], [B, Hk, T, K] and [B, H, T, V], with H a multiple of Hk")
    width = q.shape[3]

    def of_tokens(name: str, given: Tensor, wanted: str) -> Tensor:
        """[B, H, T, K or 1]. `wanted` is formatted only if it doesn't fit: a text would make compiled sizes constants."""
        if tuple(given.shape) == (batch, heads, tokens):
            return given[..., None]
        if given.dim() != 4 or tuple(given.shape[:3]) != (batch, heads, tokens) or given.shape[3] not in (1, width):
            by_head, by_channel = f"[{batch}, {heads}, {tokens}]", f"[{batch}, {heads}, {tokens}, {width}]"
            may_be = wanted.format(by_head=by_head, by_channel=by_channel, heads=heads)
            raise _heed.Refused(f"{name} is {list(given.shape)}; it must be {may_be}")
        return given

    decay = None
    if g is not None:
        decay = cast(g)
        check_place("g", decay, "q", q)
        if decay.dim() == 1 and decay.shape[0] == heads:
            decay = decay[:, None, None].expand(batch, heads, tokens, 1)
        else:
            decay = of_tokens("g", decay, "{by_channel}, {by_head} or [{heads}]")
    state = None
    if initial_state is not None:
        state = cast(initial_state)
        check_place("initial_state", state, "q", q)
        if tuple(state.shape) != (batch, heads, width, values):
            raise _heed.Refused(f"initial_state is {list(state.shape)}; it must be [{batch}, {heads}, {width}, "
                                f"{values}]")
    strength = None
    if beta is not None:
        strength = cast(beta)
        check_place("beta", strength, "q", q)
        strength = of_tokens("beta", strength, "{by_head} or {by_channel}")
    counts = None if lengths is None else key_counts(lengths, "q", q, "tokens")
    of_segments = None if segments is None else whole_segments(segments, "q", q, tokens)
    factor = width**-0.5 if scale is None else real("scale", scale)
    q = q if factor == 1 else q * factor
    differentiable = [x is not None and x.requires_grad and torch.is_grad_enabled()
                      for x in (q, k, v, decay, state, strength)]
    wants_state = flag("output_final_state", output_final_state)
    y, after, _ = torch.ops.heed.linear_recurrence(q, k, v, decay, state, strength, counts, of_segments, wants_state,
                                                   differentiable)
    return y, after if wants_state else None


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
    chosen = choices(score, normalizer, position, causal, 0, 0, 1, score_mod, mask_mod, 0.0, options)
    return dict(operator(chosen, "float32", whole("heads", heads, 1), _widths(query_width, key_width, value_width),
                         whole("longest", longest, 1)).parameters())


def _widths(query_width: int, key_width: Optional[int], value_width: Optional[int]) -> tuple[int, int, int]:
    first = whole("query_width", query_width, 1)
    return (first, first if key_width is None else whole("key_width", key_width, 1),
            first if value_width is None else whole("value_width", value_width, 1))


class _Part(nn.Module):
    """A part of a layer, whose call gives its parameters by name. So hooks of PyTorch run that make a parameter before
    a call."""

    def __init__(self) -> None:
        super().__init__()
        self.own: list[str] = []

    def forward(self) -> dict[str, Tensor]:
        return {name: getattr(self, name) for name in self.own}


def _attribute(name: str) -> str:
    """A parameter's name as modules have it: `differential.lambda` is `differential.lambda_`, because code that PyTorch
    generates cannot contain a word of Python as a name."""
    return ".".join(part + "_" if keyword.iskeyword(part) else part for part in name.split("."))


class _Layer(nn.Module):
    """A layer whose parameters the engine names."""

    def __init__(self, chosen: Choices, heads: int, widths: tuple[int, ...], longest: int, has_noise: bool,
                 dtype: Optional[torch.dtype]) -> None:
        super().__init__()
        self.chosen, self.heads, self.widths, self.has_noise = chosen, whole("heads", heads, 1), widths, has_noise
        self.longest = whole("longest", longest)
        made = operator(chosen, "float32", self.heads, widths, self.longest or 1)
        if not longest and made.parameters() != operator(chosen, "float32", self.heads, widths, 2).parameters():
            raise _heed.Refused("a parameter has a value for each position or distance: give `longest`, the greatest "
                                "number of keys")
        self.result_width = made.result_width()
        self.parameter_names: list[str] = []  # as in a checkpoint
        self.places: list[tuple[str, str]] = []  # of each, the module and the attribute
        for name, shape in made.parameters():
            owner: nn.Module = self
            *parts, last = _attribute(name).split(".")
            for part in parts:
                if part not in owner._modules:
                    owner.add_module(part, _Part())
                owner = owner.get_submodule(part)
            owner.register_parameter(last, nn.Parameter(torch.empty(shape, dtype=dtype)))
            if isinstance(owner, _Part):
                owner.own.append(last)
            self.parameter_names.append(name)
            self.places.append((".".join(parts), last))
        self.reset_parameters()

    def reset_parameters(self, seed: Optional[int] = None) -> None:
        """Draws the initial values of all parameters by the rules of a model of Heed. Parameters without memory (on the
        device meta) stay as they are.

        Args:
            seed: The seed; None: it is drawn from PyTorch's generator.
        """
        current = [getattr(self.get_submodule(path), last) for path, last in self.places]
        if not current or any(x.is_meta or isinstance(x, FakeTensor) for x in current):
            return
        if seed is None:
            seed = int(torch.randint(2**62, (), device="cpu").item())
        seed = whole("seed", seed, bits=63)
        precision = "float64" if current[0].dtype == torch.float64 else "float32"
        drawn = [numpy.empty(tuple(x.shape), precision) for x in current]
        operator(self.chosen, precision, self.heads, self.widths,
                 self.longest or 1).initialise(seed, [x.ctypes.data for x in drawn])
        with torch.no_grad():
            for (path, last), old, values in zip(self.places, current, drawn):
                owner, new = self.get_submodule(path), torch.from_numpy(values)
                if last in owner._parameters:
                    old.copy_(new)
                elif nn.utils.parametrize.is_parametrized(owner, last):
                    setattr(owner, last, new.to(old))
                else:
                    raise _heed.Refused(f"{last} of {path or 'this module'} is no parameter: a hook makes it before "
                                        "each call; take the hook off first, such as by remove_weight_norm")

    def _ordered(self) -> dict[str, Tensor]:
        parts = {path: self.get_submodule(path)() for path, _ in self.places if path}
        return {name: parts[path][last] if path else getattr(self, last)
                for name, (path, last) in zip(self.parameter_names, self.places)}

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *others: Any) -> None:
        for name in self.parameter_names:  # the names of a checkpoint
            if name != _attribute(name) and prefix + name in state_dict:
                state_dict[prefix + _attribute(name)] = state_dict.pop(prefix + name)
        super()._load_from_state_dict(state_dict, prefix, *others)

    def extra_repr(self) -> str:
        chosen = ", ".join(sum(assignments(self.chosen), []))
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
    The other arguments are those of `attention`. A name that is a word of Python has an underscore
    (`differential.lambda_`); `load_state_dict` takes it without one, too, as a checkpoint has it.
    """

    def __init__(self, heads: int, query_width: int, key_width: Optional[int] = None, value_width: Optional[int] = None,
                 *, score: str = "scaled_dot", normalizer: str = "softmax", position: str = "none",
                 causal: bool = False, prefix: int = 0, window: int = 0, dilation: int = 1, score_mod: str = "",
                 mask_mod: str = "", dropout: float = 0.0, options: Optional[Mapping[str, Option]] = None,
                 longest: int = 0, dtype: Optional[torch.dtype] = None) -> None:
        chosen = choices(score, normalizer, position, causal, prefix, window, dilation, score_mod, mask_mod, dropout,
                         options)
        super().__init__(chosen, heads, _widths(query_width, key_width, value_width), longest,
                         dropout > 0 or normalizer == "gumbel", dtype)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, *, lengths: Optional[Lengths] = None,
                mask: Optional[Tensor] = None, bias: Optional[Tensor] = None, offset: int = 0) -> Tensor:
        """Queries [B, H, Tq, D], keys [B, Hk, Tk, Dk] and values [B, Hk, Tk, Dv] to [B, H, Tq, Dv]. The arguments are
        those of `attention`."""
        q, k, v = cast(q), cast(k), cast(v)
        check_inputs((("q", q), ("k", k), ("v", v)), 4, "[batch, heads, length, width]")
        if (q.shape[1], q.shape[3], k.shape[3], v.shape[3]) != (self.heads, *self.widths):
            raise _heed.Refused(f"this module has {self.heads} heads with queries, keys and values of the widths "
                                f"{self.widths}; q is {list(q.shape)}, k {list(k.shape)}, v {list(v.shape)}")
        if q.shape[0] != k.shape[0] or k.shape[:3] != v.shape[:3] or k.shape[1] == 0 or self.heads % k.shape[1] != 0:
            raise _misfit(q, k, v)
        return _run("q", [q, k, v], self._ordered(), self.heads, self.result_width, q.shape[2], k.shape[2], self.chosen,
                    lengths, mask, bias, offset, self.longest, self.training and self.has_noise)


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
        options: Further options of [attention] and [position], and block.bias, by their names in a configuration, such
            as {"attention.key_value_heads": 2, "attention.gate": "head", "block.bias": False}; and those of the
            parameters' initial values, such as {"init.linear": "xavier_uniform"}.
        longest: The greatest length, for parameters by position; 0: there are none.
        dtype: torch.float32 or torch.float64.
    The other arguments are those of `attention`.
    """

    def __init__(self, width: int, heads: int, memory_width: int = 0, *, score: str = "scaled_dot",
                 normalizer: str = "softmax", position: str = "none", causal: bool = False, prefix: int = 0,
                 window: int = 0, dilation: int = 1, score_mod: str = "", mask_mod: str = "", dropout: float = 0.0,
                 options: Optional[Mapping[str, Option]] = None, longest: int = 0,
                 dtype: Optional[torch.dtype] = None) -> None:
        if memory_width and (position != "none" or causal or prefix or window or dilation != 1):
            raise _heed.Refused("in cross attention, queries and keys are positions of different sequences: position, "
                                "causal, prefix, window and dilation do not exist there")
        chosen = choices(score, normalizer, position, None if memory_width else causal, prefix, window, dilation,
                         score_mod, mask_mod, dropout, options)
        widths = (whole("width", width, 1), whole("memory_width", memory_width))
        super().__init__(chosen, heads, widths if memory_width else widths[:1], longest,
                         dropout > 0 or normalizer == "gumbel", dtype)

    def forward(self, x: Tensor, memory: Optional[Tensor] = None, *, lengths: Optional[Lengths] = None,
                mask: Optional[Tensor] = None) -> Tensor:
        """x [B, T, width], and in cross attention the encoder output [B, Tk, memory_width], to [B, T, width]. The other
        arguments are those of `attention`."""
        inputs = [cast(x)] if memory is None else [cast(x), cast(memory)]
        check_inputs(tuple(zip(("x", "memory"), inputs)), 3, "[batch, length, width]")
        if tuple(y.shape[2] for y in inputs) != self.widths or inputs[-1].shape[0] != x.shape[0]:
            wanted = ", ".join(f"{name} [B, T, {width}]" for name, width in zip(("x", "memory"), self.widths))
            raise _heed.Refused(f"this module takes {wanted}; it got {', '.join(str(list(y.shape)) for y in inputs)}")
        return _run("x", inputs, self._ordered(), self.heads, self.result_width, x.shape[1], inputs[-1].shape[1],
                    self.chosen, lengths, mask, None, 0, self.longest, self.training and self.has_noise)


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


def _misfit(q: Tensor, k: Tensor, v: Tensor) -> _heed.Refused:
    return _heed.Refused(f"q {list(q.shape)}, k {list(k.shape)} and v {list(v.shape)} do not fit together: they must "
                         "be [B, H, Tq, D], [B, Hk, Tk, Dk] and [B, Hk, Tk, Dv], with H a multiple of Hk")


def _run(first_name: str, inputs: list[Tensor], by_name: Mapping[str, Any], heads: int, width: int, queries: int,
         keys: int, chosen: Choices, lengths: Optional[Lengths], mask: Optional[Tensor], bias: Optional[Tensor],
         offset: int, longest: int, is_random: bool) -> Tensor:
    """width: that of the result."""
    first = inputs[0]
    parameters = []
    for name, given in by_name.items():
        tensor = cast(given)
        check_place(f"the parameter {name.removeprefix(LAST_PART)}", tensor, first_name, first)
        parameters.append(tensor.contiguous())
    offset, longest = whole("offset", offset), whole("longest", longest)
    if longest and max(queries + offset, keys) > longest:
        raise _heed.Refused(f"there are positions up to {max(queries + offset, keys)}, and longest is {longest}")
    counts = None if lengths is None else key_counts(lengths, first_name, first)
    allowed = None if mask is None else whole_mask(mask, first_name, first, heads, queries, keys)
    added = None if bias is None else whole_bias(cast(bias), first_name, first, heads, queries, keys)
    operands = [*inputs, *parameters] if added is None else [*inputs, *parameters, added]
    differentiable = [x.requires_grad and torch.is_grad_enabled() for x in operands]
    seed = torch.randint(2**62, (1,), device=first.device) if is_random else None
    y: Tensor = torch.ops.heed.attention(inputs, parameters, added, counts, allowed, seed, chosen.text, chosen.integers,
                                         chosen.numbers, SEPARATOR.join(by_name), heads, longest, offset, width,
                                         differentiable)[0]
    return y
