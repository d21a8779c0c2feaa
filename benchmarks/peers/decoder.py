"""Recurrent decoders with attention in PyTorch, as one writes them: a loop of GRUCell over the steps."""

import torch
import torch.nn as nn


class Decoder(nn.Module):
    """bahdanau: additive scores of the state before the step; luong: dot products with the state after it, and input
    feeding; luong_without_feeding, none: nn.GRU over the whole sequence. What does not depend on the step before is done
    for all at once."""

    def __init__(self, attention: str, width: int, batch: int, length: int):
        super().__init__()
        self.attention = attention
        if attention in ("none", "luong_without_feeding"):
            self.cells = nn.GRU(width, width, batch_first=True)
        else:
            self.cells = nn.GRUCell(2 * width, width)
        if attention != "none":
            self.readout = nn.Linear((3 if attention == "bahdanau" else 2) * width, width, attention == "bahdanau")
        if attention == "bahdanau":
            self.query, self.key = (nn.Linear(width, width, bias=False) for _ in range(2))
            self.weight = nn.Linear(width, 1, bias=False)
        self.inputs, self.states, self.upstream = (torch.randn(batch, length, width) for _ in range(3))
        for leaf in (self.inputs, self.states):
            leaf.requires_grad_()

    def bahdanau(self, e: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        state, keys = torch.zeros_like(e[:, 0]), self.key(memory)
        states, contexts = [], []
        for now in e.unbind(1):
            scores = self.weight(torch.tanh(self.query(state).unsqueeze(1) + keys)).squeeze(-1)
            context = torch.bmm(scores.softmax(-1).unsqueeze(1), memory).squeeze(1)
            state = self.cells(torch.cat([now, context], -1), state)
            states.append(state)
            contexts.append(context)
        return torch.tanh(self.readout(torch.cat([torch.stack(states, 1), torch.stack(contexts, 1), e], -1)))

    def luong(self, e: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        state = fed = torch.zeros_like(e[:, 0])
        out = []
        for now in e.unbind(1):
            state = self.cells(torch.cat([now, fed], -1), state)
            scores = torch.bmm(memory, state.unsqueeze(-1)).squeeze(-1)
            context = torch.bmm(scores.softmax(-1).unsqueeze(1), memory).squeeze(1)
            fed = torch.tanh(self.readout(torch.cat([context, state], -1)))
            out.append(fed)
        return torch.stack(out, 1)

    def luong_without_feeding(self, e: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        states = self.cells(e)[0]
        contexts = nn.functional.scaled_dot_product_attention(states, memory, memory, scale=1.0)
        return torch.tanh(self.readout(torch.cat([contexts, states], -1)))

    def none(self, e: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
        return self.cells(e)[0]

    def step(self):
        self.zero_grad(set_to_none=True)
        self.inputs.grad = self.states.grad = None
        getattr(self, self.attention)(self.inputs, self.states).backward(self.upstream)
