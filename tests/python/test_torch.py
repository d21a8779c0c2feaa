"""heed.torch gives what a plain composition in PyTorch gives, values and gradients, and serves all of PyTorch's ways to
call it."""

import math
import os
import pathlib
import re
import subprocess
import sys
import threading

import heed
import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from heed import _heed  # noqa: E402
from heed.torch import Attention, MultiHeadAttention, attention, load_checkpoint, parameter_shapes  # noqa: E402

HEADS, QUERIES, KEYS, WIDTH = 4, 37, 37, 8


def inputs(dtype, key_heads=HEADS, queries=QUERIES, keys=KEYS, batch=3, seed=0):
    draw = torch.Generator().manual_seed(seed)
    shapes = (batch, HEADS, queries, WIDTH), (batch, key_heads, keys, WIDTH), (batch, key_heads, keys, 6)
    return [torch.randn(shape, generator=draw, dtype=torch.float64).to(dtype).requires_grad_() for shape in shapes]


def drawn(shapes, dtype, seed=1):
    draw = torch.Generator().manual_seed(seed)
    return {name: (torch.randn(shape, generator=draw, dtype=torch.float64) / 2).to(dtype).requires_grad_()
            for name, shape in shapes.items()}


# ---- the same in PyTorch -------------------------------------------------------------------------------------------

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


# ---- PyTorch's ways to call it -------------------------------------------------------------------------------------

def additive_call(dtype=torch.float64, batch=2, queries=5):
    q, k, v = inputs(dtype, queries=queries, keys=queries, batch=batch)
    parameters = list(drawn(parameter_shapes(HEADS, WIDTH, score="additive"), dtype).values())

    def call(q, k, v, query, key, w):
        return attention(q, k, v, score="additive", query=query, key=key, v=w, causal=True)

    return call, [q, k, v, *parameters]


@pytest.mark.parametrize("score", ["scaled_dot", "additive", "cosine", "multiplicative", "gaussian"])
@pytest.mark.parametrize("normalizer", ["softmax", "softmax_sink", "sigmoid"])
def test_gradcheck(score, normalizer):
    q, k, v = inputs(torch.float64, key_heads=2, queries=4, keys=5, batch=2)
    shapes = parameter_shapes(HEADS, WIDTH, value_width=6, score=score, normalizer=normalizer)
    parameters = drawn(shapes, torch.float64)
    bias = torch.randn(HEADS, 4, 5, dtype=torch.float64, requires_grad=True)

    def call(q, k, v, bias, *tensors):
        return attention(q, k, v, score=score, normalizer=normalizer, bias=bias,
                         parameters=dict(zip(shapes, tensors)))

    assert torch.autograd.gradcheck(call, (q, k, v, bias, *parameters.values()))


def test_gradcheck_of_a_module():
    module = MultiHeadAttention(8, 2, position="t5", causal=True, longest=6, dtype=torch.float64)
    x = torch.randn(2, 6, 8, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, *_: module(x), (x, *module.parameters()))


def test_operators_keep_their_schemas():
    call, tensors = additive_call()
    settings = "\x1f".join(["attention.score=additive", "attention.causal=true", "position.kind=none"])
    q, k, v, *parameters = tensors
    given = ([q, k, v], parameters, None, None, None, None, settings, HEADS, 0, 0, [True] * 6)
    torch.library.opcheck(torch.ops.heed.attention.default, given)
    y, mark = torch.ops.heed.attention(*given)
    torch.library.opcheck(torch.ops.heed.attention_backward.default, (torch.ones_like(y), mark, *given),
                          test_utils=("test_schema", "test_faketensor"))


def test_torch_compile_passes_it_through():
    call, tensors = additive_call(torch.float32)
    compiled = torch.compile(lambda *x: call(*(y * 1 for y in x)).sin(), fullgraph=True)
    y, z = compiled(*tensors), call(*tensors).sin()
    torch.testing.assert_close(y, z)
    for one, other in zip(torch.autograd.grad(y.sum(), tensors), torch.autograd.grad(z.sum(), tensors)):
        torch.testing.assert_close(one, other)


def test_torch_compile_of_modules_with_dropout_and_other_lengths():
    module = MultiHeadAttention(16, 2, causal=True, dropout=0.5)
    compiled = torch.compile(module, fullgraph=True, dynamic=True)
    for length in (5, 9, 12):
        x = torch.randn(2, length, 16)
        assert not torch.equal(compiled(x), compiled(x))  # other weights are dropped
        module.eval()
        torch.testing.assert_close(compiled(x), module(x))
        module.train()


