"""What has grown, as parts of a board: the text, shaded by where the model looked, and what comes next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from analysis import as_written
from models.generation import Step
from models.strategy import Distribution, Strategy
from models.tokens import Token
from pages.generate import told
from pages.generate.grown import Grown
from ui.look import Look
from ui.words import words
from viz import Part, percent, prediction_bars, reading_view
from viz.tokens import label, named

HERE = Path(__file__).parent
BARS = {"beginner": 6, "intermediate": 8, "expert": 12}
COMES = "…"  # stands where the next token will


def tokens_of(grown: Grown, look: Look) -> tuple[list[Token], list[Token], list[Step]]:
    """What the encoder read, what the decoder read and said with a place for what comes, and the steps that led to the last ones
    of these."""
    steps, ahead = list(grown.steps), grown.ahead
    last = ahead or steps[-1]
    token = Token(-1, COMES, last.token.start, last.token.start, special=True) if ahead else last.token
    text = grown.beginning.target if last.source else look.trace.text
    rows = [*steps, ahead] if ahead else steps
    said = [replace(one.token, after=one.tokens[-1]) for one in steps]
    shown = [*last.tokens, replace(token, after=last.tokens[-1])]
    first = len(shown) - len(rows)
    for number, one in enumerate(said):
        if first + number > 0:
            shown[first + number] = one
    return as_written(last.source, look.trace.text), as_written(shown, text), rows


def text_part(grown: Grown, look: Look) -> Part:
    """The text with all that was said, shaded by where the chosen head looked when it chose a token."""
    source, shown, rows = tokens_of(grown, look)
    kind = look.kind if look.kind in rows[-1].attention else "cross"
    front = source if kind == "cross" else []
    first, count = len(front) + len(shown) - len(rows), len(front) + len(shown)
    weights = np.zeros((count, count), dtype=np.float32)
    for number, step in enumerate(rows):
        row = step.attention[kind]
        if step.dropped == rows[-1].dropped and look.layer < row.shape[0] and look.head < row.shape[1]:
            weights[first + number, : row.shape[2]] = row[look.layer, look.head]
    chosen = first + (len(rows) - 1 if grown.at is None else grown.at)
    view = reading_view(look.written([*front, *shown]), weights, chosen, second=len(front) or None, said=first)
    return Part("text", view, words(HERE, "text", head=look.head_name), told.at_its_end(grown, look))


def step_of(position: int, grown: Grown, look: Look) -> int | None:
    """Which step a press on the text is about; None for what was typed, and for what comes next."""
    source, shown, rows = tokens_of(grown, look)
    front = len(source) if look.kind not in ("self", "decoder") else 0
    number = position - (front + len(shown) - len(rows))
    return number if 0 <= number < len(grown.steps) else None


def bars(step: Step, strategy: Strategy, look: Look, past: bool, growing: bool = False) -> Part:
    """The likeliest tokens before and after the controls, what was struck out, and what is chosen. past: whether the token was
    said; growing: whether the text grows by itself meanwhile."""
    found = replace(step, strategy=strategy).distribution
    chosen, dart = found.choose(strategy, step.position)
    best = _rows(found, chosen, BARS[look.level])
    texts = [look.model.token_text(id) for id in best]
    view = prediction_bars(
        texts,
        [float(found.after[id]) for id in best],
        ids=best,
        percent=not look.beginner,
        before=[float(found.before[id]) for id in best] if found.stages else None,
        struck=[bool(np.isneginf(found.final[id])) for id in best],
        marked=best.index(chosen),
    )
    said: dict[str, object] = {"token": _name(look, chosen), "said": _name(look, step.token.id)}
    said |= _facts(found, strategy, chosen, dart) | {"position": step.position}
    above = words(HERE, "growing" if growing else "past" if past else "next", **said)
    below = [words(HERE, "drawn" if dart is not None else "taken", **said)]
    if past and chosen != step.token.id:
        below.append(words(HERE, "otherwise", **said))
    below.append(words(HERE, "controls" if found.stages else "no controls", **said))
    return Part("bars", view, above, "\n\n".join(filter(None, below)))


def _rows(found: Distribution, chosen: int, count: int) -> list[int]:
    """The ids that are shown: the likeliest before and after the controls, and the chosen one, by what they were before."""
    most = min(count, len(found.before))
    before, after = (np.argpartition(-one, most - 1)[:most].tolist() for one in (found.before, found.after))
    after = sorted(after, key=lambda id: -found.after[id])[: most // 3]
    ids = sorted({*before, *after, chosen}, key=lambda id: (-found.before[id], id))
    while len(ids) > most:
        spare = next(id for id in reversed(ids) if id not in after and id != chosen)
        ids.remove(spare)
    return ids


def _facts(found: Distribution, strategy: Strategy, chosen: int, dart: float | None) -> dict[str, str]:
    """Numbers that the words are about, as text."""
    left = int(np.count_nonzero(found.after))
    facts = {"after": percent(found.after[chosen]), "before": percent(found.before[chosen]), "left": f"{left:,}"}
    facts |= {"all": f"{len(found.before):,}", "seed": str(strategy.seed), "stages": "; ".join(_stages(found))}
    if dart is not None:
        likelier = found.after > found.after[chosen]
        start = float(found.after[likelier].sum()) + float(
            found.after[:chosen][found.after[:chosen] == found.after[chosen]].sum()
        )
        facts |= {"dart": f"{100 * dart:.2f}", "start": f"{100 * start:.2f}"}
        facts["end"] = f"{100 * (start + float(found.after[chosen])):.2f}"
    return facts


def _stages(found: Distribution) -> list[str]:
    """Each control in its turn, and how many tokens it struck out."""
    return [
        f"{'ruled out by the model' if one.name == 'model' else one.name.replace('_', ' ')}"
        + (f" (struck out {len(one.struck):,})" if len(one.struck) else "")
        for one in found.stages
    ]


def _name(look: Look, id: int) -> str:
    text = look.model.token_text(id)
    name = named(text) if text.strip() else label(text)
    return name.replace("*", r"\*")
