"""The interface of every model, of our own and of transformers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from models.class_labels import chances, log_chances
from models.generation.generate import Reader, Step, begin
from models.generation.strategy import Strategy
from models.reading.inputs import SECOND, Text, text_of
from models.reading.languages import in_language
from models.reading.readable import ReadableModel
from models.tokens import Prediction, Token, Turn
from models.trace import Trace

if TYPE_CHECKING:
    from torch import Tensor

    from models.editing.parts import Place, Sums
    from models.edits import Edit
    from models.gradients.attention import Gradients
    from models.pieces.values import Pieces
    from models.watching.steps import Watched
    from models.watching.watcher import Private


GREEDY = Strategy()


class LanguageModel(ReadableModel):
    """A model that reads text and records what happens inside."""

    _private: Private | None = None  # a copy of the network to watch

    def pieces(self, text: str) -> Pieces:
        """Return the steps by which a text becomes tokens: the text after the normalizer, its words, and of each word the merges,
        or the candidates that were tried. `Pieces.note` says what the tokenizer does not show. Errors: TypeError for anything but
        a text."""
        from models.pieces.apart import pieces_of

        check_text(text)
        return pieces_of(self.vocabulary, text)

    def trace(
        self,
        text: Text,
        target: Text = "",
        edits: Sequence[Edit] = (),
        remember: bool = True,
        source_language: str = "",
        target_language: str = "",
    ) -> Trace:
        """Read a text and return everything recorded. A text longer than the context is cut from the left (see `Trace.cut`).

        text, target: a str, or ids of tokens, which are read as they are: no special token is added, so that
        `trace([token.id for token in trace.tokens])` reads the same again. `Trace.text` is then the text of these tokens.
        target: the output of an encoder-decoder so far; for an encoder that takes pairs, the second text.
        remember: whether the next reading may go on from this one, and this one from the last, where the beginning is the same.
        Nothing is remembered across a change of the network: of a weight, a hook, its mode, dtype or device. After a change that
        torch does not count (through `.data`, numpy, a plain attribute), call `forget`.
        edits: values of `models.edits`, made while it reads; nothing is remembered of such a reading.
        source_language, target_language: for a translator of many languages, two of `info.languages`. A text may name its
        language itself, which is the same: "fra_Latn Bonjour" (NLLB), "__fr__ Bonjour" (M2M100).
        Errors: TypeError for anything but a text and edits; ValueError for a second text where the model reads one, for an id
        that is not a token of the model, and for an edit of something that the model does not have.
        """
        text, target = self._in_languages(text, target, source_language, target_language)
        source_text, target_text = text_of(self, text), text_of(self, target, SECOND)
        if edits:
            return self.traces([source_text], [edits], target_text)[0]
        return replace(self._read(source_text, target_text, remember), model=self)

    def _in_languages(self, text: Text, target: Text, source_language: str, target_language: str) -> tuple[Text, Text]:
        """Put the signs of their languages before the texts. Errors: ValueError for a language that it lacks, and for ids."""
        texts = []
        for typed, language in ((text, source_language), (target, target_language)):
            if language and language not in self.info.languages:
                known = ", ".join(self.info.languages[:3])
                has = f"its languages are {known} … (see `info.languages`)" if known else "it takes no name of a language"
                raise ValueError(f"{self.info.name} has no language {language!r}: {has}.")
            if language and not isinstance(typed, str):
                raise ValueError("Ids of tokens are read as they are: put the id of the language among them.")
            texts.append(in_language(typed, language, self.info.languages) if language and isinstance(typed, str) else typed)
        return texts[0], texts[1]

    def traces(
        self, texts: Text | Sequence[Text], edits: Sequence[Sequence[Edit]] = (), targets: Text | Sequence[Text] = ""
    ) -> list[Trace]:
        """Read several texts in batches, each with a list of edits of its own; the result equals a loop over `trace`.

        texts: one text, as a str or as ids, is read once for each list of edits. targets: one for all, or one a text. Texts of
        the same length are read together, so none is padded. Nothing is remembered. Errors: as `trace`; ValueError where the
        numbers differ.
        """
        from models.editing.batches import read, rows_of

        return read(self, rows_of(self, texts, edits, targets))

    def parts(self, trace: Trace) -> dict[str, dict[str, np.ndarray]]:
        """Read the text of a trace again, and return what the parts of each block add to the stream.

        By stack ("self", or "encoder" and "decoder") and part ("attention", "feedforward", "cross"): float32 [layers, position,
        d_model], NaN where a block has no such part that can be told apart. The very summands: a norm or a factor that comes
        before the sum belongs to them.
        """
        from models.editing.batches import parts

        return parts(self, trace)

    @cached_property
    def block_sums(self) -> dict[Place, Sums]:
        from models.editing.batches import sums_of

        return sums_of(self)

    @cached_property
    def starts_anywhere(self) -> bool:
        from models.editing.batches import starts_anywhere

        return starts_anywhere(self)

    @abstractmethod
    def _read(self, text: str, target: str, remember: bool) -> Trace:
        """Do the work of `trace`, with arguments that were checked."""

    def generate(
        self,
        text: Text,
        strategy: Strategy = GREEDY,
        max_new_tokens: int = 40,
        target: Text = "",
        continuation: Sequence[int] = (),
        cache: bool = True,
        forced: Sequence[int] = (),
        chat: bool = False,
        edits: Sequence[Edit] = (),
        source_language: str = "",
        target_language: str = "",
    ) -> Generator[Step, None, None]:
        """Generate tokens after a text, or in an encoder-decoder after its target, one `Step` at a time.

        text, target: a str or ids of tokens, and source_language, target_language, as for `trace`.

        It ends where the model ends its text, or after `max_new_tokens`. Closing the iterator frees its keys and values.
        continuation: ids that were already generated, to go on with another token than the one chosen:
        `(*step.continuation[:-1], other)`. forced: ids that come first whatever the strategy would choose, each a step with its
        own scores. cache: False reads everything again at each step, for comparison; so does a model that cannot read on from
        keys and values. chat: whether the model reads the text as a turn of a chat, and answers it (see `as_chat`).
        edits: values of `models.edits`. Positions count from the front of what the decoder reads, negative ones from the end of
        the text that it begins with; a later position counts once it is reached, and None is every position, each new one too,
        which steers. A text with a `Row`, or with a head's mean that has one row for each query, is read again at each step.
        A text longer than the context is cut from the left; a context that gets full loses its oldest quarter (`Step.dropped`),
        but an encoder-decoder stops there, and so does a text with edits.
        Errors: ValueError for a model that does not continue a text, for less than one token, for an unknown id, and, with the
        figures, where keys and values would not fit in memory; TypeError for anything but a text and a strategy.
        """
        text, target = self._in_languages(text, target, source_language, target_language)
        source_text, target_text = text_of(self, text), text_of(self, target, "The target")
        return begin(
            self, source_text, target_text, strategy, max_new_tokens, tuple(continuation), cache, tuple(forced), chat, edits
        )

    @property
    def grows(self) -> bool:
        """Whether it can generate text, token by token."""
        return self.info.predicts and self.info.kind != "encoder"

    @property
    def chats(self) -> bool:
        """Whether the model answers in a chat: its tokenizer has a template for that."""
        return False

    def as_chat(self, text: str) -> Turn:
        """Return a text as a turn of a chat, with the model's template around it; typed special tokens stay text. Errors:
        ValueError for a model without a template, and for a template that cannot be used."""
        raise ValueError(f"{self.info.name} has no chat template: it goes on with a text as it is.")

    @abstractmethod
    def reader(self, text: str, target: str, cache: bool, chat: bool) -> Reader:
        """Return the reader that `generate` uses."""

    @abstractmethod
    def gradients(self, trace: Trace, position: int, token: int) -> dict[str, Gradients]:
        """Return the slope of a token's logit at a position of `trace.read` against each weight of attention.

        By kind, as `trace.attention`; the text is read again, and once backward. Errors: ValueError without a
        language-model head, and for a position that is not there.
        """

    @abstractmethod
    def logits_of(
        self,
        texts: Sequence[Sequence[Token]],
        position: int = -1,
        target: Sequence[Token] | Sequence[Sequence[Token]] = (),
    ) -> np.ndarray:
        """Return the logits at one position of texts as tokens, all equally long: float32 [text, vocabulary].

        An encoder-decoder reads them as sources, and `target` (its start first) after each, or one target each, all equally long;
        the position is the target's. Of the tokens only id and segment count, and nothing is remembered of them.
        Errors: ValueError without a language-model head.
        """

    @abstractmethod
    def watch(self, trace: Trace, stack: str, layer: int, positions: Sequence[int]) -> Watched:
        """Read the text of a trace again, and record every step of one block, before the blocks and after them.

        stack: "self", or "encoder" or "decoder"; positions: those of `trace.read` whose steps to the logits are recorded; none:
        the steps after the block are left out. The modules are a copy with the same weights, so that no other reading is
        disturbed. Errors: ValueError for a trace with edits.
        """

    def without_positions(self) -> LanguageModel:
        """Return a model with the same weights but without positions: none is added to the embeddings, turns queries and keys, or
        adds to the scores. Weights are shared, not copied. Errors: ValueError for a model that cannot leave its positions out,
        which only the transformers of our own can."""
        raise ValueError(f"{self.info.name} cannot leave its positions out: only a transformer that was made with Headlight can.")

    @abstractmethod
    def with_random_weights(self, seed: int) -> LanguageModel:
        """Return the same architecture with nothing learned: the numbers of each matrix are shuffled, so that they are as large
        as before. Vectors, such as those of norms, stay. The same seed gives the same model. Errors: ValueError for a model that
        cannot be built again."""

    @abstractmethod
    def copy_network(self) -> Any:
        """Return the network with modules of its own, which share their weights with it: nn.Module. Nothing follows the copy."""

    @abstractmethod
    def with_weights(self, weights: Mapping[str, Tensor], name: str = "", source: str = "") -> LanguageModel:
        """Return a model with some other weights; all others are shared, not copied.

        weights: by the names of `network.named_parameters()`, of the same shapes. name, source: as in `info`, "" for this
        model's. Errors: ValueError for a weight that the model does not have, or of another shape.
        """

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the model to a folder that `load` opens: weights as safetensors, config and tokenizer."""

    @abstractmethod
    def copy_to_watch(self, number: int | None) -> Private:
        """Copy the network, with modules of its own, to be watched."""

    def watched_copy(self) -> Private:
        """Return the copy to be watched, made once for as long as the network does not change."""
        number, known = self.condition, self._private
        if known is None or number is None or known.number != number:
            known = self._private = self.copy_to_watch(number)
        return known

    @abstractmethod
    def output_weights(self, kind: str, layer: int) -> np.ndarray:
        """Return W_O, which maps the output of each head of a layer into the residual stream: float32 [heads, d_head, d_model].

        kind: as in `trace.attention`. Errors: ValueError where the network does something else instead.
        """

    @abstractmethod
    def value_weights(self, kind: str, layer: int) -> np.ndarray:
        """Return W_V, which maps the output of the block's norm to the value of each head: float32 [heads, d_model, d_head].

        kind: as in `trace.attention`. Biases are left out. Errors: ValueError where no single matrix of the network does that.
        """

    @abstractmethod
    def query_weights(self, kind: str, layer: int) -> np.ndarray:
        """Return W_Q, which makes the query of each head of a layer, as `value_weights`: float32 [heads, d_model, d_head].

        The gains of a norm of queries belong to it (see `normed`). Errors: as there; ValueError where queries do not meet keys
        by q·k.
        """

    @abstractmethod
    def key_weights(self, kind: str, layer: int) -> np.ndarray:
        """Return W_K, as `query_weights`; one for each query head."""

    def normed(self, kind: str) -> bool:
        """Return whether queries and keys of a kind of attention are normed after their matrix: the matrix then determines only
        their direction, and their length depends on the token."""
        return False

    @property
    def embedding_tables(self) -> list[Tensor]:
        """The tables [vocabulary, d_embedding] in which its stacks look tokens up. Errors: ValueError where the weights are not
        here."""
        raise ValueError(f"The weights of {self.info.name} are not here, so no slope is taken against the embedding of a token.")

    @abstractmethod
    def way_out(self, rows: Tensor) -> Tensor:
        """Compute the logits [row, vocabulary] of rows of the stream as in `Trace.stream` [row, d_model], in the gradient mode of
        the caller. Errors: ValueError without a language-model head."""

    def answers_at(self, streams: Tensor, position: int) -> Tensor:
        """Return the scores at a position from streams of whole texts after the last block [text, position, d_model]."""
        return self.way_out(streams[:, position])

    @property
    def cap(self) -> float | None:
        """The c of a model that bends its logits to c · tanh(z / c); None where it leaves them unchanged."""
        return None

    @abstractmethod
    def way_out_formula(self, stream: str = "h") -> str:
        """Return the formula of `way_out`: "Wᵁ · norm(h)"; "t" is a transform that a head such as BERT's has
        before its unembedding: a matrix, an activation and a norm."""

    def unembedding(self) -> np.ndarray:
        """Return W_U, which maps the stream after the last norm to logits: float32 [vocabulary, d_model]. Errors: ValueError
        where that takes more than one matrix, or where no words are predicted."""
        raise ValueError(f"{self.info.name} has no single matrix that makes words of its stream, so copying is not measured.")

    @abstractmethod
    def embedding(self, ids: Sequence[int] | slice = slice(None)) -> np.ndarray:
        """Return the embeddings of tokens of the vocabulary, before positions: float32 [ids, d_embedding].

        As stored: some models scale them, or widen them to d_model, when they read. The rows may be more than the tokens.
        """

    def predict(
        self, text: Text, target: Text = "", top: int = 10, source_language: str = "", target_language: str = ""
    ) -> list[Prediction]:
        """Return the most likely tokens, the likeliest first; probabilities from a softmax over the whole vocabulary.

        text, target: a str or ids of tokens, and source_language, target_language, as for `trace`.

        A decoder predicts what comes after the text, an encoder-decoder what comes after the target, an encoder what stands at
        each mask (`top` predictions each, in the order of the masks); a classifier which labels fit the text, or each token.
        Errors: ValueError for a model that predicts nothing, and for less than one prediction; the rest as `trace`.
        """
        if not isinstance(top, int) or top < 1:
            raise ValueError(f"top says how many predictions are wanted, a whole number from 1 on; it is {top!r}.")
        trace = self.trace(text, target, source_language=source_language, target_language=target_language)
        if not trace.predicts:
            raise ValueError(f"{self.info.name} has no language-model head, so it makes no predictions.")
        predictions: list[Prediction] = []
        for place in self.places(trace):
            logits = trace.scores_at(place)
            assert logits is not None, "it predicts"
            predictions += self.top(logits, place, top)
        return predictions

    def places(self, trace: Trace) -> list[int]:
        """Return the positions at which this model predicts: an encoder's masks; else the last position.

        Of a classifier: the typed tokens where each gets a label, else the position at which the text's label is read.
        """
        if (labels := self.info.labels) is not None:
            if labels.each:
                return [i for i, token in enumerate(trace.tokens) if not (token.special and token.start == token.end)]
            return [0 if labels.first else len(trace.tokens) - 1]
        if self.info.kind == "encoder":
            return [
                i for i, token in enumerate(trace.tokens) if self.info.mask and token.text == self.info.mask and token.special
            ]
        return [len(trace.read) - 1]

    def top(self, logits: np.ndarray, position: int, top: int = 10, temperature: float = 1.0) -> list[Prediction]:
        """Return the `top` most likely tokens, or labels, by their logits [outcome] at `position`.

        Temperature divides the logits before the softmax: below 1 the likely grows likelier.
        """
        probabilities = self.chances(logits, temperature)
        best = np.argpartition(-logits, min(top, len(logits)) - 1)[:top]
        best = best[np.lexsort((best, -logits[best]))]
        return [Prediction(position, int(id), self.outcome(int(id)), float(probabilities[id]), float(logits[id])) for id in best]

    def outcome(self, id: int) -> str:
        """Return the text of a token, or the name of a label, by its number among the scores."""
        return self.token_text(id) if self.info.labels is None else self.info.labels.names[id]

    def chances(self, scores: np.ndarray, temperature: float = 1.0) -> np.ndarray:
        """Return the scores of a prediction [..., outcome] as probabilities (see `models.class_labels.chances`)."""
        return chances(scores, self.info.labels, temperature)

    def log_chances(self, scores: np.ndarray) -> np.ndarray:
        """Return the scores of a prediction as evidence (see `models.class_labels.log_chances`)."""
        return log_chances(scores, self.info.labels)


def check_plain(trace: Trace) -> None:
    """Check that a trace has no edits. Errors: ValueError, with a sentence."""
    if trace.edits:
        raise ValueError("The steps inside a block are followed without edits only. Read the text again without them.")


def check_text(text: object, what: str = "The text") -> None:
    """Check that a text is a str. Errors: TypeError, with a sentence."""
    if not isinstance(text, str):
        raise TypeError(f"{what} must be a str; it is {'None' if text is None else f'of type {type(text).__name__}'}.")