def test_states_end_with_the_graph():
    call, tensors = additive_call()
    before = _heed.operator_states()
    y = call(*tensors)
    assert _heed.operator_states() == before + 1
    del y
    assert _heed.operator_states() == before
    with torch.no_grad():
        y = call(*tensors)
    assert _heed.operator_states() == before
    y = call(*tensors)
    first = torch.autograd.grad(y.sum(), tensors, retain_graph=True)
    assert _heed.operator_states() == before
    for one, other in zip(first, torch.autograd.grad(y.sum(), tensors)):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_saved_tensors_that_are_copied_and_checkpoints():
    from torch.utils.checkpoint import checkpoint

    call, tensors = additive_call()
    expected = torch.autograd.grad(call(*tensors).square().sum(), tensors)
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x.clone(), lambda x: x):
        copied = call(*tensors)
    for y in (copied, checkpoint(call, *tensors, use_reentrant=False), checkpoint(call, *tensors, use_reentrant=True)):
        for x in tensors:
            x.grad = None
        y.square().sum().backward()
        for x, other in zip(tensors, expected):
            torch.testing.assert_close(x.grad, other)


def test_changed_inputs_are_noticed():
    call, tensors = additive_call()
    y = call(*tensors)
    with torch.no_grad():
        tensors[1].add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_only_the_gradients_that_are_wanted():
    call, tensors = additive_call()
    expected = torch.autograd.grad(call(*tensors).sum(), tensors)
    for n in range(len(tensors)):
        some = [x if i == n else x.detach() for i, x in enumerate(tensors)]
        torch.testing.assert_close(torch.autograd.grad(call(*some).sum(), tensors[n])[0], expected[n])


@pytest.mark.parametrize("layout", ["rows", "parts of a projection", "length first", "one row", "expanded", "columns"])
def test_strides(layout):
    def laid_out(x):
        x = x.detach()
        if layout == "rows":
            return x.transpose(1, 2).contiguous().transpose(1, 2)
        if layout == "parts of a projection":
            return torch.cat([x, x], 3)[..., :x.shape[3]]
        if layout == "length first":
            return x.permute(2, 0, 1, 3).contiguous().permute(1, 2, 0, 3)
        if layout == "columns":
            return x.mT.contiguous().mT
        return x[:1].expand(3, -1, -1, -1) if layout == "expanded" else x[:1]

    originals = [x.detach() for x in inputs(torch.float64)]
    strided = [laid_out(x).requires_grad_() for x in originals]
    plain = [x.detach().contiguous().requires_grad_() for x in strided]
    results = []
    for tensors in (strided, plain):
        y = attention(*tensors, causal=True)
        dy = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).reshape(y.shape).transpose(1, 2).contiguous()
        results.append((y, *torch.autograd.grad(y, tensors, dy.transpose(1, 2))))
    for one, other in zip(*results):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_a_tensor_that_is_keys_and_values():
    x = torch.randn(2, HEADS, 7, WIDTH, dtype=torch.float64, requires_grad=True)
    y, z = attention(x, x, x), F.scaled_dot_product_attention(x, x, x)
    torch.testing.assert_close(torch.autograd.grad(y.sin().sum(), x), torch.autograd.grad(z.sin().sum(), x))


def test_empty_batches_and_no_keys():
    q, k, v = inputs(torch.float32, batch=0)
    y = attention(q, k, v)
    assert y.shape == (0, HEADS, QUERIES, 6)
    y.sum().backward()
    assert q.grad.shape == q.shape
    q, k, v = inputs(torch.float32, keys=0)
    y = attention(q, k, v)
    assert not y.any()
    y.sum().backward()
    assert not q.grad.any()


def test_threads_do_not_change_values():
    call, tensors = additive_call(torch.float32, batch=5, queries=40)
    before = torch.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3, 8):
            torch.set_num_threads(threads)
            y = call(*tensors)
            results.append((y, *torch.autograd.grad(y.sin().sum(), tensors)))
    finally:
        torch.set_num_threads(before)
    for other in results[1:]:
        for n, (one, two) in enumerate(zip(results[0], other)):
            if n < 4:
                assert torch.equal(one, two)
            torch.testing.assert_close(one, two)


