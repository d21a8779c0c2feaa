"""nanoGPT's character model and its training step in PyTorch, as a good user would write it for a CPU."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    """Pre-norm Transformer block without biases."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norm_1 = nn.LayerNorm(width, bias=False)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.output = nn.Linear(width, width, bias=False)
        self.norm_2 = nn.LayerNorm(width, bias=False)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def attend(self, x: torch.Tensor, causal: bool) -> torch.Tensor:
        batch, length, width = x.shape
        heads = self.qkv(self.norm_1(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = heads.permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return x + self.output(y.transpose(1, 2).reshape(batch, length, width))

    def feed_forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(F.gelu(self.up(self.norm_2(x))))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.feed_forward(self.attend(x, causal=True))

    def extend(self, x: torch.Tensor, cache: torch.Tensor, before: int) -> torch.Tensor:
        """Positions `before` and on; `cache` [2, batch, heads, block, head width] has the keys and values up to them,
        and gets theirs."""
        batch, length, width = x.shape
        heads = self.qkv(self.norm_1(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = heads.permute(2, 0, 3, 1, 4).unbind(0)
        cache[0, :, :, before:before + length], cache[1, :, :, before:before + length] = k, v
        k, v = cache[:, :, :, :before + length]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=length > 1 and before == 0)
        return self.feed_forward(x + self.output(y.transpose(1, 2).reshape(batch, length, width)))


def initialise(model: nn.Module, layers: int):
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            residual = name.endswith(("output.weight", "down.weight"))
            nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * layers) if residual else 0.02)


class Decoder(nn.Module):
    """Language model with learned positions and tied embeddings."""

    def __init__(self, vocabulary: int, layers: int, width: int, heads: int, block: int):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(block, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width, bias=False)
        initialise(self, layers)

    def forward(self, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.tokens.weight)
        return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.reshape(-1))


class Generator:
    """Goes on from a prompt, with keys and values kept in memory that is taken once."""

    def __init__(self, model: Decoder):
        self.model, self.block = model, model.positions.weight.shape[0]
        width, heads = model.tokens.weight.shape[1], model.blocks[0].heads
        self.caches = [torch.empty(2, 1, heads, self.block, width // heads) for _ in model.blocks]

    def _logits(self, tokens: torch.Tensor, before: int) -> torch.Tensor:
        x = self.model.tokens(tokens) + self.model.positions.weight[before:before + tokens.shape[1]]
        for block, cache in zip(self.model.blocks, self.caches):
            x = block.extend(x, cache, before)
        return F.linear(self.model.norm(x[:, -1]), self.model.tokens.weight)

    @torch.inference_mode()
    def generate(self, prompt: int, tokens: int):
        following, length = torch.ones(1, prompt, dtype=torch.long), 0
        for i in range(tokens + 1):
            logits = self._logits(following, length)
            length += following.shape[1]
            following = logits.argmax(-1, keepdim=True)


class Text:
    """Characters of a file: the first 90 % to train on, the rest to validate."""

    def __init__(self, path: str, block: int):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        number = {character: i for i, character in enumerate(sorted(set(text)))}
        data = torch.tensor([number[character] for character in text])
        self.vocabulary, self.block = len(number), block
        self.train, self.validation = data[: int(0.9 * len(data))], data[int(0.9 * len(data)) :]
        self.span = torch.arange(block + 1)

    def batch(self, rows: int) -> tuple[torch.Tensor, torch.Tensor]:
        begin = torch.randint(len(self.train) - self.block, (rows, 1))
        both = self.train[begin + self.span]
        return both[:, :-1], both[:, 1:]

    def validation_batches(self, rows: int):
        """The whole split, window after window."""
        windows = (len(self.validation) - 1) // self.block
        tokens = self.validation[: windows * self.block].view(windows, self.block)
        targets = self.validation[1 : windows * self.block + 1].view(windows, self.block)
        yield from zip(tokens.split(rows), targets.split(rows))


class Trainer:
    """AdamW 1e-3 to 1e-4 by cosine with 100 steps of warm-up, weight decay 0.1 on matrices, gradients clipped to 1.

    The model gives the loss of what `batch` gives."""

    def __init__(self, model: nn.Module, batch, steps: int, compiled: bool):
        self.model, self.batch, self.steps, self.done = model, batch, steps, 0
        parameters = list(self.model.parameters())
        groups = [
            {"params": [p for p in parameters if p.dim() > 1], "weight_decay": 0.1},
            {"params": [p for p in parameters if p.dim() == 1], "weight_decay": 0.0},
        ]
        # A compiled optimiser wants a rate that is a tensor, or it would be compiled again at every step.
        self.rate = torch.tensor(1e-3) if compiled else None
        self.optimizer = torch.optim.AdamW(groups, lr=self.rate if compiled else 1e-3, betas=(0.9, 0.99),
                                           fused=None if compiled else True)
        self.parameters = parameters
        self.loss = torch.compile(self.model) if compiled else self.model
        self.update = torch.compile(self._update) if compiled else self._update

    def _update(self):
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimizer.step()

    def _set_rate(self):
        rate = 1e-3 * (self.done + 1) / 101
        if self.done >= 100:
            progress = min(1.0, (self.done - 100) / max(1, self.steps - 101))
            rate = 1e-4 + 0.5 * (1 + math.cos(math.pi * progress)) * 9e-4
        if self.rate is not None:
            self.rate.fill_(rate)
        else:
            for group in self.optimizer.param_groups:
                group["lr"] = rate

    def step(self) -> torch.Tensor:
        self._set_rate()
        loss = self.loss(*self.batch())
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.update()
        self.done += 1
        return loss.detach()


class TextTrainer(Trainer):
    """nanoGPT on a text."""

    def __init__(self, text: Text, layers: int, width: int, heads: int, batch: int, steps: int, compiled: bool):
        self.text, self.rows = text, batch
        model = Decoder(text.vocabulary, layers, width, heads, text.block)
        super().__init__(model, lambda: text.batch(batch), steps, compiled)

    @torch.no_grad()
    def validation_loss(self) -> float:
        total, count = 0.0, 0
        for tokens, targets in self.text.validation_batches(self.rows):
            total += self.loss(tokens, targets).item() * len(tokens)
            count += len(tokens)
        return total / count
