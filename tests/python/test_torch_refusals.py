"""What heed.torch refuses, and with which words."""

import heed
import pytest

torch = pytest.importorskip("torch")

from heed.torch import Attention, MultiHeadAttention, attention  # noqa: E402
from torch_inputs import HEADS, KEYS, QUERIES, WIDTH, additive_call, inputs  # noqa: E402


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
    ({"position": "path"}, "reads the tokens"),
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
    ({"lengths": [1, 38, 2]}, "lengths has values from 1 to 38; there are 37 keys"),
    ({"lengths": [1, -1, 2]}, "lengths has values from below 0 to 2"),
    ({"lengths": [3, 2]}, r"lengths is \[2\] of torch.int64; it must be \[3\] integers"),
    ({"lengths": torch.tensor([1, 2**32 + 1, 2])}, "lengths has values from 1 to 2147483647 or more; there are 37"),
    ({"lengths": torch.tensor([1, -2**32, 2])}, "lengths has values from below 0"),
    ({"lengths": [1, 2**32 + 1, 2]}, "a value of lengths is 4294967297; .*below 2.31"),
    ({"lengths": [1, 2**70, 2]}, "a value of lengths is .*below 2.31"),
    ({"mask": torch.ones(3, 3)}, "must be torch.bool"),
    ({"mask": torch.ones(3, 3, dtype=torch.bool)}, r"mask is \[3, 3\]"),
    ({"bias": torch.ones(3, HEADS, QUERIES, KEYS)}, "the same for all batch entries"),
    ({"offset": -1}, "at least 0"),
    ({"longest": 3}, "longest is 3"),
    ({"dropout": 1.5}, "below 1"),
    ({"dropout": float("nan")}, "attention.dropout"),
    ({"offset": 2**32}, "offset is 4294967296; it must be at least 0 and below 2.31"),
    ({"offset": 2**80}, "offset is .*below 2.31"),
    ({"window": 2**32}, "window is 4294967296.*below 2.31"),
    ({"prefix": 2**40}, "prefix is .*below 2.31"),
    ({"dilation": 2**31}, "dilation is .*below 2.31"),
    ({"longest": 2**32 + 64}, "longest is .*below 2.31"),
    ({"options": {"position.t5.buckets": 2**32 + 16}, "position": "t5"}, "position.t5.buckets is .*below 2.31"),
    ({"score": "additive\x1fprecision=float64"}, "control characters"),
    ({"score_mod": "s\x1eprecision=float64"}, "control characters"),
    ({"options": {"attention.talking_heads": "both\x1fprecision=float64"}}, "control characters"),
    ({"options": {"attention.talking_heads=both\x1fprecision": "float64"}}, "control characters"),
    ({"options": {"attention.talking_heads=both": "float64"}}, "there is no option"),
    ({"options": {"": 1}}, "options"),
    ({"options": {"attention.talking_heads": "@default"}}, "'@default' is a word of the command line"),
    ({"score": "@default"}, "'@default' is a word of the command line"),
    ({"parameters": {"": torch.zeros(1)}}, "there is no parameter ''"),
])
def test_options_are_refused(given, words):
    q, k, v = inputs(torch.float32)
    with pytest.raises(heed.Refused, match=words):
        attention(q, k, v, **given)


@pytest.mark.parametrize("given", [
    {"window": 1.5}, {"offset": True}, {"causal": "no"}, {"score": 3}, {"lengths": [1, 2.5, 3]}, {"lengths": "abc"},
    {"mask": [[True]]}, {"bias": 3}, {"parameters": {"x": 3}}, {"dropout": "0.5"},
    {"options": {"attention.talking_heads": None}}])
def test_arguments_of_other_types_are_refused(given):
    with pytest.raises(TypeError, match="must be|is of type"):
        attention(*inputs(torch.float32), **given)


SET_BY_THE_CALL = ["precision", "model.heads", "model.width", "position.kind", "attention.score",
                   "attention.normalizer", "attention.causal", "attention.prefix", "attention.window",
                   "attention.dilation", "attention.dropout", "attention.score_mod", "attention.mask_mod"]
WITHOUT_EFFECT = ["train.steps", "train.learning_rate", "seed", "task.kind", "model.kind", "model.registers",
                  "model.layers", "block.residual", "block.norm_kind", "block.dropout", "attention.value_residual",
                  "attention.cross_score", "attention.cross_score_mod", "position.shared", "position.combine",
                  "init.head", "init.embedding", "engine.kernels", "report.metric", "sweep.seeds", "name"]


@pytest.mark.parametrize("option", SET_BY_THE_CALL)
@pytest.mark.parametrize("value", [8, "float64", True])
def test_options_that_the_call_sets_are_refused(option, value):
    for call in (lambda: attention(*inputs(torch.float32), options={option: value}),
                 lambda: MultiHeadAttention(32, 4, options={option: value}),
                 lambda: MultiHeadAttention(32, 4, 8, options={option: value}),
                 lambda: Attention(4, 8, options={option: value})):
        with pytest.raises(heed.Refused, match=f"options: {option} is set by"):
            call()