def test_calls_from_several_threads():
    call, tensors = additive_call(torch.float32, queries=30)
    expected = [call(*tensors), *torch.autograd.grad(call(*tensors).sum(), tensors)]
    wrong = []

    def work():
        for _ in range(30):
            y = call(*tensors)
            found = [y, *torch.autograd.grad(y.sum(), tensors)]
            if not all(torch.equal(one, other) for one, other in zip(found, expected)):
                wrong.append(found)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_child_of_a_fork():
    program = """
import os, signal, torch
from heed.torch import attention
torch.set_num_threads(2)
q = torch.randn(4, 2, 50, 8, requires_grad=True)
y = attention(q, q, q)
child = os.fork()
if child == 0:
    signal.alarm(60)
    z = attention(q, q, q)
    g, = torch.autograd.grad(z.sum(), q)
    h, = torch.autograd.grad(y.sum(), q)
    os._exit(0 if torch.equal(y, z) and torch.equal(g, h) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
y.sum().backward()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_dropout_follows_the_generator():
    q, k, _ = inputs(torch.float64)
    eye = torch.eye(KEYS, dtype=torch.float64).expand(3, HEADS, KEYS, KEYS)
    whole = attention(q, k, eye)
    torch.manual_seed(1)
    one, other = (attention(q, k, eye, dropout=0.25) for _ in range(2))
    torch.manual_seed(1)
    again = attention(q, k, eye, dropout=0.25)
    assert torch.equal(one, again) and not torch.equal(one, other)
    dropped = one == 0
    assert 0.22 < dropped.double().mean() < 0.28
    torch.testing.assert_close(one[~dropped], whole[~dropped] / 0.75)
    assert torch.equal(attention(q, k, eye, dropout=0.25, training=False), whole)
    x = q.detach()[:, :, :, :6].requires_grad_()
    dropped_values = attention(q, k, x, dropout=0.25)
    gradient, = torch.autograd.grad(dropped_values.sum(), x)
    # It is linear in the values, and the backward pass drops the same weights.
    torch.testing.assert_close((gradient * x).sum(), dropped_values.sum())


@pytest.mark.parametrize("score", ["scaled_dot", "additive", "l1"])
def test_memory_grows_linearly(score):
    program = f"""
import resource, sys, torch
from heed.torch import attention, parameter_shapes
length = int(sys.argv[1])
q = torch.randn(1, 2, length, 16, requires_grad=True)
p = {{n: torch.randn(s, requires_grad=True) for n, s in parameter_shapes(2, 16, score={score!r}).items()}}
small = attention(q[:, :, :8], q[:, :, :8], q[:, :, :8], score={score!r}, parameters=p).sum().backward()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
attention(q, q, q, score={score!r}, parameters=p, causal=True).sum().backward()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    used = {length: int(subprocess.run([sys.executable, "-c", program, str(length)], check=True, capture_output=True,
                                       text=True).stdout) for length in (512, 8192)}
    # In KiB. The weights of 8192 x 8192 pairs would take 524288 of them for two heads.
    assert used[8192] < 16 * max(used[512], 1024) + 8192 and used[8192] < 65536, used


# ---- modules -------------------------------------------------------------------------------------------------------

def test_a_module_is_the_function_with_its_parameters():
    q, k, v = inputs(torch.float32)
    module = Attention(HEADS, WIDTH, value_width=6, score="additive", normalizer="softmax_sink", causal=True)
    assert [name for name, _ in module.named_parameters()] == ["score.query", "score.key", "score.v", "normalizer.sink"]
    y = attention(q, k, v, score="additive", normalizer="softmax_sink", causal=True,
                  parameters=dict(module.named_parameters()))
    assert torch.equal(module(q, k, v), y)
    same, double = Attention(HEADS, WIDTH, score="additive"), Attention(HEADS, WIDTH, score="additive").double()
    same.reset_parameters(seed=7)
    double.reset_parameters(seed=7)
    torch.testing.assert_close(same.score.query.double(), double.score.query, rtol=1e-6, atol=1e-6)
    torch.manual_seed(5)
    one = Attention(HEADS, WIDTH, score="additive")
    torch.manual_seed(5)
    assert torch.equal(one.score.key, Attention(HEADS, WIDTH, score="additive").score.key)


