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
