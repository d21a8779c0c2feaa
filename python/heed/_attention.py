"""What a trained model shows of itself: attention weights, and measurements of heads, layers and modules."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _heed
from ._messages import shown

if TYPE_CHECKING:
    import numpy
    import pandas
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class AttentionModule:
    """The attention weights of one module, for one input.

    Attributes:
        name: The module: "blocks.0.attention".
        queries: The token of each query.
        keys: The token of each key.
        weights: [heads, queries, keys], float64, read-only.
        entropy: [heads], in nats: the mean over queries i of -sum_j p_ij ln p_ij, where p_ij is the size of a weight
            divided by the sum of the sizes.
        distance: [heads], in positions: the mean over queries i of sum_j p_ij |i - j|; NaN if queries and keys belong to
            different sequences.
    """

    name: str
    queries: list[str]
    keys: list[str]
    weights: NDArray[numpy.float64]
    entropy: NDArray[numpy.float64]
    distance: NDArray[numpy.float64]

    def __repr__(self) -> str:
        heads, queries, keys = self.weights.shape
        return shown(f"<heed.AttentionModule {self.name!r}: {heads} heads, {queries} queries, {keys} keys>")


@dataclass(frozen=True, eq=False)
class Attention:
    """The attention weights of all heads of a model, for one input.

    Attributes:
        input: The input.
        output: Encoder-decoders: the output that the decoder read; otherwise None.
        forced: Whether the output was given. If not, the model found it by greedy decoding.
        step: The step of the checkpoint.
        average: The number of checkpoints whose weights were averaged.
        modules: The weights of each module by its name, in the order of the model.
    """

    input: str
    output: str | None
    forced: bool
    step: int
    average: int
    modules: dict[str, AttentionModule]

    @property
    def stacks(self) -> dict[str, NDArray[numpy.float64]]:
        """[layers, heads, queries, keys] for each stack of modules that differ only in the number of their layer:
        "blocks.attention" has the modules "blocks.0.attention", "blocks.1.attention", ... If their numbers of heads,
        their queries or their keys differ, each module has an entry of its own."""
        import numpy

        stacks: dict[str, list[AttentionModule]] = {}
        for module in self.modules.values():
            stacks.setdefault(re.sub(r"\.\d+(?=\.|$)", "", module.name), []).append(module)
        arrays: dict[str, NDArray[numpy.float64]] = {}
        for name, modules in stacks.items():
            first = modules[0]
            even = all(module.weights.shape == first.weights.shape and module.queries == first.queries and
                       module.keys == first.keys for module in modules)
            if even:
                arrays[name] = numpy.stack([module.weights for module in modules])
            else:
                arrays.update((module.name, module.weights[None]) for module in modules)
        return arrays

    @property
    def weights(self) -> NDArray[numpy.float64]:
        """[layers, heads, queries, keys], for a model with one stack of attention modules.

        Raises:
            heed.Refused: The model has several stacks, as an encoder-decoder has; the message names them.
        """
        return self.stacks[self._only("weights")]

    @property
    def queries(self) -> list[str]:
        """The tokens of the queries, for a model with one stack of attention modules."""
        self._only("queries")
        return next(iter(self.modules.values())).queries

    @property
    def keys(self) -> list[str]:
        """The tokens of the keys, for a model with one stack of attention modules."""
        self._only("keys")
        return next(iter(self.modules.values())).keys

    def _only(self, what: str) -> str:
        names = list(self.stacks)
        if len(names) != 1:
            raise _heed.Refused(f"Attention.{what}: the model has {len(names)} stacks of attention modules "
                                f"({', '.join(names)}); use .stacks[NAME], or .modules[NAME].{what} of one module")
        return names[0]

    def __repr__(self) -> str:
        return shown(f"<heed.Attention of {self.input!r} at step {self.step}: {', '.join(self.modules)}>")


@dataclass(frozen=True, eq=False)
class Inspection:
    """Measurements inside a model, over examples of a split. `print` shows all of them.

    Attributes:
        step: The step of the checkpoint.
        rows: The number of examples that were measured.
        heads: A head a row, a pandas.DataFrame: attention (its module), head, entropy (nats), distance (positions),
            importance (how much the loss rises without the head, in nats per target), first_key (the share of the first
            key in the weights of later queries), score_variance, localised (the distance is below 1.5 positions). Of
            recurrences, too: half_life (the number of tokens in which the state halves by its decay), state_norm and
            state_rank (its size and its number of directions after a sequence's last token).
        layers: A layer a row: layer, rank_residual (how far a sequence's tokens are from one vector, relative to their
            size), gradient and weight (Euclidean norms over the layer's parameters).
        modules: A module a row: module, activation (root mean square of its output), gradient and weight (Euclidean
            norms over its own parameters).
    """

    step: int
    rows: int
    heads: pandas.DataFrame
    layers: pandas.DataFrame
    modules: pandas.DataFrame

    def __repr__(self) -> str:
        tables: list[Any] = [table for table in (self.heads, self.layers, self.modules) if len(table)]
        return shown(f"{self.rows} examples at step {self.step}\n\n" +
                     "\n\n".join(table.to_string(index=False) for table in tables))

    def _repr_html_(self) -> str:
        tables: list[Any] = [table for table in (self.heads, self.layers, self.modules) if len(table)]
        title = f"<p>{self.rows} examples at step {self.step}</p>"
        return title + "".join(table.to_html(index=False) for table in tables)