def test_multi_head_attention_is_pytorchs():
    ours = MultiHeadAttention(32, 4, dtype=torch.float64)
    theirs = torch.nn.MultiheadAttention(32, 4, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(ours.qkv.weight)
        theirs.in_proj_bias.copy_(ours.qkv.bias.normal_())
        theirs.out_proj.weight.copy_(ours.output.weight)
        theirs.out_proj.bias.copy_(ours.output.bias.normal_())
    x = torch.randn(3, 9, 32, dtype=torch.float64, requires_grad=True)
    lengths = torch.tensor([9, 4, 1])
    y = ours(x, lengths=lengths)
    z, _ = theirs(x, x, x, key_padding_mask=torch.arange(9) >= lengths[:, None], need_weights=False)
    torch.testing.assert_close(y, z)
    torch.testing.assert_close(torch.autograd.grad(y.sin().sum(), x), torch.autograd.grad(z.sin().sum(), x))


def test_cross_attention_is_pytorchs():
    ours = MultiHeadAttention(32, 4, 20, dtype=torch.float64)
    theirs = torch.nn.MultiheadAttention(32, 4, kdim=20, vdim=20, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        theirs.q_proj_weight.copy_(ours.query.weight)
        theirs.k_proj_weight.copy_(ours.key.weight)
        theirs.v_proj_weight.copy_(ours.value.weight)
        theirs.out_proj.weight.copy_(ours.output.weight)
        for bias in (ours.query.bias, ours.key.bias, ours.value.bias):
            bias.normal_()
        theirs.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.key.bias, ours.value.bias]))
    x, memory = (torch.randn(2, n, width, dtype=torch.float64, requires_grad=True) for n, width in ((5, 32), (7, 20)))
    y, z = ours(x, memory), theirs(x, memory, memory, need_weights=False)[0]
    torch.testing.assert_close(y, z)
    torch.testing.assert_close(torch.autograd.grad(y.sin().sum(), (x, memory)),
                               torch.autograd.grad(z.sin().sum(), (x, memory)))


@pytest.mark.parametrize("options", [
    {"attention.key_value_heads": 2}, {"attention.gate": "head"}, {"attention.differential": "v2"},
    {"attention.query_key_norm": "rms"}, {"attention.projection": "latent"}, {"attention.forget_gate": True},
    {"attention.persistent_keys": 3}, {"attention.projection": "identity"}, {"block.bias": False},
], ids=lambda options: next(iter(options)))
def test_gradients_of_projections(options):
    module = MultiHeadAttention(8, 4, causal=True, options=options, dtype=torch.float64)
    x = torch.randn(2, 5, 8, dtype=torch.float64, requires_grad=True)
    for p in module.parameters():
        torch.nn.init.normal_(p, std=0.5)
    assert torch.autograd.gradcheck(lambda x, *_: module(x), (x, *module.parameters()))


CONFIG = """
name = "two-blocks"
[task]
kind = "reverse"
validation = 16
[task.reverse]
length = 6
symbols = 5
[model]
kind = "decoder"
layers = 2
width = 16
heads = 4
init_std = 0.3
[block]
ffn = false
norm = "none"
[attention]
score = "additive"
key_value_heads = 2
[position]
kind = "t5"
[train]
steps = 3
batch = 8
"""


def test_a_run_s_checkpoint(tmp_path):
    import json

    (tmp_path / "two.toml").write_text(CONFIG)
    command = os.environ["HEED_COMMAND"]
    subprocess.run([command, "run", "two.toml"], cwd=tmp_path, check=True, capture_output=True)
    file, = tmp_path.glob("runs/*/checkpoint-*.safetensors")
    attended = json.loads(subprocess.run([command, "attend", file.parent.name, "--row", "0", "--json"], cwd=tmp_path,
                                         check=True, capture_output=True).stdout)["examples"][0]
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = MultiHeadAttention(16, 4, score="additive", position="t5", causal=True,
                                                options={"attention.key_value_heads": 2}, longest=12)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(6, 16)
            self.blocks = torch.nn.ModuleList([Block(), Block()])

    model = Model()
    run = heed.load_run(file.parent)
    model.load_state_dict(load_checkpoint(run))
    assert load_checkpoint(run.weights_at(3)).keys() == load_checkpoint(run).keys()
    words = attended["heads"][0]["queries"]
    x = model.embedding(torch.tensor([[5 if word == "|" else int(word) for word in words]]))
    # The second block's weights depend on the first block's result. With the unit vectors as values, they are a result.
    x = x + model.blocks[0].attention(x)
    second = model.blocks[1].attention
    q = F.linear(x, second.query.weight, second.query.bias).reshape(1, -1, 4, 4).transpose(1, 2)
    k = F.linear(x, second.key_value.weight, second.key_value.bias)[..., :8].reshape(1, -1, 2, 4).transpose(1, 2)
    count = len(words)
    weights = attention(q, k, torch.eye(count).expand(1, 2, count, count), score="additive", position="t5", causal=True,
                        parameters={name: second.get_parameter(name) for name in
                                    ("score.query", "score.key", "score.v", "position.bias")})
    for head in attended["heads"]:
        if head["module"] == "blocks.1.attention":
            torch.testing.assert_close(weights[0, head["head"]], torch.tensor(head["weights"]), rtol=1e-4, atol=1e-5)


