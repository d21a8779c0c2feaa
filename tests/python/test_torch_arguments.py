"""heed.torch.attention with random arguments: a result that agrees with plain operations of PyTorch, or an error that
names what was wrong. Among the arguments are wrong ones of each kind."""

import random

import heed
import pytest

torch = pytest.importorskip("torch")

from heed.torch import attention  # noqa: E402

NAMED = (heed.Refused, heed.Failed, TypeError, NotImplementedError)


def composed(q, k, v, score="scaled_dot", causal=False, prefix=0, window=0, dilation=1, offset=0, lengths=None,
             mask=None, bias=None):
    shared = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(shared, 1), v.repeat_interleave(shared, 1)
    scores = q @ k.mT / (q.shape[3] ** 0.5 if score == "scaled_dot" else 1)
    if bias is not None:
        scores = scores + bias
    i = torch.arange(q.shape[2])[:, None] + offset
    j = torch.arange(k.shape[2])[None]
    seen = (i - j) % dilation == 0
    if window:
        seen = seen & ((i - j).abs() <= window * dilation)
    if causal:
        seen = (seen & (j <= i)) | (j < prefix)
    if lengths is not None:
        seen = seen & (j < torch.as_tensor(lengths)[:, None, None, None])
    if mask is not None:
        seen = seen & mask
    seen = seen.expand(scores.shape)
    weights = torch.softmax(scores.masked_fill(~seen, -1e30), -1).masked_fill(~seen, 0)
    return weights @ v


class Draw:
    """Random inputs, options that fit them, and perhaps a wrong argument."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        torch.manual_seed(seed)
        one_of = self.random.choice
        self.dtype = one_of((torch.float32, torch.float64))
        key_heads = one_of((1, 2, 3))
        self.batch, self.heads = one_of((0, 1, 2, 3)), key_heads * one_of((1, 2))
        self.queries, self.keys = self.random.randrange(0, 9), self.random.randrange(0, 9)
        width = one_of((1, 3, 8))
        self.inputs = [self.tensor(self.batch, self.heads, self.queries, width),
                       self.tensor(self.batch, key_heads, self.keys, width),
                       self.tensor(self.batch, key_heads, self.keys, one_of((1, 4, 5)))]
        self.options = {"score": one_of(("scaled_dot", "dot")), "causal": one_of((True, False))}
        for name, value in (("window", self.random.randrange(0, 5)), ("dilation", self.random.randrange(1, 4)),
                            ("offset", self.random.randrange(0, 5)), ("lengths", self.lengths()), ("mask", self.mask()),
                            ("bias", self.bias())):
            if one_of((True, False)):
                self.options[name] = value
        if self.options["causal"] and one_of((True, False)):
            self.options["prefix"] = self.random.randrange(0, 4)

    def tensor(self, *shape):
        layout = self.random.randrange(4)
        if layout == 1:
            return torch.randn(*shape[:2], shape[3], shape[2], dtype=self.dtype).mT
        if layout == 2:
            return torch.randn(1, *shape[1:], dtype=self.dtype).expand(shape)
        if layout == 3:
            return torch.randn(*shape[:3], shape[3] + 2, dtype=self.dtype)[..., 1:-1]
        return torch.randn(shape, dtype=self.dtype)

    def lengths(self):
        lengths = [self.random.randrange(0, self.keys + 1) for _ in range(self.batch)]
        kind = self.random.choice((list, tuple, torch.int64, torch.int32, torch.uint8, torch.int16))
        return kind(lengths) if kind in (list, tuple) else torch.tensor(lengths, dtype=kind)

    def mask(self):
        rows, columns = self.random.choice((1, self.queries)), self.random.choice((1, self.keys))
        leading = self.random.choice(((), (1, 1), (self.batch, 1), (1, self.heads), (self.batch, self.heads)))
        return torch.rand(*leading, rows, columns) > 0.3

    def bias(self):
        leading = self.random.choice(((), (1,), (self.heads,)))
        return torch.randn(*leading, self.queries, self.random.choice((1, self.keys)), dtype=self.dtype)

    def spoil(self):
        """Makes one argument another one, which may be wrong."""
        wrong = [-1, 0, 1, 2**31, 2**32 + 1, 2**63, 2**70, 1.5, "3", None, True, [], [1, "2"], {"x": 1}, object(),
                 float("nan"), torch.zeros(0), torch.ones(2, 3), torch.ones(1, 1, 1, 1, dtype=torch.bool),
                 torch.tensor([2**40]), torch.ones(1, device="meta"), torch.tensor([-5, 3]), "additive\x1fseed=1",
                 b"dot", {"precision": "float64"}, {"model.heads": 7}, {"attention.talking_heads": "both"},
                 torch.ones(3).half()]
        names = ["score", "normalizer", "position", "causal", "prefix", "window", "dilation", "score_mod", "mask_mod",
                 "options", "lengths", "mask", "bias", "offset", "dropout", "training", "longest", "parameters",
                 "weight"]
        if self.random.randrange(4):
            self.options[self.random.choice(names)] = self.random.choice(wrong)
            return
        n = self.random.randrange(3)
        x = self.inputs[n]
        self.inputs[n] = self.random.choice((x[:1], x[:, :1], x[..., :2], x.flatten(0, 1), x.half(), x.double(),
                                             x.to("meta"), x.to(torch.int64), x[..., :0], x.tolist(), x.mT,
                                             torch.zeros(0, 0, 0, 0)))


@pytest.mark.parametrize("seed", range(300))
def test_arguments_that_fit(seed):
    draw = Draw(seed)
    inputs = [x.detach().requires_grad_() for x in draw.inputs]
    y, z = attention(*inputs, **draw.options), composed(*inputs, **draw.options)
    exact = {"rtol": 1e-4, "atol": 1e-5} if draw.dtype == torch.float32 else {"rtol": 1e-9, "atol": 1e-10}
    torch.testing.assert_close(y, z, **exact)
    dy = torch.randn_like(z)
    for one, other in zip(torch.autograd.grad(y, inputs, dy), torch.autograd.grad(z, inputs, dy)):
        torch.testing.assert_close(one, other, **exact)


@pytest.mark.parametrize("seed", range(1000, 2000))
def test_arguments_that_may_not_fit(seed):
    draw = Draw(seed)
    draw.spoil()
    try:
        y = attention(*draw.inputs, **draw.options)
    except NAMED as error:
        assert str(error)
    else:
        assert y.shape[:3] == draw.inputs[0].shape[:3]
