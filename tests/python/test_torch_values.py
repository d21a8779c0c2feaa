"""heed.torch gives what a plain composition in PyTorch gives, values and gradients."""

import math

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from heed.torch import attention, parameter_shapes  # noqa: E402
from torch_inputs import HEADS, KEYS, QUERIES, WIDTH, drawn, inputs  # noqa: E402


def additive(q, k, p):
    q, k = q @ p["score.query"], k @ p["score.key"]
    return (torch.tanh(q[:, :, :, None] + k[:, :, None]) * p["score.v"][:, None, None]).sum(-1)


def concat(q, k, p):
    w = p["score.weight"]
    return additive(q, k, {"score.query": w[:, :WIDTH], "score.key": w[:, WIDTH:], "score.v": p["score.v"]})


def pairs(f):
    return lambda q, k, p: f(q[:, :, :, None], k[:, :, None], p).sum(-1)


SCORES = {
    "dot": lambda q, k, p: q @ k.mT,
    "scaled_dot": lambda q, k, p: q @ k.mT / math.sqrt(WIDTH),
    "additive": additive,
    "concat": concat,
    "cosine": lambda q, k, p: 10 * F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT,
    "multiplicative": lambda q, k, p: q @ p["score.weight"] @ k.mT,
    "gaussian": lambda q, k, p: -(q[:, :, :, None] - k[:, :, None]).square().sum(-1) / (2 * math.sqrt(WIDTH)),
    "l1": lambda q, k, p: -(q[:, :, :, None] - k[:, :, None]).abs().sum(-1) / math.sqrt(WIDTH),
    "linear": lambda q, k, p: (F.elu(q) + 1) @ (F.elu(k) + 1).mT,
    "location": lambda q, k, p: q @ p["score.weight"][:, :k.shape[2]].mT,
    "keras_additive": pairs(lambda q, k, p: torch.tanh(q + k) * p["score.scale"][:, None, None]),
    "keras_concat": pairs(lambda q, k, p: torch.tanh(q + k) * p["score.concat_score_weight"][:, :, None, None]),
}


def causal_mask(queries, keys, offset=0):
    return torch.ones(queries, keys, dtype=torch.bool).tril(offset)


def distances(queries=QUERIES, keys=KEYS):
    return torch.arange(queries)[:, None] - torch.arange(keys)


LENGTHS = torch.tensor([KEYS, 5, 1])
SOME = torch.rand(3, HEADS, QUERIES, KEYS, generator=torch.Generator().manual_seed(3)) < 0.4
SOME[1, 2, 7] = False  # a query that may attend to no key
MASKS = {
    "everywhere": ({}, torch.ones(QUERIES, KEYS, dtype=torch.bool)),
    "causal": ({"causal": True}, causal_mask(QUERIES, KEYS)),
    "window": ({"window": 3}, distances().abs() <= 3),
    "prefix": ({"causal": True, "window": 2, "prefix": 4},
               (causal_mask(QUERIES, KEYS) & (distances() <= 2)) | (torch.arange(KEYS) < 4)),
    "dilation": ({"causal": True, "dilation": 3}, causal_mask(QUERIES, KEYS) & (distances() % 3 == 0)),
    "lengths": ({"lengths": LENGTHS}, torch.arange(KEYS) < LENGTHS[:, None, None, None]),
    "mask": ({"mask": SOME}, SOME),
    "mask of pairs": ({"mask": SOME[0, 0], "causal": True}, SOME[0, 0] & causal_mask(QUERIES, KEYS)),
    "formula": ({"mask_mod": "i - j < 4 and j <= i"}, causal_mask(QUERIES, KEYS) & (distances() < 4)),
}


def softmax(s, seen, p):
    s = s.masked_fill(~seen, -math.inf)
    top = s.amax(-1, keepdim=True).clamp(min=-1e30)
    e = torch.exp(s - top)
    return e / e.sum(-1, keepdim=True).clamp(min=1e-300 if s.dtype == torch.float64 else 1e-30)


def with_constant(logit):
    def f(s, seen, p):
        b = logit(p)
        e = torch.exp(s.masked_fill(~seen, -math.inf))
        return e / (torch.exp(b) + e.sum(-1, keepdim=True))
    return f