def test_the_page_of_the_documentation():
    page = pathlib.Path(os.environ["HEED_CHECKOUT"], "docs/how-to/attention-in-pytorch.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    assert len(blocks) == 4
    tables = parameter_shapes(4, 32, position="t5", longest=512, options={"position.t5.buckets": 16})
    names = {"slopes": torch.ones(4, 1), "x": torch.randn(2, 9, 512), "lengths": torch.tensor([9, 3]),
             "tables": drawn(tables, torch.float32)}
    for block in blocks[:3]:  # the last one is test_a_run_s_checkpoint
        exec(block, names)
    assert names["y"].shape == (2, 9, 512) and names["q"].grad is not None


# ---- what is refused -----------------------------------------------------------------------------------------------

def test_second_derivatives_are_refused():
    call, tensors = additive_call()
    gradient, = torch.autograd.grad(call(*tensors).sin().sum(), tensors[0], create_graph=True)
    with pytest.raises(NotImplementedError, match="no second derivatives.*create_graph"):
        gradient.sum().backward()


@pytest.mark.parametrize("given, words", [
    ({"score": "aditive"}, "attention.score is 'aditive'.*did you mean 'additive'"),
    ({"normalizer": "sofmax"}, "did you mean 'softmax'"),
    ({"position": "rotery"}, "did you mean 'rotary'"),
    ({"position": "sinusoidal"}, "added to the embeddings"),
    ({"normalizer": "stick_breaking"}, "needs causal attention"),
    ({"options": {"attention.additive.hidden": 3}}, "does nothing"),
    ({"options": {"attention.adititve.hidden": 3}}, "did you mean"),
    ({"prefix": 3}, "attention.prefix does nothing"),
    ({"score": "multiplicative"}, "parameters are missing: score.weight"),
    ({"weight": torch.zeros(1)}, "there is no parameter 'weight'; parameters of these options: none"),
    ({"parameters": {"score.weight": torch.zeros(1)}}, "there is no parameter 'score.weight'"),
    ({"score": "multiplicative", "weight": torch.zeros(1)}, r"score.weight must have the shape \[4, 8, 8\]"),
    ({"score_mod": "s * +"}, "a value is missing"),
    ({"lengths": torch.ones(3)}, r"lengths is \[3\] of torch.float32; it must be \[3\] integers"),
    ({"lengths": torch.ones(2, dtype=torch.int64)}, r"must be \[3\] integers"),
    ({"lengths": torch.tensor([1, 38, 2])}, "lengths has values from 1 to 38; there are 37 keys"),
    ({"mask": torch.ones(3, 3)}, "must be torch.bool"),
    ({"mask": torch.ones(3, 3, dtype=torch.bool)}, r"mask is \[3, 3\]"),
    ({"bias": torch.ones(3, HEADS, QUERIES, KEYS)}, "the same for all batch entries"),
    ({"offset": -1}, "at least 0"),
    ({"longest": 3}, "longest is 3"),
    ({"dropout": 1.5}, "below 1"),
])
def test_options_are_refused(given, words):
    q, k, v = inputs(torch.float32)
    with pytest.raises(heed.Refused, match=words):
        attention(q, k, v, **given)


def test_inputs_are_refused():
    q, k, v = inputs(torch.float32)
    for tensors, words in (((q.half(), k, v), "float16; heed.torch computes in float32 and float64"),
                           ((q, k.double(), v), "k is of torch.float64, and q of torch.float32"),
                           ((q.to("meta"), k, v), "on the device meta"), ((q[0], k, v), "must have 4 axes"),
                           ((q, k[:, :3], v[:, :3]), "H a multiple of Hk"),
                           ((q, k[:, :, 1:], v), "do not fit together"),
                           ((q[..., :3], k, v), "one width")):
        with pytest.raises(heed.Refused, match=words):
            attention(*tensors)
    with pytest.raises(TypeError, match="must be a torch.Tensor"):
        attention(q.detach().numpy(), k, v)
    with pytest.raises(heed.Refused, match="longest"):
        Attention(HEADS, WIDTH, score="location")
    with pytest.raises(heed.Refused, match="positions of different sequences"):
        MultiHeadAttention(8, 2, 8, causal=True)
    with pytest.raises(heed.Refused, match="this module takes x .B, T, 8."):
        MultiHeadAttention(8, 2)(torch.zeros(1, 3, 9))
    with pytest.raises(heed.Refused, match="does not divide the width 9"):
        MultiHeadAttention(9, 2)
