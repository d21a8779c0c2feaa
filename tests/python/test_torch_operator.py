"""heed.torch's operator serves all of PyTorch's ways to call it: gradcheck, compilation, graphs that are kept, strides,
threads, forks."""

import subprocess
import sys
import threading

import numpy
import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from heed import _heed  # noqa: E402
from heed._torch_arguments import choices  # noqa: E402
from heed.torch import MultiHeadAttention, attention, parameter_shapes  # noqa: E402
from torch_inputs import HEADS, KEYS, QUERIES, WIDTH, additive_call, drawn, inputs  # noqa: E402


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
    _, tensors = additive_call()
    q, k, v, *parameters = tensors
    chosen = choices("additive", "softmax", "none", True, 0, 3, 1, "", "", 0.0, {})
    given = ([q, k, v], parameters, None, None, None, None, chosen.text, list(chosen.integers), list(chosen.numbers),
             "\x1f".join(["score.query", "*key", "score.v"]), HEADS, 0, 0, v.shape[3], [True] * 6)
    torch.library.opcheck(torch.ops.heed.attention.default, given)
    y, mark = torch.ops.heed.attention(*given)
    torch.library.opcheck(torch.ops.heed.attention_backward.default, (torch.ones_like(y), mark, *given),
                          test_utils=("test_schema", "test_faketensor"))


def test_parameters_in_any_order():
    call, tensors = additive_call()
    q, k, v, query, key, w = tensors
    y = attention(q, k, v, causal=True, score="additive", parameters={"score.v": w}, key=key, query=query)
    assert torch.equal(y, call(*tensors))
    for one, other in zip(torch.autograd.grad(y.sin().sum(), tensors), torch.autograd.grad(call(*tensors).sin().sum(),
                                                                                           tensors)):
        assert torch.equal(one, other)
    some = [x.detach() for x in tensors]
    some[4].requires_grad_()
    y = attention(*some[:3], causal=True, score="additive", v=some[5], key=some[4], query=some[3])
    torch.testing.assert_close(torch.autograd.grad(y.sum(), some[4])[0],
                               torch.autograd.grad(call(*tensors).sum(), key)[0])


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


@pytest.mark.parametrize("changing", ["length", "keys", "heads", "batch", "window", "offset", "option"])
def test_torch_compile_of_any_sizes(changing):
    """As for PyTorch's own operators, a number that changes is a symbol from its second value on."""
    torch._dynamo.reset()
    graphs = []

    def counted(graph, _):
        graphs.append(graph)
        return graph.forward

    def call(q, k, v, window, offset, buckets, table):
        return attention(q, k, v, causal=True, window=window, offset=offset, position="t5", longest=64,
                         options={"position.t5.buckets": buckets}, parameters={"position.bias": table})

    for compiled in (torch.compile(call, fullgraph=True, backend=backend) for backend in (counted, "aot_eager")):
        for n in range(12):
            size = {name: n if name == changing else 0
                    for name in ("length", "keys", "heads", "batch", "window", "offset", "option")}
            heads, buckets = 4 + 2 * size["heads"], 8 + 2 * size["option"]
            length = 9 + size["length"]
            q = torch.randn(2 + size["batch"], heads, length, 8, requires_grad=True)
            k, v = (torch.randn(2 + size["batch"], heads, length + size["keys"], 8, requires_grad=True) for _ in "kv")
            shape = parameter_shapes(heads, 8, position="t5", causal=True, longest=64,
                                     options={"position.t5.buckets": buckets})["position.bias"]
            given = (q, k, v, 3 + size["window"], 2 + size["offset"], buckets, torch.randn(shape, requires_grad=True))
            y, z = compiled(*given), call(*given)
            torch.testing.assert_close(y, z)
            wanted = (q, k, v, given[-1])
            for one, other in zip(torch.autograd.grad(y.sum(), wanted), torch.autograd.grad(z.sum(), wanted)):
                torch.testing.assert_close(one, other)
    assert len(graphs) <= 3


def test_torch_compile_with_marked_sizes_masks_and_lengths():
    torch._dynamo.reset()

    def call(q, k, v, mask, lengths):
        return attention(q, k, v, mask=mask, lengths=lengths, bias=q.new_zeros(q.shape[2], k.shape[2]))

    compiled = torch.compile(call, fullgraph=True, backend="aot_eager", dynamic=True)
    for length in (9, 1, 12):
        q, k, v = (torch.randn(3, 4, length, 8) for _ in range(3))
        if length == 9:
            for x in (q, k, v):
                torch._dynamo.mark_dynamic(x, 2)
        mask, lengths = torch.rand(length, length) > 0.2, torch.tensor([length, 1, 0])
        torch.testing.assert_close(compiled(q, k, v, mask, lengths), call(q, k, v, mask, lengths))


def test_results_may_be_changed_in_place():
    call, tensors = additive_call()
    x = torch.randn(2, HEADS, 5, 6, dtype=torch.float64)
    expected = torch.autograd.grad((call(*tensors) + x).square().sum(), tensors)
    y = call(*tensors)
    y += x
    y.square().sum().backward()
    for tensor, other in zip(tensors, expected):
        torch.testing.assert_close(tensor.grad, other)
    module = MultiHeadAttention(8, 2)
    x = torch.randn(2, 3, 8)
    y, z = module(x), module(x) + x
    y += x
    assert torch.equal(y, z)


def test_autocast_computes_in_float32():
    module = MultiHeadAttention(16, 2, causal=True)
    linear = torch.nn.Linear(16, 16)
    x = torch.randn(2, 5, 16)
    with torch.autocast("cpu", torch.bfloat16):
        hidden = linear(x)
        y = module(hidden)
        assert hidden.dtype == torch.bfloat16 and y.dtype == torch.float32
        heads = hidden.unflatten(2, (2, 8)).transpose(1, 2)
        z = attention(heads, heads.float(), heads, bias=torch.zeros(5, 5, dtype=torch.bfloat16))
        double = heads.double()
        assert z.dtype == torch.float32 and attention(double, double, double).dtype == torch.float64
    torch.testing.assert_close(y, module(hidden.float()))
    y.sum().backward()
    assert linear.weight.grad.dtype == torch.float32 and module.qkv.weight.grad is not None


def test_lengths_as_lists():
    q, k, v = inputs(torch.float32)
    expected = attention(q, k, v, lengths=torch.tensor([37, 4, 0]))
    for lengths in ([37, 4, 0], (37, 4, 0), torch.tensor([37, 4, 0], dtype=torch.uint8), numpy.array([37, 4, 0])):
        assert torch.equal(attention(q, k, v, lengths=lengths), expected)
    x, module = torch.randn(2, 5, 8), MultiHeadAttention(8, 2)
    assert torch.equal(module(x, lengths=[5, 2]), module(x, lengths=torch.tensor([5, 2])))


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