def sparsemax(s, seen, p):
    s = s.masked_fill(~seen, -1e9)
    ordered = s.sort(-1, descending=True).values
    count = torch.arange(1, s.shape[-1] + 1)
    support = (1 + count * ordered > ordered.cumsum(-1)).sum(-1, keepdim=True)
    threshold = (ordered.cumsum(-1).gather(-1, support - 1) - 1) / support
    return (s - threshold).clamp(min=0)


def entmax15(s, seen, p):
    s = s.masked_fill(~seen, -1e9) / 2
    ordered = s.sort(-1, descending=True).values
    count = torch.arange(1, s.shape[-1] + 1)
    mean, squares = ordered.cumsum(-1) / count, ordered.square().cumsum(-1) / count
    threshold = mean - ((1 - count * (squares - mean.square())) / count).clamp(min=1e-12).sqrt()
    support = (threshold <= ordered).sum(-1, keepdim=True)
    return (s - threshold.gather(-1, support - 1)).clamp(min=0).square()


def top_k(s, seen, p):
    s = s.masked_fill(~seen, -math.inf)
    best = s.topk(3, -1).indices
    return softmax(s, seen & torch.zeros_like(seen).scatter(-1, best, torch.ones_like(seen)), p)


def hard(s, seen, p):
    soft = softmax(s, seen, p)
    best = F.one_hot(s.masked_fill(~seen, -math.inf).argmax(-1), s.shape[-1])
    return best + soft - soft.detach()


def softpick(s, seen, p):
    e = torch.expm1(s) * seen
    return e.clamp(min=0) / e.abs().sum(-1, keepdim=True)


def stick_breaking(s, seen, p):  # for causal rows: the nearest key first; a query's own key takes no part
    earlier = seen & (distances(*s.shape[-2:]) > 0)
    keep = torch.where(earlier, F.logsigmoid(-s), 0.0)
    after = keep.flip(-1).cumsum(-1).flip(-1) - keep
    return torch.where(earlier, torch.exp(F.logsigmoid(s) + after), 0.0)


def of_count(f):
    return lambda s, seen, p: f(s, seen.expand(s.shape), seen.sum(-1, keepdim=True).to(s.dtype))


NORMALIZERS = {
    "softmax": softmax,
    "softmax_one": with_constant(lambda p: torch.tensor(0.0)),
    "softmax_sink": with_constant(lambda p: p["normalizer.sink"].reshape(-1, 1, 1)),
    "sigmoid": of_count(lambda s, seen, n: torch.sigmoid(s - n.log()) * seen),
    "scalable_softmax": lambda s, seen, p: softmax(
        p["normalizer.scale"].reshape(-1, 1, 1) * seen.sum(-1, keepdim=True).to(s.dtype).log() * s, seen, p),
    "clipped_softmax": lambda s, seen, p: (1.025 * softmax(s, seen, p) - 0.025).clamp(0, 1) * seen,
    "softpick": softpick,
    "sparsemax": sparsemax,
    "entmax15": entmax15,
    "entmax": entmax15,  # with alpha = 1.5
    "top_k": top_k,
    "hard": hard,
    "sum": lambda s, seen, p: s.clamp(min=0) * seen / (s.clamp(min=0) * seen).sum(-1, keepdim=True),
    "none": lambda s, seen, p: s * seen,
    "stick_breaking": stick_breaking,
}


def composed(q, k, v, score, normalizer, seen, parameters, change=lambda s: s):
    sharing = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(sharing, 1), v.repeat_interleave(sharing, 1)
    s = change(SCORES[score](q, k, parameters))
    return NORMALIZERS[normalizer](s, seen.expand(s.shape), parameters) @ v


def compare(q, k, v, score, normalizer, seen, options, dtype, change=lambda s: s, further=()):
    shape_options = {name: value for name, value in options.items()
                     if name in ("causal", "position", "score_mod", "mask_mod", "options")}
    shapes = parameter_shapes(HEADS, q.shape[3], k.shape[3], v.shape[3], longest=k.shape[2], score=score,
                              normalizer=normalizer, **shape_options)
    parameters = drawn(shapes, dtype)
    y = attention(q, k, v, score=score, normalizer=normalizer, parameters=parameters, **options)
    expected = composed(q, k, v, score, normalizer, seen, {**parameters, "all": parameters},
                        lambda s: change(s, parameters) if further else change(s))
    near = {"rtol": 1e-10, "atol": 1e-10} if dtype == torch.float64 else {"rtol": 2e-4, "atol": 2e-4}
    torch.testing.assert_close(y, expected, **near)
    of_all = [q, k, v, *parameters.values(), *[x for x in further if torch.is_tensor(x)]]
    dy = torch.randn(y.shape, generator=torch.Generator().manual_seed(9), dtype=torch.float64).to(dtype)
    gradients = torch.autograd.grad(y, of_all, dy, allow_unused=True)
    wanted = torch.autograd.grad(expected, of_all, dy, allow_unused=True)
    for gradient, other in zip(gradients, wanted):
        other = torch.zeros_like(gradient) if other is None else other
        torch.testing.assert_close(gradient, other, **near)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("score", SCORES)
