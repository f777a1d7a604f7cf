"""Labels of heads: a head gets a label if its score, with a confidence interval, is above that of every head of random models."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.corpora import interval
from analysis.earlier_names import after_and_at, looks_at_names, name_sentences
from analysis.heads import PLACES, REPEATS, alignment, kinds_of_keys, looks, mean_of, read_probe
from analysis.samples import SHORT, UNKNOWN, Pairs, Texts, check_spelling, natural, pairs_of, repeats, unknown_in
from analysis.statistics import Report, silent
from models.language_model import LanguageModel
from models.tokens import Token
from models.trace import Attention

if TYPE_CHECKING:
    import pandas as pd

MARGIN = 0.1  # by which the low end of a head's range must be above the largest score of all random heads
SEEDS = 3  # models with random weights
RESTS = ("first", "separator")  # where idle heads look (Clark et al. 2019), so they are named last
NAME = "name"  # a name, which is looked back at
SELF, CROSS = (*PLACES, *REPEATS, NAME), ("alignment",)  # what heads are labelled by


@dataclass(frozen=True, eq=False)
class Example:
    """A token of real text at which a head does what its label says.

    text: the text that was read; tokens, keys: the queries and the keys, which are the same except in cross-attention; query,
    key: the positions of the example; weights: the whole map of the head, float32 [query, key].
    """

    text: str
    tokens: Sequence[Token]
    keys: Sequence[Token]
    query: int
    key: int
    weights: np.ndarray

    @property
    def weight(self) -> float:
        """The share of attention that the key gets."""
        return float(self.weights[self.query, self.key])


def head_labels(
    model: LanguageModel, kind: str | None = None, seeds: int = SEEDS, report: Report = silent, texts: Texts | None = None
) -> pd.DataFrame:
    """Return the labels of heads as a table: a row for each head, with columns layer, head, label, and four columns for each
    score.

    kind: as in `trace.attention`; by default the model's first. The scores, each from 0 to 1, are those of `head_scores`, and
    positional (see `positional`); name (see `analysis.earlier_names.looks_at_names`), and in cross-attention alignment, run from
    −1 to 1. NAME: the mean over the probes (the texts; for duplicate and induction 6 texts of repeated random words; for name 8
    sentences, each with a name and with a common noun, NaN if the tokenizer cannot spell them). NAME_low, NAME_high: the 95 %
    interval of that mean (`analysis.corpora.interval`), NaN for one text. NAME_null: the largest score of any head in `seeds`
    models of the same architecture with random weights (`model.with_random_weights`), over the same probes. texts: each alone, or
    with its target; by default the sample texts (`analysis.samples.natural`; for cross-attention four sentences to repeat).
    label: the names whose low end is at least 0.1 above the null, the clearest first, joined by ", "; "" for a head without a
    label. "first" and "separator", where heads rest, come last. positional is no label. Errors: ValueError if the model has no
    such attention, or cannot be rebuilt with random weights; Unspelt if the tokenizer cannot spell more than a fifth of the
    texts.
    """
    import pandas as pd  # here, because it takes long to import and a first page needs none

    kinds = ("encoder", "decoder", "cross") if model.info.kind == "encoder-decoder" else ("self",)
    kind = kind or kinds[0]
    if kind not in kinds:
        raise ValueError(f'{model.info.name} has no "{kind}" attention; it has {", ".join(kinds)}.')
    probes = probes_for(model, kind, texts)
    steps = 1 + seeds
    scores = read_probes(model, kind, probes, lambda share, words: report(share / steps, words))
    null: dict[str, list[float]] = {name: [] for name in scores}
    for seed in range(seeds):

        def report_null(share: float, words: str, number: int = seed + 1) -> None:
            report((number + share) / steps, f"{words} with random weights ({number} of {seeds})")

        for name, values in read_probes(model.with_random_weights(seed), kind, probes, report_null).items():
            null[name].append(float(np.nanmax(np.append(mean_of(values), -1))))
    layers, heads = np.indices(next(iter(scores.values())).shape[1:])
    table: dict[str, np.ndarray] = {"layer": layers.ravel(), "head": heads.ravel()}
    for name, values in scores.items():
        low, high = interval(values)
        most = max(null[name], default=np.nan)
        columns = {"": mean_of(values), "_low": low, "_high": high, "_null": np.full(low.shape, most)}
        table |= {name + ending: column.ravel() for ending, column in columns.items()}
    labels = pd.DataFrame(table)
    labels.insert(2, "label", [", ".join(labels_of(row)) for _, row in labels.iterrows()])
    return labels


def labels_of(row: pd.Series) -> list[str]:
    """Return the labels of a row of `head_labels`, the clearest first."""
    names = [name for name in (*SELF, *CROSS) if name in row.index and row[f"{name}_low"] >= row[f"{name}_null"] + MARGIN]
    return sorted(names, key=lambda name: (name in RESTS, row[f"{name}_null"] - row[f"{name}_low"]))


def probes_for(model: LanguageModel, kind: str, texts: Texts | None) -> Pairs:
    """Return the texts on which heads are measured, with their targets. Errors: Unspelt; ValueError if there is none."""
    probes = pairs_of((SHORT if kind == "cross" else natural()) if texts is None else texts)
    if not probes:
        raise ValueError("There is no text to measure on: give one.")
    check_spelling(model, probes, texts is not None)
    return probes


def read_probes(model: LanguageModel, kind: str, pairs: Pairs, report: Report = silent) -> dict[str, np.ndarray]:
    """Return each score on each probe: float64 [probe, layers, heads] by name; NaN where a probe does not measure it."""
    repeated = [] if kind == "cross" else pairs_of(repeats(model))
    names = [] if kind == "cross" or not spells_names(model) else name_sentences()
    probes, maps, readings = len(pairs) + len(repeated) + 2 * len(names), [], []
    for i, (text, target) in enumerate((*pairs, *repeated)):
        report(i / probes, "Reading test texts")
        trace = read_probe(model, text, target, kind)
        readings.append({"alignment": alignment(trace)} if kind == "cross" else looks(trace, kind))
        if i < len(pairs):
            maps.append(trace.attention[kind])
    on_texts, twice = readings[: len(pairs)], readings[len(pairs) :]
    if kind == "cross":
        return {name: np.stack([reading[name] for reading in on_texts]) for name in CROSS}
    scores = {
        name: np.stack([reading[name] for reading in (twice if name in REPEATS else on_texts)]) for name in PLACES + REPEATS
    }
    after = []
    for i, sentence in enumerate(names):
        report((probes - 2 * (len(names) - i)) / probes, "Reading test texts")
        after.append(looks_at_names(model, sentence, kind))
    unknown = np.full((1, *scores[PLACES[0]].shape[1:]), np.nan)
    return scores | {NAME: np.stack(after) if after else unknown, "positional": positional(maps)}


def spells_names(model: LanguageModel) -> bool:
    """Return whether the tokenizer can spell the sentences with names."""
    return unknown_in(model, [(sentence.text.format(sentence.name), "") for sentence in name_sentences()]) <= UNKNOWN


def positional(maps: Sequence[Attention]) -> np.ndarray:
    """Return how much of a head's map positions alone explain: float64 [text, layers, heads], 0..1.

    For each text, the mean over the other texts of 2⟨A, B⟩ / (‖A‖² + ‖B‖²), where A and B are the maps of the two texts, cut to
    the length of the shortest, without the first row, which has no choice; NaN for a single text. 1: the same map for any words.
    """
    least = min(len(attention.queries) for attention in maps)
    layers: list[np.ndarray] = []
    if len(maps) < 2:
        return np.full((len(maps), maps[0].layers, maps[0].heads), np.nan)
    for layer in range(maps[0].layers):
        weights = [attention[layer][:, 1:least, :least].reshape(attention.heads, -1).astype(np.float64) for attention in maps]
        layers.append(likeness_of_maps(np.stack(weights)))
    return np.stack(layers, axis=1)


def likeness_of_maps(maps: np.ndarray) -> np.ndarray:
    """Return how alike a head's map of each text is to those of the other texts: float64 [text, heads], 0..1.

    maps: float64 [text, heads, cell]. It is the mean over the other texts of 2⟨A, B⟩ / (‖A‖² + ‖B‖²), where A and B are two maps;
    NaN where both are 0. 1: the same map for any text.
    """
    products = np.einsum("ahc,bhc->abh", maps, maps)
    sizes = np.einsum("aah->ah", products)
    sums = sizes[:, None] + sizes
    alike = np.divide(2 * products, sums, out=np.full_like(products, np.nan), where=sums > 0)
    is_other = ~np.eye(len(maps), dtype=bool)
    return np.stack([alike[i, is_other[i]].mean(0) for i in range(len(maps))])


def head_examples(
    model: LanguageModel, layer: int, head: int, name: str, kind: str = "self", count: int = 3, texts: Texts | None = None
) -> list[Example]:
    """Return the places in real text where a head does most clearly what a label says, one for each text, the clearest first.

    name: a score of `head_labels`. texts: as there; the texts are those of its probes, with real texts in place of repeated
    random words. The example is a key of the kind `name`, and of no other kind if there is such a one, seen from a query with a
    letter in it if there is one; where there are such places, both tokens are whole words. Errors: as there.
    """
    probes = probes_for(model, kind, texts)
    sentences = {sentence.text.format(sentence.name): sentence for sentence in name_sentences()}
    examples = []
    for text, target in pairs_of(list(sentences)) if name == NAME else probes:
        trace = read_probe(model, text, target, kind)
        attention = trace.attention[kind]
        weights = attention[layer][head]
        letters = np.array([not token.special and bool(re.search(r"\w", token.text)) for token in attention.queries])
        if name == NAME:
            start = sentences[text].start
            preferences = [after_and_at(attention.queries, start, start + len(sentences[text].name))]
        elif kind == "cross":
            preferences = [np.ones(weights.shape, bool)]
        else:
            kinds = kinds_of_keys(attention.queries)
            places = kinds.pop(name)
            preferences = [places & ~np.any([*kinds.values()], axis=0), places]
        spoken = target if kind in ("cross", "decoder") else text  # what the queries are tokens of
        whole = np.outer(whole_words(spoken, attention.queries), whole_words(text if kind == "cross" else spoken, attention.keys))
        preferences = [each & words for each in preferences for words in (whole, True)]
        places = next((each & letters[:, None] for each in preferences if each[letters].any()), preferences[-1])
        if places.any():
            query, key = np.unravel_index(np.where(places, weights, -1).argmax(), weights.shape)
            examples.append(Example(text, attention.queries, attention.keys, int(query), int(key), weights))
    return sorted(examples, key=lambda example: -example.weight)[:count]


def whole_words(text: str, tokens: Sequence[Token]) -> np.ndarray:
    """Return which tokens of a text are whole words, or signs, and no part of a longer word: bool [token]."""

    def is_inside(place: int) -> bool:
        return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()

    spaces = [len(token.text) - len(token.text.lstrip()) if text[token.start :].startswith(" ") else 0 for token in tokens]
    starts = [token.start + space for token, space in zip(tokens, spaces, strict=True)]
    return np.array(
        [
            token.special or not (token.fragment or is_inside(start) or is_inside(token.end))
            for token, start in zip(tokens, starts, strict=True)
        ]
    )


def false_positives(models: Iterable[LanguageModel], kind: str | None = None) -> tuple[int, int]:
    """Return how many heads of untrained models get a label, and how many heads there are."""
    tables = [head_labels(model, kind) for model in models]
    return sum(int((table["label"] != "").sum()) for table in tables), sum(map(len, tables))
