"""heed.torch's modules: their parameters, PyTorch's own attention, and the weights of a run."""

import copy
import io
import json
import math
import os
import pathlib
import pickle
import re
import subprocess

import heed
import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from heed.torch import Attention, MultiHeadAttention, attention, load_checkpoint, parameter_shapes  # noqa: E402
from torch_inputs import HEADS, WIDTH, drawn, inputs  # noqa: E402


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
    {"attention.convolution": 3},
    {"attention.selection": "moba", "attention.selection_block": 2, "attention.selection_chosen": 2},
    {"attention.selection_chosen": 2, "attention.selection": "nsa", "attention.selection_block": 2},
], ids=lambda options: next(iter(options)))
def test_gradients_of_projections(options):
    module = MultiHeadAttention(8, 4, causal=True, options=options, dtype=torch.float64)
    x = torch.randn(2, 5, 8, dtype=torch.float64, requires_grad=True)
    for p in module.parameters():
        torch.nn.init.normal_(p, std=0.5)
    assert torch.autograd.gradcheck(lambda x, *_: module(x), (x, *module.parameters()))


def test_a_convolution_is_that_of_pytorch():
    module = MultiHeadAttention(8, 2, causal=True, options={"attention.convolution": 4}, dtype=torch.float64)
    for p in module.parameters():
        torch.nn.init.normal_(p, std=0.5)
    x = torch.randn(3, 9, 8, dtype=torch.float64, requires_grad=True)

    def convolved(y, w):
        padded = F.pad(y.transpose(1, 2), (w.shape[1] - 1, 0))
        y = y + F.conv1d(padded, w[:, None], groups=len(w)).transpose(1, 2)
        return y.unflatten(2, (2, 4)).transpose(1, 2)

    filters = module.convolution
    q, k, v = map(convolved, F.linear(x, module.qkv.weight, module.qkv.bias).split(8, dim=2),
                  (filters.query, filters.key, filters.value))
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
    wanted = F.linear(y, module.output.weight, module.output.bias)
    found = module(x)
    torch.testing.assert_close(found, wanted)
    over = (x, *module.parameters())
    torch.testing.assert_close(torch.autograd.grad(found.sin().sum(), over),
                               torch.autograd.grad(wanted.sin().sum(), over))


def test_a_convolution_carries_what_is_lost_to_the_tokens_that_read_it():
    module = MultiHeadAttention(8, 2, causal=True, window=2, options={"attention.convolution": 3}, dtype=torch.float64)
    for p in module.parameters():
        torch.nn.init.normal_(p, std=0.5)
    x = torch.randn(2, 12, 8, dtype=torch.float64)
    wanted = module(x)
    x[1, 4] = math.nan
    for grad in (True, False):
        found = module(x.clone().requires_grad_(grad)) if grad else module(x).detach()
        lost = torch.isnan(found).all(2)
        # Keys 4 to 6 are made of token 4, and queries up to 8 see key 6.
        assert lost[1].nonzero().flatten().tolist() == [4, 5, 6, 7, 8]
        torch.testing.assert_close(found[~lost], wanted[~lost])


def test_names_that_are_words_of_python():
    module = MultiHeadAttention(16, 2, causal=True, options={"attention.differential": "v2"})
    attributes = [name for name, _ in module.named_parameters()]
    assert list(module.state_dict()) == attributes and attributes != module.parameter_names
    assert [name.replace("lambda_", "lambda") for name in attributes] == module.parameter_names
    x = torch.randn(2, 5, 16)
    expected = module(x)
    torch.testing.assert_close(torch.compile(module, fullgraph=True, backend="aot_eager")(x), expected)
    torch.testing.assert_close(torch.export.export(module, (x,)).module()(x), expected)
    other = torch.nn.ModuleDict({"attention": MultiHeadAttention(16, 2, causal=True,
                                                                 options={"attention.differential": "v2"})})
    weights = {f"attention.{name}": module.get_parameter(at) for name, at in zip(module.parameter_names, attributes)}
    other.load_state_dict(weights)  # the names of a checkpoint
    assert torch.equal(other["attention"](x), expected)
    other.load_state_dict({f"attention.{name}": value for name, value in module.state_dict().items()})
    weights.pop(f"attention.{module.parameter_names[-1]}")
    assert other.load_state_dict(weights, strict=False).missing_keys == [f"attention.{attributes[-1]}"]


