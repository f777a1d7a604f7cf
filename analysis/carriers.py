"""An overview of the parts that matter most for a prediction: heads, feed-forwards, their direct effects, and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from analysis.attribution_tests import Question
from analysis.direct import logit_attribution
from analysis.effects import changes, skip_effects
from analysis.explaining import explain
from analysis.prediction import prediction_entropy
from analysis.ranks import rank_correlation
from models.edits import Edit, Head
from models.language_model import LanguageModel
from models.numbers.softmax import softmax
from models.reading.inputs import Text
from models.tokens import Prediction
from models.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

WORDS = ("leave-one-out", "integrated gradients")  # one measured, one from slopes: where they disagree, neither is certain
TOGETHER = 3  # heads switched off at once


@dataclass(frozen=True, eq=False)
class Overview:
    """An overview of one prediction in numbers; `print` it, or let a notebook show it.

    model, text: the arguments. position: in `trace.read`. prediction: the explained token; others: the likeliest other ones;
    `direct` compares with the first of them. entropy: of the prediction, bits.
    heads: a row for each head, the strongest first: kind, layer, head, effect (the change of the token's log-probability when the
    head is off, nats; below 0: the head helps) and direct (its write towards the token less that towards the other one, logits).
    feedforwards: the same for each skipped feed-forward. words: position, token, and the worth of each by two methods, nats;
    those with the most support for the token first. NaN: unknown, and `doubts` says why.
    together: the change when the strongest heads are off at once, nats; alone: the sum of their effects. agreement: rank
    correlation of the two methods over the tokens; direct_agreement: of effect (with its sign turned) and direct over the heads.
    doubts: sentences on the limits of these numbers.
    """

    model: str
    text: str
    position: int
    prediction: Prediction
    others: tuple[Prediction, ...]
    entropy: float
    heads: pd.DataFrame
    feedforwards: pd.DataFrame
    words: pd.DataFrame
    together: float
    alone: float
    agreement: float | None
    direct_agreement: float | None
    doubts: tuple[str, ...]
    top: int = 5

    @property
    def _title(self) -> str:
        others = ", ".join(f"“{prediction.text}” {prediction.probability:.3f}" for prediction in self.others)
        return (
            f"{self.model}, “{self.text}”: “{self.prediction.text}” with probability {self.prediction.probability:.3f} "
            f"(then {others}); entropy {self.entropy:.2f} bits."
        )

    @property
    def _tables(self) -> list[tuple[str, pd.DataFrame]]:
        against = f"direct: logits written towards “{self.prediction.text}” rather than “{self.others[0].text}”"
        return [
            (f"Heads, switched off one by one (effect: nats; {against})", self.heads.head(self.top)),
            ("Feed-forwards, skipped one by one (the same numbers)", self.feedforwards.head(self.top)),
            ("Tokens (nats for the prediction, by two methods)", self.words.head(self.top)),
        ]

    def __str__(self) -> str:
        tables = [f"{title}\n{table.to_string(index=False, float_format='{:+.3f}'.format)}" for title, table in self._tables]
        return "\n\n".join([self._title, *tables, "\n".join(["Doubt", *(f"- {doubt}" for doubt in self.doubts)])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        form = "{:+.3f}".format
        tables = [
            f"<p><b>{escape(title)}</b></p>{table.to_html(index=False, float_format=form)}" for title, table in self._tables
        ]
        doubts = "".join(f"<li>{escape(doubt)}</li>" for doubt in self.doubts)
        return f"<p>{escape(self._title)}</p>{''.join(tables)}<p><b>Doubt</b></p><ul>{doubts}</ul>"


def overview(
    model: LanguageModel, text: Text, position: int | None = None, token: int | None = None, target: Text = "", top: int = 5
) -> Overview:
    """Return an overview of a prediction: its strongest heads and feed-forwards, their direct writes, its tokens, and doubts.

    position: in `trace.read`; None: the last, for an encoder its first mask. token: an id, None for the likeliest one; target:
    the output of an encoder-decoder so far; top: how many rows of each table are shown (the tables contain all), and how many
    other tokens. The text is read without each head and each feed-forward, in batches; tokens are deleted one by one. Errors:
    ValueError without a language-model head, for an encoder's text without a mask, for an unknown position or token, and for less
    than one row; TypeError for anything but a text.
    """
    if not isinstance(top, int) or isinstance(top, bool) or top < 1:
        raise ValueError(f"top says how many rows are shown, a whole number from 1 on; it is {top!r}.")
    trace = model.trace(text, target)
    at = _place(model, trace, position)
    logits = trace.logits_at(at)
    if logits is None:
        raise ValueError(f"{model.info.name} has no language-model head, so it makes no predictions.")
    if token is not None and not 0 <= token < len(logits):
        raise ValueError(f"There is no token {token}: they are 0 to {len(logits) - 1:,}.")
    likeliest = model.top(logits, at, top + 1)
    token = likeliest[0].id if token is None else token
    prediction = Prediction(at, token, model.token_text(token), float(softmax(logits)[token]), float(logits[token]))
    others = tuple(candidate for candidate in likeliest if candidate.id != token)[:top]
    doubts: list[str] = []
    direct = _direct(model, trace, token, others[0].id, at, doubts)
    heads = _heads(model, trace, token, at, direct)
    strongest = heads.head(TOGETHER)
    switched_off: list[Edit] = [
        Head(layer, head, kind=kind) for kind, layer, head in strongest[["kind", "layer", "head"]].to_numpy().tolist()
    ]
    together, alone = float(changes(model, trace, [switched_off], at, token)[0]), float(strongest.effect.sum())
    words, agreement = _words(model, trace, token, at, doubts)
    feedforwards = _feedforwards(model, trace, token, at, direct, doubts)
    measured = heads.dropna()
    direct_agreement = rank_correlation(-measured.effect.to_numpy(), measured.direct.to_numpy()) if len(measured) > 1 else None
    general_doubts = _doubts_of(heads, together, alone, agreement, direct_agreement)
    return Overview(
        model.info.name,
        str(trace.text),
        at,
        prediction,
        others,
        prediction_entropy(logits),
        heads,
        feedforwards,
        words,
        together,
        alone,
        agreement,
        direct_agreement,
        (*general_doubts, *doubts),
        top,
    )


def _place(model: LanguageModel, trace: Trace, position: int | None) -> int:
    if position is None:
        if not (places := model.places(trace)):
            mask = f": type {model.info.mask} where it is to say a word" if model.info.mask else ""
            raise ValueError(f"{model.info.name} predicts at masks, and there is none{mask}.")
        return places[0]
    if not -len(trace.read) <= position < len(trace.read):
        raise ValueError(f"There is no position {position} in {len(trace.read)} tokens.")
    return position % len(trace.read)


def _direct(model: LanguageModel, trace: Trace, token: int, against: int, at: int, doubts: list[str]) -> pd.DataFrame | None:
    try:
        return logit_attribution(model, trace, token, at, against)
    except ValueError as error:
        doubts.append(f"What parts wrote directly is not known. {error}")
        return None


def _write_of(direct: pd.DataFrame | None, part: str, layer: int, head: int | None) -> float:
    """Return a part's write, NaN if it is unknown."""
    if direct is None:
        return np.nan
    rows = direct[(direct.part == part) & (direct.layer == layer)]
    rows = rows if head is None else rows[rows["head"] == head]
    return float(rows.contribution.iloc[0]) if len(rows) == 1 else np.nan


