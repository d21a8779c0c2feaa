"""heed.torch.linear_recurrence equals a loop over tokens in PyTorch, forward and backward, however PyTorch calls it."""

import math

import heed
import numpy
import pytest

torch = pytest.importorskip("torch")

from heed import _heed  # noqa: E402
from heed.torch import linear_recurrence  # noqa: E402

BATCH, HEADS, KEYS, VALUES = 2, 4, 5, 3
DECAYS = {"none": None, "head": (BATCH, HEADS, -1), "head, with an axis": (BATCH, HEADS, -1, 1),
          "channel": (BATCH, HEADS, -1, KEYS), "constant": (HEADS,)}


def inputs(tokens, decay="channel", key_heads=2, dtype=torch.float64, with_state=True, seed=0):
    draw = torch.Generator().manual_seed(seed)

    def drawn(*shape):
        return torch.randn(shape, generator=draw, dtype=torch.float64)

    q, k = (drawn(BATCH, key_heads, tokens, KEYS) for _ in "qk")
    v, state = drawn(BATCH, HEADS, tokens, VALUES), drawn(BATCH, HEADS, KEYS, VALUES) if with_state else None
    shape = DECAYS[decay]
    g = None if shape is None else -drawn(*(tokens if extent == -1 else extent for extent in shape)).abs()
    return [None if x is None else x.to(dtype).requires_grad_() for x in (q, k, v, g, state)]


def strengths(tokens, width=None, seed=1):
    """Of erase and write, [B, H, T]; or of the erase, [B, H, T, width]."""
    draw = torch.Generator().manual_seed(seed)
    shape = (BATCH, HEADS, tokens) if width is None else (BATCH, HEADS, tokens, width)
    return torch.rand(shape, generator=draw, dtype=torch.float64).requires_grad_()


def with_short_keys(given):
    """So that a state which is erased does not grow."""
    q, k, *others = given
    k = (k.detach() / k.detach().norm(dim=-1, keepdim=True)).requires_grad_()
    return [q, k, *others]


