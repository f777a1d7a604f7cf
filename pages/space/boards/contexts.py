"""Board "One word": a word in several texts."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
from scipy.spatial.distance import pdist

from analysis.projections import prepared
from pages.space import recipes, scene
from pages.space.settings import OWN, Settings, Word
from ui.escaping import plain
from ui.picture.board import Draft, Note
from viz.numbers import whole_percent
from viz.views.space_view import short

KEY = "context-view"


def add_missing(draft: Draft, word: str) -> None:
    """Add the reason why there are no points."""
    sentence = "Type a word to follow through the texts."
    if word.strip():
        sentence = f"“{plain(word)}” is in none of these texts. Write it into one, or choose another word."
    draft.contents["context-missing"] = Note(sentence, "info")


def add(draft: Draft, settings: Settings, reading: Word) -> None:
    """Add the points, and, in the column of words, how similar the occurrences of the word are."""
    word, traces, stack, others, chosen = reading.word, reading.traces, reading.stack, reading.others, settings.chosen
    names, texts, states = recipes.word_points(traces, stack, word, others)
    count = len(names) - len(others)
    numbered = [f"{i + 1}: {short(name, 40)}" for i, name in enumerate(names[:count])]
    colours = recipes.context_colours(traces, word, reading.meanings, names[:count])
    drawing = scene.picture(
        KEY,
        f"“{word}” in several texts",
        recipes.contexts,
        tuple(replace(draft.look, trace=trace, second="", chosen_token=None) for trace in traces),
        {"stack": stack, "word": word, "others": others, "meanings": list(reading.meanings)},
        settings,
        reading.arranged,
        takes=("trace",),
        names=names,
        hidden=states,
        columns={"token": names, "text": texts},
        values=colours + [""] * len(others),
    )
    draft.add(drawing, KEY)
    last = traces[0].attention[stack].numbers[-1]
    compare(draft, word, numbered, states, chosen.measure, last)
    compare_meanings(draft, colours, states, chosen.measure, last)
    draft.beside += scene.faith(draft, reading.arranged, chosen)


def compare(draft: Draft, word: str, names: list[str], states: np.ndarray, measure: str, last: int) -> None:
    """Return sentences on the most and the least similar occurrences of the word in all dimensions, by the measure of the
    picture. The word's occurrences are the first of the states. last: the number of the last layer."""
    if len(names) < 2:
        draft.say("context single", word=plain(word))
        return
    apart = [pdist(layer[: len(names)]) for layer in prepared(states, measure)]  # [layers + 1, pair]
    pairs = list(combinations(names, 2))
    near, far = (" and ".join(f"“{plain(name)}”" for name in pairs[i]) for i in (apart[-1].argmin(), apart[-1].argmax()))
    distances = [1 - layer**2 / 2 for layer in apart] if measure == "cosine" else apart  # √(2 − 2 cos) was the distance
    ends = sorted((distances[-1].min(), distances[-1].max()), reverse=measure == "cosine")  # the most alike first
    numbers = dict(zip(("first", "last", "highest", "lowest"), (distances[0].mean(), distances[-1].mean(), *ends), strict=True))
    two = len(names) == 2 and measure != "scaled" and draft.look.level != "expert"
    draft.say(
        "context two" if two else f"context pairs {measure}",
        kind="cosine" if measure == "cosine" else "distance",
        word=plain(word),
        layer=last,
        near=near,
        far=far,
        **{name: f"{value:.2f}" if measure == "cosine" else f"{value:.3g}" for name, value in numbers.items()},
    )


def compare_meanings(draft: Draft, meanings: list[str], states: np.ndarray, measure: str, last: int) -> None:
    """Add a sentence on places of one meaning and of different meanings: the mean similarity of their pairs after the last
    layer; for beginners how often the first are more alike. Places in the visitor's own text
    have no meaning. Without pairs of both kinds, add nothing."""
    places = [i for i, meaning in enumerate(meanings) if meaning != OWN]
    pairs = list(combinations([meanings[i] for i in places], 2))
    alike = np.array([first == second for first, second in pairs], dtype=bool)
    if not alike.any() or alike.all():
        return
    apart = pdist(prepared(states, measure)[-1][places])
    values = 1 - apart**2 / 2 if measure == "cosine" else apart
    same, different = (f"{part.mean():.2f}" for part in (values[alike], values[~alike]))
    kind = "cosine" if measure == "cosine" else "distance"
    often = share_nearer(apart[alike], apart[~alike])
    are_apart = often > 0.5 if draft.look.beginner else apart[alike].mean() < apart[~alike].mean()
    heading = f"context meanings {'apart' if are_apart else 'mixed'}"
    draft.say(heading, same=same, different=different, often=whole_percent(often), kind=kind, layer=last)


def share_nearer(same: np.ndarray, different: np.ndarray) -> float:
    """Return the share of comparisons of a pair of one meaning with a pair of two in which the first is nearer; an equal distance
    counts half. Shuffled meanings have 0.5 on average."""
    gaps = different[:, None] - same[None]
    return float(((gaps > 0) + 0.5 * (gaps == 0)).mean())
