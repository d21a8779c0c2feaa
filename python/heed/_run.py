"""A run: its configuration, metrics and weights, and what its model does."""

from __future__ import annotations

import json
import math
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from . import _arguments, _heed
from ._attention import Attention, AttentionModule, Inspection
from ._messages import shown, warn
from ._packages import need

if TYPE_CHECKING:
    import numpy
    import pandas
    from numpy.typing import NDArray

_SPLITS = ("validation", "test", "train")
_PENALTIES = ("gnmt", "fairseq")
_TOKENIZATIONS = ("13a", "none", "intl", "char")


class Weights(Mapping[str, "NDArray[numpy.floating[Any]]"]):
    """The weights of a checkpoint by name: NumPy arrays, read-only. Each access gives a new copy, so whatever happens to
    an array, also through torch.from_numpy, changes neither the run nor later arrays.

    Attributes:
        step: The step after which the checkpoint was saved.
    """

    def __init__(self, weights: _heed.RunWeights) -> None:
        self._weights = weights
        self._names = dict.fromkeys(weights.names())
        self.step: int = weights.step

    def __getitem__(self, name: str) -> NDArray[numpy.floating[Any]]:
        if name not in self._names:
            import difflib

            near = difflib.get_close_matches(str(name), self._names, 3)
            raise KeyError(f"there is no weight {name!r} at step {self.step}" +
                           (f"; did you mean {', '.join(near)}?" if near else ""))
        return self._weights.array(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return shown(f"<heed.Weights at step {self.step}: {len(self)} arrays>")


class Run:
    """A run. `heed.load_run` opens it.

    The configuration is read when the run is opened. The newest intact checkpoint and the task's data are read when they
    are needed first, and stay: all functions describe the same model, also while the run is trained further. `state`,
    `metrics` and `checkpoint_steps` are read anew each time. Files are opened as the command line opens them: regular
    files only, no links, checksums checked. Several threads may use a run at once; during long calls, other threads of
    Python run, and Ctrl-C raises KeyboardInterrupt.
    """

    def __init__(self, run: _heed.OpenRun) -> None:
        self._run = run

    @property
    def id(self) -> str:
        """The run's ID, which is the name of its folder."""
        return self.folder.name

    @property
    def folder(self) -> Path:
        """The run's folder, an absolute path."""
        return Path(self._run.path)

    @property
    def state(self) -> str:
        """missing (nothing was executed yet), queued, running, interrupted, failed or finished; at this moment."""
        return self._run.state()

    @cached_property
    def config(self) -> dict[str, Any]:
        """The configuration, checked and resolved: every option with its value, as nested dicts.

        >>> run.config["attention"]["score"]
        """
        return tomllib.loads(self._run.toml())

    @property
    def metrics(self) -> pandas.DataFrame:
        """What the run measured until now: a line of metrics.jsonl a row, a pandas.DataFrame.

        Columns: step (int64), seconds (of the run so far, without interruptions), step_seconds (of these, in training
        steps), tokens (int64, of training so far), then the metrics (float64) by name; parts have names with a dot
        ("val_accuracy_by_length.8"). NaN: the line lacks the metric, or it was not finite.

        Raises:
            heed.Refused: A line is damaged; the message has its number. A last line that is not complete is ignored,
                because a process may just be writing it.
        """
        pd = need("pandas", "Run.metrics")
        frame: pandas.DataFrame = pd.DataFrame(dict(self._run.metrics()))
        return frame

    @property
    def checkpoint_steps(self) -> list[int]:
        """The steps of the stored checkpoints, the oldest first, including damaged ones."""
        return self._run.checkpoint_steps()[::-1]

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process opens the folder anew."""
        from ._runs import load_run

        return load_run, (self.folder,)

    @cached_property
    def weights(self) -> Weights:
        """The weights of the newest intact checkpoint by name, without the optimiser's state.

        Raises:
            heed.Refused: The run has no intact checkpoint.
        """
        weights = self._run.weights(1)
        _warn(weights.damaged)
        return Weights(weights)

    def weights_at(self, step: int) -> Weights:
        """The weights of the checkpoint that was saved after `step` steps.

        Raises:
            heed.Refused: There is no such checkpoint (the message names those that exist), or it is damaged.
        """
        return Weights(self._run.weights_at(_arguments.whole("step", step, bits=63)))

    def average(self, count: int) -> Weights:
        """The mean of the weights of the newest `count` checkpoints.

        Raises:
            heed.Refused: Fewer than `count` checkpoints are intact.
        """
        weights = self._run.weights(_average(count))
        _warn(weights.damaged)
        return Weights(weights)

    @property
    def vocabulary(self) -> list[str] | None:
        """The text of each token that the model reads, by number; None for a model of images."""
        return self._vocabulary.get("tokens")

    @property
    def output_vocabulary(self) -> list[str] | None:
        """The text of each token that the model puts out: encoder-decoders whose outputs have token numbers of their
        own. Otherwise the same as `vocabulary`; None for classifiers."""
        if "classes" in self._vocabulary:
            return None
        return self._vocabulary.get("output_tokens", self.vocabulary)

    @property
    def classes(self) -> list[str] | None:
        """The name of each class, for classifiers of text; otherwise None."""
        return self._vocabulary.get("classes")

    @cached_property
    def _vocabulary(self) -> dict[str, list[str]]:
        text: bytes | str | None = self._run.vocabulary_file()
        if text is None:
            text = self._run.vocabulary()
        if not text:
            return {}
        name = "vocabulary.json"
        try:
            lists = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _heed.Refused(f"{shown(str(self.folder / name))} is damaged: {error}") from None
        if not isinstance(lists, dict) or not all(
                isinstance(tokens, list) and all(isinstance(token, str) for token in tokens) for tokens in lists.values()):
            raise _heed.Refused(f"{shown(str(self.folder / name))} is damaged: it is not an object of lists of texts")
        return lists

    def evaluate(self, split: str = "validation", *, lengths: int | Sequence[int] = (), beam: int | None = None,
                 length_penalty: float | None = None, length_penalty_kind: str | None = None,
                 bleu_tokenization: str | None = None, average: int = 1) -> dict[str, float]:
        """Measures the model on a whole split. The same as `heed evaluate`; nothing is saved.

        Choose by the validation split, and evaluate on the test split once, at the end.

        Args:
            split: "validation", "test" or "train".
            lengths: Also measure on sequences of these lengths, which the task generates.
            beam: Encoder-decoders: the beam width for also decoding the split; 1: greedy; 0: no decoding. Without it:
                train.evaluate_beam.
            length_penalty: The power of the beam search's length penalty, 0 to 100.
            length_penalty_kind: Its base: "gnmt" ((5 + tokens) / 6) or "fairseq" (tokens).
            bleu_tokenization: "13a", "none", "intl" or "char", as sacreBLEU names them.
            average: Use the mean of the weights of so many newest checkpoints.
        Returns:
            The metrics by name: "test_loss" (nats per token), "test_accuracy", ... A value that is not finite gives a
            warning.
        Raises:
            heed.Refused: The data has changed since the training, there is no intact checkpoint, or an option has no
                effect for this model.
        """
        question = _evaluation(beam, length_penalty, length_penalty_kind)
        question.bleu_tokenization = _one_of("bleu_tokenization", bleu_tokenization, _TOKENIZATIONS)
        given: Any = [lengths] if hasattr(lengths, "__index__") else lengths
        question.lengths = [_arguments.whole("lengths", length, 1) for length in given]
        values, notes = self._run.evaluate(_split(split), question, _average(average))
        lost = [f"{name} is not finite: for some of this data, the model's output is not finite"
                for name, value in values.items() if not math.isfinite(value)]
        _warn([*notes, *lost[:1]])
        return values

    def predict(self, split: str = "validation", count: int | None = None, *, beam: int | None = None,
                length_penalty: float | None = None, length_penalty_kind: str | None = None,
                average: int = 1) -> pandas.DataFrame:
        """The model's output for each example of a split, an example a row: a pandas.DataFrame. The same as the table of
        `heed evaluate --write`.

        Args:
            split: "validation", "test" or "train".
            count: Only the first `count` examples.
            beam, length_penalty, length_penalty_kind: As in `evaluate`, for encoder-decoders.
            average: Use the mean of the weights of so many newest checkpoints.
        Returns:
            The columns input, reference and output; for classifiers also probability, that of the output's class.
        Raises:
            heed.Refused: The task is running text, which has no examples; otherwise as `evaluate`.
        """
        pd = need("pandas", "Run.predict")
        count = _arguments.whole_or_none("count", count)
        question = _evaluation(beam, length_penalty, length_penalty_kind)
        rows, notes = self._run.outputs(_split(split), question, count, _average(average))
        _warn(notes)
        frame: pandas.DataFrame = pd.DataFrame(rows, columns=["input", "reference", "output", "probability"])
        if all(row[3] is None for row in rows):
            del frame["probability"]
        else:
            frame["probability"] = frame["probability"].astype("float64")
        return frame

    @overload
    def generate(self, prompt: str = "", *, input: str | None = None, tokens: int | None = None,
                 temperature: float | None = None, top_k: int | None = None, seed: int | None = None,
                 beam: int | None = None, length_penalty: float | None = None, length_penalty_kind: str | None = None,
                 average: int = 1) -> str: ...

    @overload
    def generate(self, prompt: str = "", *, input: list[str] | tuple[str, ...], tokens: int | None = None,
                 temperature: float | None = None, top_k: int | None = None, seed: int | None = None,
                 beam: int | None = None, length_penalty: float | None = None, length_penalty_kind: str | None = None,
                 average: int = 1) -> list[str]: ...

    def generate(self, prompt: str = "", *, input: str | list[str] | tuple[str, ...] | None = None, tokens: int | None = None,
                 temperature: float | None = None, top_k: int | None = None, seed: int | None = None,
                 beam: int | None = None, length_penalty: float | None = None, length_penalty_kind: str | None = None,
                 average: int = 1) -> str | list[str]:
        """Generates text, or predicts the class of an input. The same as `heed generate`.

        Args:
            prompt: Decoders: the text to continue.
            input: Encoder-decoders and classifiers: the input text, or a list of texts. For a model of images: "row 0",
                an example of the validation split.
            tokens: Decoders: the number of tokens to generate (500).
            temperature: Decoders: divides the logits, 0 to 1e6; 0: always the most probable token (1).
            top_k: Choose only among the k most probable tokens; 0: all. Classifiers: the number of classes (5).
            seed: Decoders: the seed of the random choices; the same seed gives the same text (0).
            beam: Encoder-decoders: the beam width; 1: greedy search (1).
            length_penalty: Encoder-decoders: log probabilities are divided by ((5 + tokens) / 6)^length_penalty (0).
            length_penalty_kind: "gnmt", or "fairseq": divided by tokens^length_penalty.
            average: Use the mean of the weights of so many newest checkpoints.
        Returns:
            Decoders: the prompt with its continuation; bytes that are not UTF-8 become U+FFFD. Encoder-decoders: the
            output. Classifiers: a line for each class, the most probable first: the probability, a tab, the class. For a
            list of inputs, a list with a text for each.
        Raises:
            heed.Refused: An option has no effect for this kind of model, the text can't be read, or as `evaluate`.
        """
        question = _heed.OpenRun.GenerationRequest()
        question.prompt = _arguments.text("prompt", prompt)
        question.tokens = _arguments.whole_or_none("tokens", tokens)
        question.top_k = _arguments.whole_or_none("top_k", top_k)
        question.seed = _arguments.whole_or_none("seed", seed, bits=63)
        question.beam = _arguments.whole_or_none("beam", beam)
        question.temperature = _arguments.number_or_none("temperature", temperature)
        question.length_penalty = _arguments.number_or_none("length_penalty", length_penalty)
        question.length_penalty_kind = _one_of("length_penalty_kind", length_penalty_kind, _PENALTIES)
        given = [] if input is None else [input] if isinstance(input, str) else input
        inputs = None if input is None else [_arguments.text("input", one) for one in given]
        texts, notes = self._run.generate(question, inputs, _average(average))
        _warn(notes)
        if inputs is None:
            return texts[0]
        texts = [text.strip("\n") for text in texts]
        return texts[0] if isinstance(input, str) else texts

    def attend(self, input: str | None = None, *, row: int | None = None, output: str | None = None, average: int = 1,
               save: bool = False) -> Attention:
        """The attention weights of all heads for an input.

            >>> run.attend("3 1 4 | 4").weights          # [layers, heads, queries, keys]

        Args:
            input: The input text; for images "row 0", an example of the validation split.
            row: In place of `input`: the number of an example of the validation split, from 0.
            output: Encoder-decoders: the output that the decoder reads. Without it: the model's greedy output.
            average: Use the mean of the weights of so many newest checkpoints.
            save: Also save the weights in the run's attention.json, where reports find them, as `heed attend` does. An
                input that is already there is replaced.
        Raises:
            heed.Refused: The input can't be read, the model has no attention, or as `evaluate`.
        """
        import numpy

        shown, put_out, forced, step, found, notes = self._run.attend(
            _arguments.text_or_none("input", input), _arguments.whole_or_none("row", row),
            _arguments.text_or_none("output", output), _average(average), bool(save))
        _warn(notes)
        modules = {name: AttentionModule(name, queries, keys, weights, numpy.array(entropies, dtype=numpy.float64),
                                         numpy.array(distances, dtype=numpy.float64))
                   for name, queries, keys, weights, entropies, distances in found}
        return Attention(shown, put_out, forced, step, average, modules)

    def inspect(self, split: str = "validation", *, rows: int = 0, average: int = 1) -> Inspection:
        """Measures heads, layers and modules inside the model. The same as `heed inspect`; nothing is saved.

        The loss is computed once for each head, so large models take a while: `rows` limits the time.

        Args:
            split: "validation" or "train".
            rows: The number of examples of the split, the first ones; 0: all.
            average: Use the mean of the weights of so many newest checkpoints.
        Raises:
            heed.Refused: As `evaluate`.
        """
        pd = need("pandas", "Run.inspect")
        if split not in ("validation", "train"):
            raise _heed.Refused(f"split = {split!r}: it can be 'validation' or 'train'")
        step, measured, document, notes = self._run.inspect(split, _arguments.whole("rows", rows), _average(average))
        _warn(notes)
        tables = json.loads(document)
        heads, layers, modules = (_numbers(pd.DataFrame(tables[name])) for name in ("heads", "layers", "modules"))
        return Inspection(step, measured, heads, layers, modules)

    def __fspath__(self) -> str:
        return os.fspath(self.folder)

    def __repr__(self) -> str:
        config = self.config
        return shown(f"<heed.Run {self.id}: {config.get('name', '')!r}, seed {config.get('seed', 0)}, {self.state}>")


def _evaluation(beam: int | None, length_penalty: float | None,
                length_penalty_kind: str | None) -> _heed.OpenRun.EvaluationRequest:
    question = _heed.OpenRun.EvaluationRequest()
    question.beam = _arguments.whole_or_none("beam", beam)
    question.length_penalty = _arguments.number_or_none("length_penalty", length_penalty)
    question.length_penalty_kind = _one_of("length_penalty_kind", length_penalty_kind, _PENALTIES)
    return question


def _split(split: str) -> str:
    return _one_of("split", split, _SPLITS) or ""


def _one_of(option: str, word: str | None, words: Sequence[str]) -> str | None:
    if word is not None and word not in words:
        raise _heed.Refused(f"{option} = {word!r}: it can be {', '.join(map(repr, words))}")
    return word


def _average(count: int) -> int:
    count = _arguments.whole("average", count)
    if not 1 <= count <= 1 << 20:
        raise _heed.Refused(f"average = {count}: it can be 1 to {1 << 20}")
    return count


def _numbers(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Columns that have only unknown values are numbers, too."""
    for name in frame:
        if frame[name].isna().all():
            frame[name] = frame[name].astype("float64")
    return frame


def _warn(notes: Sequence[str]) -> None:
    warn(notes, stacklevel=3)