def test_scores_and_masks(score, mask, dtype):
    q, k, v = inputs(dtype, key_heads=2 if mask in ("causal", "lengths") else HEADS)
    options, seen = MASKS[mask]
    compare(q, k, v, score, "softmax", seen, options, dtype)


@pytest.mark.parametrize("score", ["scaled_dot", "additive", "l1"])
@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_normalizers(normalizer, score):
    if normalizer == "sum":
        score = "linear"
    q, k, v = inputs(torch.float64)
    options = {"entmax": {"attention.entmax.alpha": 1.5}, "top_k": {"attention.top_k.k": 3},
               "scalable_softmax": {"attention.scalable_softmax.learned": True}}.get(normalizer, {})
    seen = causal_mask(QUERIES, KEYS)
    if normalizer in ("top_k", "hard"):
        seen[:3, :3] = True  # enough keys for all queries
        compare(q, k, v, score, normalizer, seen, {"mask": seen, "options": options}, torch.float64)
    else:
        compare(q, k, v, score, normalizer, seen, {"causal": True, "options": options}, torch.float64)


@pytest.mark.parametrize("score", ["scaled_dot", "additive", "location"])
def test_positions_and_biases(score):
    q, k, v = inputs(torch.float64)
    seen = causal_mask(QUERIES, KEYS)
    slopes = 2.0 ** (-8 * torch.arange(1, HEADS + 1) / HEADS)
    compare(q, k, v, score, "softmax", seen, {"causal": True, "position": "alibi"}, torch.float64,
            lambda s: s - slopes[:, None, None] * distances().abs())
    for shape in ((HEADS, QUERIES, KEYS), (1, QUERIES, KEYS), (QUERIES, KEYS)):
        bias = torch.randn(shape, dtype=torch.float64, requires_grad=True)
        compare(q, k, v, score, "softmax", seen, {"causal": True, "bias": bias}, torch.float64,
                lambda s, p: s + bias, [bias])
        compare(q, k, v, score, "entmax15", seen, {"causal": True, "bias": bias}, torch.float64,
                lambda s, p: s + bias, [bias])