def test_copies_of_modules():
    module = MultiHeadAttention(16, 2, score="additive", causal=True, dropout=0.1).eval()
    x = torch.randn(2, 5, 16)
    expected = module(x)
    buffer = io.BytesIO()
    torch.save(module, buffer)
    buffer.seek(0)
    for other in (copy.deepcopy(module), pickle.loads(pickle.dumps(module)), torch.load(buffer, weights_only=False)):
        assert torch.equal(other(x), expected) and str(other) == str(module)
    doubled = {name: 2 * value for name, value in module.state_dict().items()}
    y = torch.func.functional_call(module, doubled, (x,))
    assert torch.equal(module(x), expected)
    module.load_state_dict(doubled)
    assert torch.equal(module(x), y)


def test_modules_on_the_device_meta():
    with torch.device("meta"):
        module = MultiHeadAttention(16, 2, causal=True)
        y = module(torch.empty(2, 5, 16))
        heads = torch.empty(2, 4, 5, 8)
        assert attention(heads, heads, heads[..., :3], lengths=[1, 2]).shape == (2, 4, 5, 3)
    assert y.is_meta and y.shape == (2, 5, 16) and all(p.is_meta for p in module.parameters())
    module.reset_parameters()
    x = torch.randn(2, 5, 16)
    with pytest.raises(heed.Refused, match="on the device meta"):
        module(x)
    module.to_empty(device="cpu")
    same = MultiHeadAttention(16, 2, causal=True)
    module.reset_parameters(3)
    same.reset_parameters(3)
    assert torch.equal(module(x), same(x))


@pytest.mark.parametrize("normalise", [torch.nn.utils.parametrizations.weight_norm, torch.nn.utils.weight_norm,
                                       torch.nn.utils.parametrizations.orthogonal])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_parameters_that_are_made_from_others(normalise):
    module = MultiHeadAttention(8, 2, dtype=torch.float64)
    x = torch.randn(2, 3, 8, dtype=torch.float64)
    before = module(x)
    normalise(module.output, "weight")
    if normalise is not torch.nn.utils.parametrizations.orthogonal:
        torch.testing.assert_close(module(x), before)
    assert torch.autograd.gradcheck(lambda x, *_: module(x), (x.requires_grad_(), *module.parameters()))
    if normalise is torch.nn.utils.weight_norm:
        with pytest.raises(heed.Refused, match="a hook makes it before each call"):
            module.reset_parameters(5)
    else:
        module.reset_parameters(5)


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
    (tmp_path / "two.toml").write_text(CONFIG)
    command = os.environ["HEED_COMMAND"]
    subprocess.run([command, "run", "two.toml"], cwd=tmp_path, check=True, capture_output=True)
    file, = tmp_path.glob("runs/*/checkpoint-*.safetensors")
    attended = json.loads(subprocess.run([command, "attend", file.parent.name, "--row", "0", "--json"], cwd=tmp_path,
                                         check=True, capture_output=True).stdout)["result"]["examples"][0]
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
    assert len(blocks) == 5
    tables = parameter_shapes(4, 32, position="t5", longest=512, options={"position.t5.buckets": 16})
    names = {"slopes": torch.ones(4, 1), "x": torch.randn(2, 9, 512), "lengths": torch.tensor([9, 3]),
             "tables": drawn(tables, torch.float32)}
    for block in blocks[:3]:  # the next one is test_a_run_s_checkpoint
        exec(block, names)
    assert names["y"].shape == (2, 9, 512) and names["q"].grad is not None
    exec(blocks[4], names)
    assert names["more"].shape == (2, 4, 512, 32) and names["state"].shape == (2, 4, 32, 32)
