"""The operators below heed.torch, on NumPy's memory: results against loops, gradients against finite differences. Needs
no PyTorch, so it also runs under sanitizers."""

import threading

import heed
import numpy as np
import pytest
from heed import _heed

BATCH, HEADS, QUERIES, KEYS, WIDTH, VALUES = 2, 2, 5, 7, 3, 4


def memory(x):
    return x.ctypes.data, list(x.shape), [stride // x.itemsize for stride in x.strides]


def drawn(*shape, seed=0, dtype="float64"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def recurrence(lengths=None, threads=1):
    """The arguments of a recurrence of 2 sequences, 4 heads of values, 2 of queries and keys, and 19 tokens."""
    q, k = drawn(2, 2, 19, 3, seed=1), drawn(2, 2, 19, 3, seed=2)
    v, g, state = drawn(2, 4, 19, 2, seed=3), -abs(drawn(2, 4, 19, 3, seed=4)), drawn(2, 4, 3, 2, seed=5)
    lengths = np.array([19, 19] if lengths is None else lengths, dtype=np.int32)
    inputs = [q, k, v, g, state]
    call = _heed.RecurrenceCall("float64", [*map(memory, inputs), None], [*[True] * 5, False], lengths.ctypes.data, 0, threads)
    return call, inputs, lengths


def recurrence_in_loops(q, k, v, g, state, lengths):
    outputs, state = np.zeros_like(v), state.copy()
    for b, h in np.ndindex(2, 4):
        for t in range(lengths[b]):
            state[b, h] = np.exp(g[b, h, t])[:, None] * state[b, h] + np.outer(k[b, h // 2, t], v[b, h, t])
            outputs[b, h, t] = q[b, h // 2, t] @ state[b, h]
    return outputs, state


@pytest.mark.parametrize("lengths", [None, [7, 19], [0, 18]])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_recurrence_equals_loops_forward_and_backward(lengths, threads):
    call, inputs, counts = recurrence(lengths, threads)
    y, state = np.full((2, 4, 19, 2), np.nan), np.full((2, 4, 3, 2), np.nan)
    mark = call.forward(memory(y), memory(state))
    wanted = recurrence_in_loops(*inputs, counts)
    np.testing.assert_allclose(y, wanted[0], atol=1e-12)
    np.testing.assert_allclose(state, wanted[1], atol=1e-12)
    dy, d_state = drawn(*y.shape, seed=6), drawn(*state.shape, seed=7)
    gradients = [np.full_like(x, np.nan) for x in inputs]
    call.backward(mark.ctypes.data, memory(dy), memory(d_state), [x.ctypes.data for x in gradients])

    def loss(changed):
        outputs, last = recurrence_in_loops(*changed, counts)
        return (outputs * dy).sum() + (last * d_state).sum()

    for n, gradient in enumerate(gradients):
        direction = drawn(*inputs[n].shape, seed=8 + n)
        near, far = ([*inputs[:n], inputs[n] + step * direction, *inputs[n + 1:]] for step in (-1e-6, 1e-6))
        np.testing.assert_allclose((gradient * direction).sum(), (loss(far) - loss(near)) / 2e-6, rtol=1e-6, atol=1e-6)
    again = [np.full_like(x, np.nan) for x in inputs]
    call.backward(mark.ctypes.data, memory(dy), memory(d_state), [x.ctypes.data for x in again])  # computed again
    for one, other in zip(gradients, again):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(heed.Refused, match="the final state's shape is"):
        call.forward(memory(y), memory(y))


class Call:
    """One attention of heads: queries, keys, values, the operator's parameters, and perhaps a bias."""

    def __init__(self, settings=(), dtype="float64", queries=QUERIES, keys=KEYS, key_heads=HEADS, with_bias=False,
                 lengths=None, allowed=None, offset=0, threads=1, operator=None):
        self.operator = operator or _heed.attention_operator(dtype, settings, [], HEADS, WIDTH, WIDTH, VALUES,
                                                             max(queries + offset, keys))
        self.inputs = [drawn(BATCH, HEADS, queries, WIDTH, seed=1, dtype=dtype),
                       drawn(BATCH, key_heads, keys, WIDTH, seed=2, dtype=dtype),
                       drawn(BATCH, key_heads, keys, VALUES, seed=3, dtype=dtype)]
        self.parameters = [drawn(*shape, seed=4 + i, dtype=dtype) / 2
                           for i, (_, shape) in enumerate(self.operator.parameters())]
        self.bias = drawn(HEADS, queries, keys, seed=9, dtype=dtype) if with_bias else None
        self.lengths = None if lengths is None else np.array(lengths, dtype=np.int32)
        self.allowed, self.offset, self.threads = allowed, offset, threads
        self.y = np.full((BATCH, HEADS, queries, VALUES), np.nan, dtype=dtype)

    def arrays(self):
        return [*self.inputs, *self.parameters, *([] if self.bias is None else [self.bias])]

    def call(self):
        call = _heed.OperatorCall([memory(x) for x in self.inputs], [p.ctypes.data for p in self.parameters],
                                  [True] * len(self.arrays()), self.threads)
        call.set_mask(self.offset, 0 if self.lengths is None else self.lengths.ctypes.data,
                      *(0, 1, 1) if self.allowed is None else (self.allowed.ctypes.data, *self.allowed.shape[:2]))
        if self.bias is not None:
            call.set_bias(memory(self.bias))
        return call

    def forward(self):
        mark = self.operator.forward(self.call(), memory(self.y))
        return self.y, mark

    def gradients(self, mark, dy):
        out = [np.full_like(x, np.nan) for x in self.arrays()]
        self.operator.backward(self.call(), mark if isinstance(mark, int) else mark.ctypes.data, memory(dy),
                               [x.ctypes.data for x in out])
        return out


def by_loops(call, causal=False):
    """Scaled dot product attention with softmax."""
    q, k, v = call.inputs
    y = np.zeros_like(call.y)
    for b, h, i in np.ndindex(*y.shape[:3]):
        group = h // (HEADS // k.shape[1])
        seen = [j for j in range(k.shape[2])
                if (not causal or j <= i + call.offset) and (call.lengths is None or j < call.lengths[b])
                and (call.allowed is None or call.allowed[b % len(call.allowed), h % call.allowed.shape[1], i, j])]
        if not seen:
            continue
        s = np.array([q[b, h, i] @ k[b, group, j] / WIDTH ** 0.5 +
                      (0 if call.bias is None else call.bias[h, i, j]) for j in seen])
        w = np.exp(s - s.max())
        y[b, h, i] = (w / w.sum()) @ v[b, group][seen]
    return y


DOT = "attention.score=scaled_dot"
PLAIN = {"full": {}, "causal": {"queries": 7}, "of later queries": {"queries": 3, "offset": 4},
         "one query": {"queries": 1}, "grouped": {"key_heads": 1}, "bias": {"with_bias": True},
         "lengths": {"lengths": [7, 0]}, "two threads": {"threads": 2},
         "allowed": {"allowed": (drawn(BATCH, 1, QUERIES, KEYS, seed=8) > 0).astype(np.uint8)}}


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_results_are_those_of_loops(name, dtype):
    causal = name in ("causal", "of later queries")
    call = Call([DOT, f"attention.causal={str(causal).lower()}"], dtype, **PLAIN[name])
    y, _ = call.forward()
    assert np.allclose(y, by_loops(call, causal), rtol=0, atol=2e-6 if dtype == "float32" else 1e-14)


@pytest.mark.parametrize("settings", [
    [DOT], [DOT, "attention.causal=true"], [DOT, "attention.normalizer=softpick"], ["attention.score=cosine"],
    [DOT, "attention.normalizer=softmax_sink"], [DOT, "attention.normalizer=stick_breaking", "attention.causal=true"],
    ["attention.score=additive"], ["attention.score=additive", "attention.normalizer=sigmoid"],
    ["attention.score=l1"], [DOT, "attention.score_mod=2 * tanh(s / 2)"], [DOT, "position.kind=t5"],
    ["attention.score=location"]], ids=" ".join)
@pytest.mark.parametrize("with_bias", [False, True])
def test_gradients_are_finite_differences(settings, with_bias):
    call = Call(settings, queries=KEYS, with_bias=with_bias, lengths=[7, 4])
    dy = drawn(*call.y.shape, seed=20)
    _, mark = call.forward()
    found = call.gradients(mark, dy)
    for x, dx in zip(call.arrays(), found):
        direction, step = drawn(*x.shape, seed=21), 1e-5
        sides = []
        for sign in (1, -1):
            x += sign * step * direction
            sides.append(float((call.forward()[0] * dy).sum()))
            x -= sign * step * direction
        assert float((dx * direction).sum()) == pytest.approx((sides[0] - sides[1]) / (2 * step), rel=2e-6, abs=2e-7)


def test_a_state_lives_as_long_as_its_mark_and_serves_once():
    call = Call([DOT])
    dy = drawn(*call.y.shape, seed=20)
    before = _heed.operator_states()
    _, mark = call.forward()
    assert _heed.operator_states() == before + 1
    first = call.gradients(mark, dy)
    assert _heed.operator_states() == before
    for again in (call.gradients(mark, dy), call.gradients(0, dy)):  # computed anew
        assert all(np.array_equal(a, b) for a, b in zip(first, again))
    _, mark = call.forward()
    del mark
    assert _heed.operator_states() == before


def test_threads_may_call_one_operator_at_once():
    calls = [Call(["attention.score=additive"])]
    calls += [Call(operator=calls[0].operator, threads=1 + n % 2) for n in range(5)]
    dy = drawn(*calls[0].y.shape, seed=20)
    results = [None] * len(calls)

    def work(n):
        for _ in range(5):
            y, mark = calls[n].forward()
            results[n] = [y.copy(), *calls[n].gradients(mark, dy)]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(a, b) for result in results[1:] for a, b in zip(results[0][:4], result[:4]))


def test_what_fits_is_decided_by_the_sizes_of_the_call():
    """Not by those of a default model: its heads are 16 wide, and have one of the rotated pairs that 128 have six of."""
    further = ["position.rotary.fraction=0.1", "position.rotary.scaling=ntk"]
    make = lambda width: _heed.attention_operator(  # noqa: E731
        "float64", [DOT, "position.kind=rotary"], further, HEADS, width, width, VALUES, 9)
    make(128)
    with pytest.raises(heed.Refused, match="only one pair"):
        make(16)


def test_projections_and_their_initial_values():
    operator = _heed.multi_head_operator("float64", [DOT], [], HEADS, 6, 0, 9)
    parameters = [np.full(shape, np.nan) for _, shape in operator.parameters()]
    operator.initialise(3, [p.ctypes.data for p in parameters])
    again = [np.full_like(p, np.nan) for p in parameters]
    operator.initialise(3, [p.ctypes.data for p in again])
    assert parameters and all(np.isfinite(p).all() and np.array_equal(p, q) for p, q in zip(parameters, again))
    x, y = drawn(BATCH, 9, 6), np.full((BATCH, 9, operator.result_width()), np.nan)
    call = _heed.OperatorCall([memory(x)], [p.ctypes.data for p in parameters], [True] * (1 + len(parameters)), 1)
    call.set_mask(0, 0, 0, 1, 1)
    mark = operator.forward(call, memory(y))
    gradients = [np.full_like(p, np.nan) for p in [x, *parameters]]
    operator.backward(call, mark.ctypes.data, memory(np.ones_like(y)), [g.ctypes.data for g in gradients])
    assert np.isfinite(y).all() and all(np.isfinite(g).all() for g in gradients)