def loop(q, k, v, g=None, state=None, *, beta=None, scale=None, lengths=None, segments=None):
    """The definition, token by token."""
    batch, heads, tokens, values = v.shape
    q, k = (x.repeat_interleave(heads // x.shape[1], 1) for x in (q, k))
    if g is None:
        g = v.new_zeros(batch, heads, tokens, 1)
    elif g.dim() == 1:
        g = g[:, None, None].expand(batch, heads, tokens, 1)
    elif g.dim() == 3:
        g = g[..., None]
    state = v.new_zeros(batch, heads, q.shape[3], values) if state is None else state
    outputs = []
    for t in range(tokens):
        before = state
        if segments is not None and t > 0:
            state = state * (segments[:, t] == segments[:, t - 1])[:, None, None, None]
        state, written = g[:, :, t].exp()[..., None] * state, v[:, :, t]
        if beta is not None:
            b = beta[:, :, t, None] if beta.dim() == 3 else beta[:, :, t]
            read = ((b * k[:, :, t])[..., None] * state).sum(2)
            written = written * (b if b.shape[-1] == 1 else 1) - read
        state = state + k[:, :, t, :, None] * written[:, :, None]
        y = (q.shape[3]**-0.5 if scale is None else scale) * (q[:, :, t, :, None] * state).sum(2)
        if lengths is not None:
            is_token = (t < torch.as_tensor(lengths))[:, None, None]
            y, state = y * is_token, torch.where(is_token[..., None], state, before)
        outputs.append(y)
    return torch.stack(outputs, 2) if outputs else torch.zeros_like(v), state


def check(given, tolerance=1e-12, **how):
    q, k, v, g, before = given
    results = linear_recurrence(q, k, v, g, initial_state=before, output_final_state=True, **how)
    wanted = loop(q, k, v, g, before, **how)
    over = [x for x in (*given, how.get("beta")) if x is not None]
    weights = [torch.cos(torch.arange(x.numel(), dtype=x.dtype)).reshape(x.shape) for x in wanted]

    def gradients(of):
        return torch.autograd.grad(sum((x.sin() * w).sum() for x, w in zip(of, weights)), over)

    for found, other in zip((*results, *gradients(results)), (*wanted, *gradients(wanted)), strict=True):
        assert found.shape == other.shape
        torch.testing.assert_close(found, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("decay", DECAYS)
@pytest.mark.parametrize("tokens", [1, 2, 16, 17, 65, 130])
@pytest.mark.parametrize("with_state", [False, True])
def test_results_and_gradients_are_those_of_the_loop(decay, tokens, with_state):
    check(inputs(tokens, decay, with_state=with_state))


@pytest.mark.parametrize("decay", DECAYS)
@pytest.mark.parametrize("tokens", [1, 17, 65])
@pytest.mark.parametrize("width", [None, 1, KEYS])
def test_with_an_erase_too(decay, tokens, width):
    given, beta = with_short_keys(inputs(tokens, decay)), strengths(tokens, width)
    check(given, beta=beta)
    if tokens == 17:
        check(given, beta=beta, lengths=[17, 4], segments=torch.tensor([[0] * 9 + [1] * 8] * BATCH))
        check(with_short_keys(inputs(tokens, decay, key_heads=1)), beta=beta, scale=0.5)


@pytest.mark.parametrize("key_heads", [1, 4])
@pytest.mark.parametrize("decay", DECAYS)
def test_heads_may_share_queries_and_keys(key_heads, decay):
    check(inputs(20, decay, key_heads))


@pytest.mark.parametrize("decay", DECAYS)
def test_single_precision(decay):
    check(inputs(70, decay, dtype=torch.float32), 2e-4)


@pytest.mark.parametrize("how", [{"scale": 1.0}, {"scale": 0.3}, {"lengths": [20, 7]}, {"lengths": [0, 19]},
                                 {"segments": True}, {"segments": True, "lengths": [13, 20]}], ids=str)
@pytest.mark.parametrize("decay", ["none", "head", "channel"])
def test_scales_lengths_and_segments(how, decay):
    if "segments" in how:
        numbers = [[0] * 3 + [1] * 16 + [2], [5] * 20]
        how = {**how, "segments": torch.tensor(numbers)}
    check(inputs(20, decay), **how)


def test_segments_are_sequences_apart():
    q, k, v, g, _ = inputs(20)
    segments = torch.tensor([[2**40] * 7 + [0] * 13] * BATCH)
    y, state = linear_recurrence(q, k, v, g, segments=segments, output_final_state=True)
    first, _ = linear_recurrence(*(x[:, :, :7] for x in (q, k, v, g)))
    second, last = linear_recurrence(*(x[:, :, 7:] for x in (q, k, v, g)), output_final_state=True)
    assert torch.equal(y, torch.cat([first, second], 2)) and torch.equal(state, last)


def test_a_state_continues_a_sequence():
    q, k, v, g, before = inputs(50)
    whole, last = linear_recurrence(q, k, v, g, initial_state=before, output_final_state=True)
    parts, state = [], before
    for begin, end in ((0, 1), (1, 33), (33, 50)):
        y, state = linear_recurrence(*(x[:, :, begin:end] for x in (q, k, v, g)), initial_state=state,
                                     output_final_state=True)
        parts.append(y)
    torch.testing.assert_close(torch.cat(parts, 2), whole)
    torch.testing.assert_close(state, last)
    over = (q, k, v, g, before)
    for one, other in zip(torch.autograd.grad(torch.cat(parts, 2).sin().sum() + state.sin().sum(), over),
                          torch.autograd.grad(whole.sin().sum() + last.sin().sum(), over)):
        torch.testing.assert_close(one, other)
    assert linear_recurrence(q, k, v, g)[1] is None


@pytest.mark.parametrize("wanted", ["q", "k", "v", "g", "initial_state"])
def test_a_gradient_of_one_argument_of_one_result(wanted):
    given = dict(zip(("q", "k", "v", "g", "initial_state"), (x.detach() for x in inputs(18))))
    given[wanted].requires_grad_()
    how = {name: given[name] for name in ("g", "initial_state")}

    def results(call):
        return call(given["q"], given["k"], given["v"], **how)

    for n in range(2):
        found = results(lambda *x, **y: linear_recurrence(*x, output_final_state=True, **y))[n]
        other = results(lambda *x, g, initial_state: loop(*x, g, initial_state))[n]
        if not other.requires_grad or (wanted == "q" and n == 1):
            continue
        torch.testing.assert_close(torch.autograd.grad(found.sum(), given[wanted]),
                                   torch.autograd.grad(other.sum(), given[wanted]))


@pytest.mark.parametrize("decay", ["none", "head", "channel", "constant"])
@pytest.mark.parametrize("erase", ["none", "head", "channel"])
def test_gradcheck(decay, erase):
    q, k, v, g, before = inputs(5, decay)
    beta = {"none": None, "head": strengths(5), "channel": strengths(5, KEYS)}[erase]
    rest = [x for x in (g, beta) if x is not None]

    def call(q, k, v, before, *more):
        more = list(more)
        return linear_recurrence(q, k, v, None if g is None else more.pop(0), beta=more[0] if more else None,
                                 initial_state=before, output_final_state=True, lengths=[5, 3])

    assert torch.autograd.gradcheck(call, (q, k, v, before, *rest))


def test_operators_keep_their_schemas():
    for wants_state in (True, False):
        q, k, v, g, before = inputs(5)
        given = (q, k, v, g, before, strengths(5)[..., None], None, None, wants_state, [True] * 6)
        torch.library.opcheck(torch.ops.heed.linear_recurrence.default, given)
        y, state, mark = torch.ops.heed.linear_recurrence(*given)
        torch.library.opcheck(torch.ops.heed.linear_recurrence_backward.default,
                              (torch.ones_like(y), torch.ones_like(state), mark, *given),
                              test_utils=("test_schema", "test_faketensor"))


def test_torch_compile_passes_it_through():
    torch._dynamo.reset()
    graphs = []

    def counted(graph, _):
        graphs.append(graph)
        return graph.forward

    def call(q, k, v, g, before):
        y, state = linear_recurrence(q, k * 1, v, g, initial_state=before, output_final_state=True)
        return y.sin(), state.cos()

    for backend in (counted, "aot_eager", "inductor"):
        compiled = torch.compile(call, fullgraph=True, backend=backend)
        for tokens in (5, 9, 40):
            given = inputs(tokens, dtype=torch.float32)
            found, wanted = compiled(*given), call(*given)
            torch.testing.assert_close(found, wanted)
            for one, other in zip(torch.autograd.grad(found[0].sum() + found[1].sum(), given),
                                  torch.autograd.grad(wanted[0].sum() + wanted[1].sum(), given)):
                torch.testing.assert_close(one, other)
    assert len(graphs) <= 2


def test_any_strides_and_shared_tensors():
    x = torch.randn(2, 30, 2, 4, dtype=torch.float64, requires_grad=True)
    heads = x.transpose(1, 2)  # as flash-linear-attention has them
    found, _ = linear_recurrence(heads, heads, heads, -heads.abs())
    wanted, _ = loop(heads, heads, heads, -heads.abs())
    torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(torch.autograd.grad(found.sin().sum(), x), torch.autograd.grad(wanted.sin().sum(), x))
    with torch.no_grad():
        torch.testing.assert_close(linear_recurrence(heads.flip(2), heads, heads)[0], loop(heads.flip(2), heads, heads)[0])


def test_nothing_to_compute():
    for batch, tokens in ((0, 5), (2, 0)):
        q, k, v = (torch.randn(batch, 2, tokens, 3, requires_grad=True) for _ in range(3))
        y, state = linear_recurrence(q, k, v, -q.abs(), output_final_state=True)
        assert y.shape == v.shape and torch.equal(state, torch.zeros(batch, 2, 3, 3))
        (y.sum() + state.sum()).backward()
        assert q.grad.shape == q.shape


def test_bits_do_not_depend_on_threads():
    given, beta = with_short_keys(inputs(200)), strengths(200)
    before = torch.get_num_threads()

    def results(threads):
        torch.set_num_threads(threads)
        y, state = linear_recurrence(*given[:4], initial_state=given[4], beta=beta, output_final_state=True)
        return y, state, *torch.autograd.grad(y.sin().sum() + state.sum(), [*given, beta])

    try:
        for one, other in zip(results(1), results(3)):
            assert torch.equal(one, other)
    finally:
        torch.set_num_threads(before)


def test_states_end_with_the_graph_and_graphs_may_be_kept():
    from torch.utils.checkpoint import checkpoint

    given = inputs(20)
    before = _heed.operator_states()

    def call(q, k, v, g, state):
        return linear_recurrence(q, k, v, g, initial_state=state)[0]

    y = call(*given)
    assert _heed.operator_states() == before + 1
    first = torch.autograd.grad(y.sin().sum(), given, retain_graph=True)
    assert _heed.operator_states() == before
    again = torch.autograd.grad(y.sin().sum(), given)
    through = torch.autograd.grad(checkpoint(call, *given, use_reentrant=False).sin().sum(), given)
    for one, *others in zip(first, again, through):
        assert all(torch.equal(one, other) for other in others)
    with torch.no_grad():
        call(*given)
    assert _heed.operator_states() == before
    y = call(*given)
    y += 1  # results may be changed in place
    y.sum().backward()


def test_autocast_and_lengths_of_any_kind():
    q, k, v, g, _ = inputs(6, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        y, _ = linear_recurrence(q.bfloat16(), k, v, g)
    assert y.dtype == torch.float32
    torch.testing.assert_close(y, linear_recurrence(q.bfloat16().float(), k, v, g)[0])
    for lengths in ([6, 2], torch.tensor([6, 2], dtype=torch.uint8), numpy.array([6, 2])):
        assert torch.equal(linear_recurrence(q, k, v, g, lengths=lengths)[0],
                           linear_recurrence(q, k, v, g, lengths=torch.tensor([6, 2]))[0])
    on_meta = [x.to("meta") for x in (q, k, v, g)]
    assert linear_recurrence(*on_meta)[0].shape == v.shape


@pytest.mark.parametrize("change, words", [
    ({"q": (2, 2, 6, 4)}, r"q \[2, 2, 6, 4\], k \[2, 2, 6, 5\] and v \[2, 4, 6, 3\] do not fit together"),
    ({"q": (2, 3, 6, 5), "k": (2, 3, 6, 5)}, "with H a multiple of Hk"),
    ({"k": (2, 2, 7, 5)}, "do not fit together"),
    ({"v": (1, 4, 6, 3)}, "do not fit together"),
    ({"v": (4, 6, 3)}, r"v has the shape \[4, 6, 3\]; it must have 4 axes"),
    ({"g": (2, 4, 6, 4)}, r"g is \[2, 4, 6, 4\]; it must be \[2, 4, 6, 5\], \[2, 4, 6\] or \[4\]"),
    ({"g": (2, 2, 6)}, r"g is \[2, 2, 6\]"),
    ({"g": (3,)}, r"g is \[3\]"),
    ({"g": ()}, r"g is \[\]"),
    ({"beta": (2, 4, 6, 3)}, r"beta is \[2, 4, 6, 3\]; it must be \[2, 4, 6\] or \[2, 4, 6, 5\]"),
    ({"beta": (2, 2, 6)}, r"beta is \[2, 2, 6\]"),
    ({"initial_state": (2, 4, 3, 5)}, r"initial_state is \[2, 4, 3, 5\]; it must be \[2, 4, 5, 3\]"),
    ({"lengths": [1, 7]}, "lengths has values from 1 to 7; there are 6 tokens"),
    ({"lengths": [1, -2]}, "lengths has values from -1 to 1"),
    ({"lengths": [1, 2, 3]}, r"it must be \[2\] integers, the number of tokens"),
    ({"segments": torch.zeros(2, 5, dtype=torch.int64)}, r"segments is \[2, 5\] of torch.int64; it must be \[2, 6\]"),
    ({"segments": torch.zeros(2, 6)}, r"segments is \[2, 6\] of torch.float32"),
])
def test_shapes_that_do_not_fit_are_refused(change, words):
    given = {"q": (2, 2, 6, 5), "k": (2, 2, 6, 5), "v": (2, 4, 6, 3), **change}
    given = {name: torch.randn(value) if isinstance(value, tuple) else value for name, value in given.items()}
    with pytest.raises(heed.Refused, match=words):
        linear_recurrence(**given)


def test_other_refusals():
    q, k, v, g, before = inputs(6)
    with pytest.raises(heed.Refused, match="k is of torch.float32, and q of torch.float64"):
        linear_recurrence(q, k.float(), v)
    with pytest.raises(heed.Refused, match="q is of torch.float16; heed.torch computes in float32 and float64"):
        linear_recurrence(q.half(), k.half(), v.half())
    with pytest.raises(heed.Refused, match="g is of torch.float32, and q of torch.float64"):
        linear_recurrence(q, k, v, g.float())
    with pytest.raises(heed.Refused, match="initial_state is on the device meta"):
        linear_recurrence(q, k, v, initial_state=before.to("meta"))
    with pytest.raises(TypeError, match="scale is 'x'; it must be a number"):
        linear_recurrence(q, k, v, scale="x")
    with pytest.raises(TypeError, match="output_final_state is 1; it must be True or False"):
        linear_recurrence(q, k, v, output_final_state=1)
    with pytest.raises(TypeError, match="g is of type list; it must be a torch.Tensor"):
        linear_recurrence(q, k, v, [1.0])
    gradient, = torch.autograd.grad(linear_recurrence(q, k, v)[0].sin().sum(), q, create_graph=True)
    with pytest.raises(NotImplementedError, match="no second derivatives.*create_graph"):
        gradient.sum().backward()
    with torch.autograd.forward_ad.dual_level(), pytest.raises(NotImplementedError, match="g has a tangent"):
        linear_recurrence(q, k, v, torch.autograd.forward_ad.make_dual(g.detach(), torch.ones_like(g)))


def test_calls_of_the_operator_that_would_read_other_memory_are_refused():
    q, k, v, g, before = (x.detach() for x in inputs(6))

    def call(*inputs, beta=None, lengths=None, segments=None, differentiable=(False,) * 6):
        torch.ops.heed.linear_recurrence(*inputs, beta, lengths, segments, True, list(differentiable))

    for wrong in ((q[:, :1], k, v, g, before), (q, k, v[:, :, :5], g, before), (q, k, v, g[:, :1], before),
                  (q, k, v, g, before[:, :, :4]), (q[0], k, v, g, before), (q, k.float(), v, g, before),
                  (q, k, v, g[0], before)):
        with pytest.raises(heed.Refused):
            call(*wrong)
    for lengths in (torch.tensor([6, 6]), torch.tensor([6], dtype=torch.int32), torch.tensor([6, 7], dtype=torch.int32)):
        with pytest.raises(heed.Refused, match="lengths"):
            call(q, k, v, g, before, lengths=lengths)
    with pytest.raises(heed.Refused, match="segments"):
        call(q, k, v, g, before, segments=torch.zeros(2, 5, dtype=torch.int32))
    with pytest.raises(heed.Refused, match="has no gradient"):
        call(q, k, v, None, None, differentiable=(False, False, False, True, False, False))
    with pytest.raises(heed.Refused, match="the strength"):
        call(q, k, v, g, before, beta=g[..., :2])
    with pytest.raises(heed.Refused, match="six"):
        call(q, k, v, g, before, differentiable=(True,))


@pytest.mark.parametrize("decay", ["head", "channel"])
def test_strong_decays_and_long_sequences(decay):
    draw = torch.Generator().manual_seed(1)
    q, k, v = (torch.randn(1, 2, 2000, 8, generator=draw) for _ in range(3))
    g = -torch.rand(1, 2, 2000, *((8,) if decay == "channel" else ()), generator=draw)
    g[:, :, 500:600] = -50
    g[:, :, 700:900] = -1e-6
    y, state = linear_recurrence(q, k, v, g, output_final_state=True)
    z, wanted = linear_recurrence(*(x.double() for x in (q, k, v, g)), output_final_state=True)
    torch.testing.assert_close(y.double(), z, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(state.double(), wanted, rtol=1e-4, atol=1e-4)
    assert math.isfinite(y.sum())