def test_a_bias_where_nothing_streams():
    q, k, v = inputs(torch.float64, queries=300, keys=300, batch=2)
    bias = torch.randn(HEADS, 300, 300, dtype=torch.float64, requires_grad=True)
    mixed = {"attention.talking_heads": "scores"}
    weights = parameter_shapes(HEADS, WIDTH, value_width=6, options=mixed)
    parameters = drawn(weights, torch.float64)
    y = attention(q, k, v, bias=bias, options=mixed, parameters=parameters)
    matrix, = parameters.values()
    s = torch.einsum("gh,bhij->bgij", matrix, q @ k.mT / math.sqrt(WIDTH) + bias)
    torch.testing.assert_close(y, torch.softmax(s, -1) @ v, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(torch.autograd.grad(y.square().sum(), bias),
                               torch.autograd.grad((torch.softmax(s, -1) @ v).square().sum(), bias), rtol=1e-9,
                               atol=1e-9)


def test_formulas_with_learned_parameters():
    q, k, v = inputs(torch.float64)
    options = {"score_mod": "cap * tanh(s / cap) - slope * abs(i - j)",
               "options": {"attention.parameters.slope.per": "head", "attention.parameters.cap.start": "3"}}
    compare(q, k, v, "scaled_dot", "softmax", torch.ones(QUERIES, KEYS, dtype=torch.bool), options, torch.float64,
            lambda s, p: p["formula.cap"] * torch.tanh(s / p["formula.cap"]) -
            p["formula.slope"].reshape(-1, 1, 1) * distances().abs(), ["parameters"])


def test_queries_after_cached_keys():
    q, k, v = inputs(torch.float64, queries=5)
    compare(q, k, v, "additive", "softmax", causal_mask(5, KEYS, 20), {"causal": True, "offset": 20}, torch.float64)


@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_a_query_whose_scores_are_all_minus_infinity(normalizer):
    """It attends to nothing, as if the mask hid all keys: by a bias, and by a formula."""
    causal = normalizer == "stick_breaking"
    q, k, v = inputs(torch.float64)
    shapes = parameter_shapes(HEADS, WIDTH, WIDTH, v.shape[3], longest=KEYS, normalizer=normalizer, causal=causal)
    how = {"normalizer": normalizer, "causal": causal, "parameters": drawn(shapes, torch.float64)}
    seen = torch.ones(QUERIES, KEYS, dtype=torch.bool)
    seen[4] = False
    dy = torch.randn(v.shape[:2] + (QUERIES, v.shape[3]), dtype=q.dtype)

    def results(**hidden):
        y = attention(q, k, v, **how, **hidden)
        return y, *torch.autograd.grad(y, (q, k, v), dy)

    wanted = results(mask=seen)
    assert torch.all(wanted[0][:, :, 4] == 0)
    bias = torch.zeros(QUERIES, KEYS, dtype=q.dtype).masked_fill(~seen, -math.inf)
    for found in results(bias=bias), results(score_mod="s + log(min(abs(i - 4), 1))"):
        for x, other in zip(found, wanted, strict=True):
            torch.testing.assert_close(x, other)


LOST = {"NaN": math.nan, "infinity": math.inf}


@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("normalizer", ["softmax", "sigmoid", "top_k", "none"])
@pytest.mark.parametrize("how", MASKS)
def test_what_no_query_sees_reaches_no_result(lost, normalizer, how):
    """Keys and values, also of padding, in the future or masked: results and gradients of queries that may not attend to
    them are those of other keys and values there. Those that may get NaN."""
    call, seen = MASKS[how]
    seen = seen.expand(3, HEADS, QUERIES, KEYS)
    q, k, v = inputs(torch.float64)
    at = 5
    bad_k, bad_v = (x.detach().clone() for x in (k, v))
    bad_k[:, :, at] = LOST[lost]
    bad_v[:, :, at, 1] = LOST[lost]
    sees = seen[..., at]
    dy = torch.randn(3, HEADS, QUERIES, v.shape[-1], dtype=q.dtype) * ~sees[..., None]
    k0, v0 = (x.detach().clone().index_fill_(2, torch.tensor([at]), 0.5).requires_grad_() for x in (k, v))
    q0 = q.detach().clone().requires_grad_()
    wanted = attention(q0, k0, v0, normalizer=normalizer, **call)
    q1, k1, v1 = (x.detach().clone().requires_grad_() for x in (q, bad_k, bad_v))
    y = attention(q1, k1, v1, normalizer=normalizer, **call)
    torch.testing.assert_close(y[~sees], wanted[~sees])
    with torch.no_grad():
        torch.testing.assert_close(attention(q1, k1, v1, normalizer=normalizer, **call)[~sees], wanted[~sees])
    if lost == "NaN":
        assert torch.isnan(y[sees]).all()
    for x, other in zip(torch.autograd.grad(y, (q1, k1, v1), dy), torch.autograd.grad(wanted, (q0, k0, v0), dy),
                        strict=True):
        torch.testing.assert_close(x, other)


def test_a_bias_where_no_query_sees_may_be_anything():
    q, k, v = inputs(torch.float64)
    seen = causal_mask(QUERIES, KEYS) & SOME[0, 0]
    bias = torch.randn(QUERIES, KEYS, dtype=q.dtype).requires_grad_()
    lost = bias.detach().masked_fill(~seen, math.nan).requires_grad_()
    y, wanted = (attention(q, k, v, mask=seen, bias=b) for b in (lost, bias))
    torch.testing.assert_close(y, wanted)
    dy = torch.randn_like(y)
    for x, other in zip(torch.autograd.grad(y, (q, k, v, lost), dy), torch.autograd.grad(wanted, (q, k, v, bias), dy),
                        strict=True):
        torch.testing.assert_close(x, other)
