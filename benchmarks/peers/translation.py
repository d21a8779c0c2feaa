"""An encoder-decoder of nanoGPT's recipe and its training step in PyTorch, as a good user would write it for a CPU."""

import torch
import torch.nn as nn
import torch.nn.functional as F

import nanogpt


class Attention(nn.Module):
    """Of one sequence to another or to itself, without biases."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key_value = nn.Linear(width, 2 * width, bias=False)
        self.output = nn.Linear(width, width, bias=False)

    def forward(self, x: torch.Tensor, memory: torch.Tensor, causal: bool = False) -> torch.Tensor:
        batch, length, width = x.shape
        q = self.query(x).view(batch, length, self.heads, -1).transpose(1, 2)
        both = self.key_value(memory).view(batch, memory.shape[1], 2, self.heads, -1)
        k, v = both.permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return self.output(y.transpose(1, 2).reshape(batch, length, width))


class CrossBlock(nanogpt.Block):
    """A decoder's block, with attention to the encoder before the feed-forward layer."""

    def __init__(self, width: int, heads: int):
        super().__init__(width, heads)
        self.norm_cross = nn.LayerNorm(width, bias=False)
        self.cross = Attention(width, heads)

    def forward(self, x: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        x = self.attend(x, causal=True)
        x = x + self.cross(self.norm_cross(x), memory)
        return self.feed_forward(x)


class EncoderDecoder(nn.Module):
    """Learned positions; the decoder's embeddings are also the weights of its output."""

    def __init__(self, vocabulary: int, layers: int, width: int, heads: int, length: int):
        super().__init__()
        self.source = nn.Embedding(vocabulary, width)
        self.source_positions = nn.Embedding(length, width)
        self.encoder = nn.ModuleList(nanogpt.Block(width, heads) for _ in range(layers))
        self.encoder_norm = nn.LayerNorm(width, bias=False)
        self.target = nn.Embedding(vocabulary, width)
        self.target_positions = nn.Embedding(length + 1, width)
        self.decoder = nn.ModuleList(CrossBlock(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width, bias=False)
        nanogpt.initialise(self, layers)

    def forward(self, inputs: torch.Tensor, outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        memory = self.source(inputs) + self.source_positions.weight
        for block in self.encoder:
            memory = block.feed_forward(block.attend(memory, causal=False))
        memory = self.encoder_norm(memory)
        x = self.target(outputs) + self.target_positions.weight
        for block in self.decoder:
            x = block(x, memory)
        logits = F.linear(self.norm(x), self.target.weight)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.reshape(-1))


def trainer(vocabulary: int, layers: int, width: int, heads: int, length: int, batch: int,
            compiled: bool) -> nanogpt.Trainer:
    """Of pairs of random words, all of one length; an output has an end token more."""
    def pairs():
        outputs = torch.randint(vocabulary, (batch, length + 2))
        return torch.randint(vocabulary, (batch, length)), outputs[:, :-1], outputs[:, 1:]

    return nanogpt.Trainer(EncoderDecoder(vocabulary, layers, width, heads, length), pairs, 2000, compiled)
