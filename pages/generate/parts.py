"""Parts of the page's board: the text so far, shaded by where the model looked, and what comes next."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from models.generation import Step
from models.strategy import Distribution, Strategy
from models.tokens import Token
from pages.generate import notices, recipes, wording
from pages.generate.continuation import Continuation
from ui.look import Look
from ui.parts import part
from ui.picture.picture import Numbers, Picture
from ui.words import words
from viz import Part, percent
from viz.tokens import label, named, plain_sign

HERE = Path(__file__).parent
BARS = {"beginner": 6, "intermediate": 8, "expert": 12}
BOARD = "generate-board"


def text_and_rows(continuation: Continuation, look: Look, pictures: list[Picture]) -> list[Part]:
    """Return the text, and below it a row for each of its tokens. pictures: those of the board, to which these are added."""
    parts = part("The text", text_part, continuation, look, pictures), part("The rows", rows_part, continuation, look, pictures)
    return [piece for piece in parts if piece.view or piece.above]


def text_part(continuation: Continuation, look: Look, pictures: list[Picture]) -> Part:
    """Return the text with all that was said, shaded by where the chosen head looked when a token was chosen. pictures: as
    above."""
    text_picture = attention_picture(recipes.text, "The text so far", "text", continuation, look)
    pictures.append(text_picture)
    chat = f"\n\n{words(HERE, 'chat')}" if continuation.beginning.chat else ""
    return text_picture.on_board(words(HERE, "text", head=look.head_name) + chat, notices.end_notice(continuation, look))


def rows_part(continuation: Continuation, look: Look, pictures: list[Picture]) -> Part:
    """Return a row for each token that was said, once there are two. pictures: as above."""
    rows_picture = attention_picture(recipes.rows, "Where it looked", "rows", continuation, look)
    if len(rows_picture.known["steps"]) < 2:
        return Part("rows", None)
    pictures.append(rows_picture)
    return rows_picture.on_board(words(HERE, "rows", head=look.head_name), late=True)


def attention_picture(recipe: Any, title: str, name: str, continuation: Continuation, look: Look) -> Picture:
    """Return a picture of where the chosen head looked for each token that was said, and for the next one."""
    steps, more = steps_with_next(continuation)
    kind = kind_of(steps[-1], look)
    options = {
        "answer": replay(continuation), "more": more, "kind": kind, "layer": look.layer, "head": look.head,
        "chosen": chosen_row(continuation, steps), "simple": look.beginner,
    }  # fmt: skip

    def numbers() -> dict[str, Numbers]:
        rows = recipes.attention_rows(steps, kind, look.layer, look.head)
        weights = np.full((len(steps), max(map(len, rows))), np.nan, dtype=np.float32)
        for row, values in zip(weights, rows, strict=True):
            row[: len(values)] = values
        keys = steps[-1].source if kind == "cross" else steps[-1].tokens
        sides = {"from": [step.tokens[-1].text for step in steps], "to": [token.text for token in keys]}
        chosen = [recipes.COMES if more and step is steps[-1] else step.token.text for step in steps]
        return {"weights": Numbers(weights, ("from", "to"), sides), "choosing": Numbers(np.array(chosen), ("from",), sides)}

    return picture(recipe, look, options, numbers, title, name, look.head_name, steps=steps)


def chosen_row(continuation: Continuation, steps: list[Step]) -> int:
    """Return the row of the selected step, the last one while none is selected."""
    return len(steps) - 1 if continuation.at is None or continuation.at >= len(steps) else continuation.at


def steps_with_next(continuation: Continuation) -> tuple[list[Step], bool]:
    """Return the steps of the current branch, with the next one where that is known; and whether it is."""
    next_step, steps = continuation.next_step, list(continuation.steps)  # in this order: a run may add a token between the two
    return ([*steps, next_step], True) if next_step and next_step.position == len(steps) else (steps, False)


def kind_of(step: Step, look: Look) -> str:
    """Return the attention on screen: an answer's own while the encoder's is chosen, which does not grow."""
    return look.kind if look.kind in step.attention else "cross"


def replay(continuation: Continuation, line: list[Step] | None = None) -> dict[str, Any]:
    """Return what a notebook needs to have a branch said again, by default the current one."""
    ids = [step.token.id for step in (continuation.steps if line is None else line)]
    return {"ids": ids, "target": continuation.beginning.target, "chat": continuation.beginning.chat}


def picture(
    recipe: Any, look: Look, options: dict[str, Any], numbers: Any, title: str, name: str, subject: str = "", **known: Any
) -> Picture:
    """Return a picture of the board. subject: the text that it is of."""
    return Picture(
        recipe, (look,), options, BOARD, numbers, words=subject, title=title, part=name, takes=("model", "trace"), known=known
    )


def look_at(click: Any, continuation: Continuation, look: Look) -> None:
    """Select the step of a word of the text, or of a row, that was clicked; a second click clears the selection."""
    if click["part"] == "rows":
        steps, _ = steps_with_next(continuation)
        number = recipes.first_row(len(steps), chosen_row(continuation, steps)) + click["value"][0]
    else:
        number = step_of(click["value"], continuation, look)
    continuation.at = None if number in (continuation.at, None) or number >= len(continuation.steps) else number


def step_of(position: int, continuation: Continuation, look: Look) -> int | None:
    """Return the number of the step at a position of the text; None for what was typed, and for the next token."""
    steps, more = steps_with_next(continuation)
    source, decoder_tokens = recipes.encoder_and_decoder_tokens(steps, more, look.trace.text, continuation.beginning.target)
    leading = source if kind_of(steps[-1], look) == "cross" else []
    front = len(leading)
    groups = recipes.in_text([*leading, *decoder_tokens], look.beginner)[1]
    if position >= len(groups):
        return None
    number = groups[position][-1] - (front + len(decoder_tokens) - len(steps))
    return number if 0 <= number < len(continuation.steps) else None


def bars(continuation: Continuation, strategy: Strategy, look: Look, pictures: list[Picture]) -> Part:
    """Return the likeliest tokens before and after the controls, with those struck out and the chosen one. pictures: as above."""
    step, past = continuation.selected_step, continuation.at is not None or bool(continuation.end_reason)
    assert step is not None, "something was said, or comes next"
    growing = continuation.run is not None and any(step is other for other in continuation.steps)
    scores = replace(step, strategy=strategy).distribution
    chosen, dart = scores.choose(strategy, step.position)
    best = recipes.likeliest_ids(scores, chosen, BARS[look.level])
    options: dict[str, Any] = {"answer": replay(continuation, continuation.steps[: step.position]), "strategy": asdict(strategy)}
    options |= {"count": BARS[look.level], "percent": not look.beginner}

    def numbers() -> dict[str, Numbers]:
        columns = {"token": [look.model.token_text(id) for id in best], "id": best, "logit": step.logits[best]}
        columns |= {"before": scores.before[best], "after": scores.after[best], "struck": np.isneginf(scores.final[best])}
        names = {"place": range(1, len(best) + 1)}
        return {name: Numbers(np.array(values), ("place",), names) for name, values in columns.items()}

    after = f"after “{label(look.spell_tokens(step.tokens[-1:], False)[0].text)}”"
    bars_picture = picture(recipes.bars, look, options, numbers, "What comes next", "bars", after, step=step)
    pictures.append(bars_picture)
    facts: dict[str, object] = {"token": name_of(look, chosen), "said": name_of(look, step.token.id), "position": step.position}
    facts["by_one"] = wording.step_label(look.model.info)
    facts |= facts_of(scores, strategy, chosen, dart)
    below = [words(HERE, "drawn" if dart is not None else "taken", **facts)]
    if past and chosen != step.token.id:
        below.append(words(HERE, "otherwise", **facts))
    below.append(words(HERE, "controls" if scores.stages else "no controls", **facts))
    above = words(HERE, "growing" if growing else "past" if past else "next", **facts)
    return bars_picture.on_board(above, "\n\n".join(filter(None, below)))


def facts_of(scores: Distribution, strategy: Strategy, chosen: int, dart: float | None) -> dict[str, str]:
    """Return the numbers for the sentences about a draw, as text."""
    left = int(np.count_nonzero(scores.after))
    facts = {"after": percent(scores.after[chosen]), "before": percent(scores.before[chosen]), "left": f"{left:,}"}
    facts |= {"all": f"{len(scores.before):,}", "seed": str(strategy.seed), "stages": "; ".join(stage_names(scores))}
    if dart is not None:
        likelier = scores.after > scores.after[chosen]
        start = float(scores.after[likelier].sum()) + float(
            scores.after[:chosen][scores.after[:chosen] == scores.after[chosen]].sum()
        )
        facts |= {"dart": f"{100 * dart:.2f}", "start": f"{100 * start:.2f}"}
        facts["end"] = f"{100 * (start + float(scores.after[chosen])):.2f}"
    return facts


def stage_names(scores: Distribution) -> list[str]:
    """Return the controls in their order, each with the number of tokens that it struck out."""
    return [
        f"{'ruled out by the model' if stage.name == 'model' else stage.name.replace('_', ' ')}"
        + (f" (struck out {len(stage.struck):,})" if len(stage.struck) else "")
        for stage in scores.stages
    ]


def name_of(look: Look, id: int) -> str:
    (token,) = look.spell_tokens([Token(id, look.model.token_text(id), 0, 0, look.model.is_special(id))], first=False)
    text = plain_sign(token.text) if look.beginner else token.text
    name = named(text) if text.strip() else label(text)
    return name.replace("*", r"\*")