@pytest.mark.parametrize("option", WITHOUT_EFFECT)
def test_options_without_effect_are_refused(option):
    for call in (lambda: attention(*inputs(torch.float32), options={option: 3}),
                 lambda: MultiHeadAttention(32, 4, options={option: 3}),
                 lambda: MultiHeadAttention(32, 4, 8, options={option: 3})):
        with pytest.raises(heed.Refused, match=option.split(".")[-1]):
            call()


def test_options_of_projections_are_refused_without_projections():
    for option, value in (("gate", "head"), ("differential", "v1"), ("key_value_heads", 2), ("persistent_keys", 2),
                          ("forget_gate", True), ("exclusive", True), ("query_key_norm", "rms"), ("head_width", 3),
                          ("projection", "latent"), ("output_bias", "no"), ("value_residual", "fixed")):
        with pytest.raises(heed.Refused, match=f"attention.{option} does nothing in attention without projections"):
            attention(*inputs(torch.float32), options={f"attention.{option}": value})
    for option, value in (("persistent_keys", 2), ("exclusive", True), ("forget_gate", True)):
        with pytest.raises(heed.Refused, match=f"attention.{option} does nothing in cross attention"):
            MultiHeadAttention(8, 2, 8, options={f"attention.{option}": value})


def test_sizes_beyond_32_bits_are_refused():
    for arguments in ((2**32 + 4, 8), (4, 2**32 + 8), (4, 8, 2**33), (4, 8, 8, 2**33), (0, 8), (4, 0), (4, 8, 0)):
        with pytest.raises(heed.Refused, match="it must be at least 1 and below 2.31"):
            Attention(*arguments)
    for arguments in ((2**32 + 8, 2), (8, 2**32 + 2), (8, 2, 2**32), (0, 2), (8, 0)):
        with pytest.raises(heed.Refused, match="at least [01] and below 2.31"):
            MultiHeadAttention(*arguments)
    with pytest.raises(heed.Refused, match="longest is .*below 2.31"):
        MultiHeadAttention(8, 2, position="t5", longest=2**33)
    for arguments in ((10**6, 8), (4, 10**6)):
        with pytest.raises(heed.Refused, match="it must be from 1 to"):
            Attention(*arguments)
    with pytest.raises(heed.Refused, match="seed is -1"):
        MultiHeadAttention(8, 2).reset_parameters(-1)


@pytest.mark.parametrize("name, value", [
    ("mask", lambda device: torch.ones(QUERIES, KEYS, dtype=torch.bool, device=device)),
    ("lengths", lambda device: torch.ones(3, dtype=torch.int64, device=device)),
    ("bias", lambda device: torch.ones(QUERIES, KEYS, device=device)),
    ("weight", lambda device: torch.ones(HEADS, WIDTH, WIDTH, device=device)),
])
def test_arguments_on_another_device_are_refused_alike(name, value):
    q, k, v = inputs(torch.float32)
    further = {"score": "multiplicative"} if name == "weight" else {}
    what = "the parameter weight" if name == "weight" else name
    with pytest.raises(heed.Refused, match=f"{what} is on the device meta, and q is on the device cpu"):
        attention(q, k, v, **further, **{name: value("meta")})


def test_forward_mode_derivatives_are_refused():
    import torch.autograd.forward_ad as forward_ad

    call, tensors = additive_call()
    plain = [x.detach() for x in tensors]
    for n in range(len(plain)):
        def of_one(x):
            return call(*plain[:n], x, *plain[n + 1:])

        for both in (of_one, lambda x: of_one(x) + x.sum()):
            with pytest.raises(NotImplementedError, match="no forward-mode derivatives.*has a tangent"):
                torch.func.jvp(both, (plain[n],), (torch.ones_like(plain[n]),))
        with forward_ad.dual_level(), pytest.raises(NotImplementedError, match="no forward-mode derivatives"):
            of_one(forward_ad.make_dual(plain[n], torch.ones_like(plain[n])))
    q, k, v = plain[:3]
    bias = torch.zeros(5, 5, dtype=torch.float64)
    with pytest.raises(NotImplementedError, match="bias has a tangent"):
        torch.func.jvp(lambda b: attention(q, k, v, bias=b), (bias,), (bias,))
    module = MultiHeadAttention(8, 2)
    x = torch.randn(1, 3, 8)
    with pytest.raises(NotImplementedError, match="x has a tangent"):
        torch.func.jvp(module, (x,), (x,))
    with pytest.raises(NotImplementedError, match="parameter output.weight has a tangent"):
        weight = module.output.weight.detach()
        torch.func.jvp(lambda w: torch.func.functional_call(module, {"output.weight": w}, (x,)), (weight,), (weight,))
    with pytest.raises(NotImplementedError, match="no second derivatives"):
        torch.autograd.functional.jvp(lambda x: call(x, *plain[1:]), plain[0], plain[0])
    with forward_ad.dual_level():  # without a tangent, the result is as ever
        assert torch.equal(call(*plain), call(*tensors))


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