def _heads(model: LanguageModel, trace: Trace, token: int, at: int, direct: pd.DataFrame | None) -> pd.DataFrame:
    import pandas as pd

    kinds = trace.attention.items()
    places = [
        (kind, layer, head)
        for kind, attention in kinds
        for layer in range(attention.layers)
        for head in range(attention.counts[layer])
    ]
    effects = changes(model, trace, [[Head(layer, head, kind=kind)] for kind, layer, head in places], at, token)
    parts = {"self": "attention", "decoder": "attention", "cross": "cross"}  # an encoder beside a decoder writes to no logit
    wrote = [_write_of(direct, parts[kind], layer, head) if kind in parts else np.nan for kind, layer, head in places]
    table = pd.DataFrame(places, columns=["kind", "layer", "head"]).assign(effect=effects, direct=wrote)
    return table.sort_values("effect", key=np.abs, ascending=False, ignore_index=True)


def _feedforwards(
    model: LanguageModel, trace: Trace, token: int, at: int, direct: pd.DataFrame | None, doubts: list[str]
) -> pd.DataFrame:
    import pandas as pd

    tables = []
    for kind in trace.hidden:
        try:
            effects: Sequence[float] = skip_effects(model, trace, "feedforward", at, token, kind).tolist()
        except ValueError as error:
            doubts.append(str(error))
            effects = [np.nan] * (len(trace.hidden[kind]) - 1)
        rows = [
            (kind, layer, effect, np.nan if kind == "encoder" else _write_of(direct, "feedforward", layer, None))
            for layer, effect in enumerate(effects)
        ]
        tables.append(pd.DataFrame(rows, columns=["kind", "layer", "effect", "direct"]))
    return pd.concat(tables).sort_values("effect", key=np.abs, ascending=False, ignore_index=True)


def _words(model: LanguageModel, trace: Trace, token: int, at: int, doubts: list[str]) -> tuple[pd.DataFrame, float | None]:
    import pandas as pd

    question, tokens = Question(model, trace, at, token), [*trace.tokens, *trace.target]
    scores_of = {}
    for method in WORDS:
        try:
            scores_of[method] = explain(question, method).scores
        except ValueError as error:
            doubts.append(f"{method}: {error}")
            scores_of[method] = np.full(len(tokens), np.nan)
    units = question.units
    rows = {"position": units, "token": [tokens[i].text for i in units]} | {
        method: scores[units] for method, scores in scores_of.items()
    }
    table = pd.DataFrame(rows).sort_values(WORDS[0], key=np.abs, ascending=False, ignore_index=True)
    complete = table[list(WORDS)].dropna()
    return table, rank_correlation(complete[WORDS[0]].to_numpy(), complete[WORDS[1]].to_numpy()) if len(complete) > 1 else None


def _doubts_of(
    heads: pd.DataFrame, together: float, alone: float, agreement: float | None, direct_agreement: float | None
) -> list[str]:
    strongest = heads.head(TOGETHER)
    names = ", ".join(f"{row.kind} L{row.layer} H{row.head}".removeprefix("self ") for row in strongest.itertuples())
    middle = heads.effect.abs().median()
    doubts = [
        f"Off at once, {names} change the log-probability by {together:+.3f} nats, and one by one by {alone:+.3f} in sum: where "
        "the two differ, heads stand in for each other or need each other.",
        f"Half of all heads change it by less than {middle:.3f} nats. A head that is off gives zeros, which the rest of the "
        "model was not trained for.",
    ]
    if direct_agreement is not None:
        doubts.append(f"What heads wrote directly ranks them as their effects do with a correlation of {direct_agreement:+.2f}.")
    if agreement is not None:
        doubts.append(f"{WORDS[0].capitalize()} and {WORDS[1]} rank the tokens alike with a correlation of {agreement:+.2f}.")
    return [*doubts, "This is one text, and one text is an anecdote: `over` repeats an analysis on many."]
