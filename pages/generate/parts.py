"""Parts of the page's board: the text so far, shaded by where the model looked, and the next token's probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from models.generation.generate import Step
from models.generation.strategy import Distribution, Strategy
from models.tokens import Token
from pages.generate import recipes, wording
from pages.generate.boards.notices import end_notice
from pages.generate.settings import Grown, Settings
from ui.look import Look
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz import Card, Part, percent
from viz.tokens import label, named, plain_sign

if TYPE_CHECKING:
    from pages.generate.continuation import Continuation

BARS = {"beginner": 6, "intermediate": 8, "expert": 12}
BOARD = "generate-board"


def add(draft: Draft, settings: Settings, grown: Grown) -> None:
    """Add the text, and beside it the next token's probabilities, or during a run those of the last token."""
    title = draft.heading_for("title text", wording.output_kind(draft.look.model.info))
    cards = [
        Card(text_and_rows(draft, grown), draft.words(title), 6),
        Card([draft.part("What comes next", bars, settings.strategy, grown)], draft.words("title bars"), 5),
    ]
    draft.add_cards(BOARD, cards, "The text and what comes next", later=["grid_view"])  # the rows come with the second token


def add_beam(draft: Draft, settings: Settings, grown: Grown) -> None:
    """Add the text of one beam, and where the chosen head looked for each of its tokens."""
    card = Card(text_and_rows(draft, grown), draft.words("title beam", number=settings.beam + 1))
    draft.add_cards(BOARD, [card], draft.words("title text"))


def text_and_rows(draft: Draft, grown: Grown) -> list[Part]:
    """Return the text, and below it a row for each of its tokens."""
    parts = draft.part("The text", text_part, grown), draft.part("The rows", rows_part, grown)
    return [piece for piece in parts if piece.view or piece.above]


def text_part(draft: Draft, grown: Grown) -> Part:
    """Return the text with all generated tokens, shaded by where the chosen head looked when a token was chosen."""
    look = draft.look
    text_picture = attention_picture(recipes.text, "The text so far", "text", grown, look)
    above = draft.words("text", head=look.head_name) + (f"\n\n{draft.words('chat')}" if grown.beginning.chat else "")
    return draft.picture(text_picture, above, end_notice(draft, grown))


def rows_part(draft: Draft, grown: Grown) -> Part:
    """Return a row for each generated token, once there are two."""
    look = draft.look
    rows_picture = attention_picture(recipes.rows, "Where it looked", "rows", grown, look)
    if len(rows_picture.known["steps"]) < 2:
        return Part("rows", None)
    return draft.picture(rows_picture, draft.words("rows", head=look.head_name), late=True)


def attention_picture(recipe: Any, title: str, name: str, grown: Grown, look: Look) -> Picture:
    """Return a picture of where the chosen head looked for each generated token, and for the next one."""
    steps, more = steps_with_next(grown)
    kind = kind_of(steps[-1], look)
    options = {
        "answer": replay(grown),
        "more": more,
        "kind": kind,
        "layer": look.layer,
        "head": look.head,
        "chosen": chosen_row(grown, steps),
        "simple": look.beginner,
    }

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


def chosen_row(grown: Grown, steps: Sequence[Step]) -> int:
    """Return the row of the selected step, the last one while none is selected."""
    return len(steps) - 1 if grown.at is None or grown.at >= len(steps) else grown.at


def steps_with_next(grown: Grown) -> tuple[list[Step], bool]:
    """Return the steps of the current branch, with the next one if it is known, and whether it is."""
    next_step, steps = grown.next_step, list(grown.steps)
    return ([*steps, next_step], True) if next_step and next_step.position == len(steps) else (steps, False)


def kind_of(step: Step, look: Look) -> str:
    """Return the kind of attention on screen: the decoder's while the encoder's is chosen, which does not grow."""
    return look.kind if look.kind in step.attention else "cross"


def replay(grown: Grown | Continuation, line: Sequence[Step] | None = None) -> dict[str, Any]:
    """Return the options with which a notebook generates a branch again, by default the current one."""
    ids = [step.token.id for step in (grown.steps if line is None else line)]
    return {"ids": ids, "target": grown.beginning.target, "chat": grown.beginning.chat}


def picture(
    recipe: Any, look: Look, options: dict[str, Any], numbers: Any, title: str, name: str, subject: str = "", **known: Any
) -> Picture:
    """Return a picture of the board. subject: its text."""
    return Picture(
        recipe, (look,), options, BOARD, numbers, words=subject, title=title, part=name, takes=("model", "trace"), known=known
    )


def look_at(click: Any, continuation: Continuation, look: Look) -> None:
    """Select the step of a word of the text, or of a row, that was clicked; a second click clears the selection."""
    grown = continuation.grown()
    if click["part"] == "rows":
        steps, _ = steps_with_next(grown)
        number = recipes.first_row(len(steps), chosen_row(grown, steps)) + click["value"][0]
    else:
        number = step_of(click["value"], grown, look)
    continuation.at = None if number in (grown.at, None) or number >= len(grown.steps) else number


def step_of(position: int, grown: Grown, look: Look) -> int | None:
    """Return the number of the step at a position of the text; None for typed tokens, and for the next token."""
    steps, more = steps_with_next(grown)
    source, decoder_tokens = recipes.encoder_and_decoder_tokens(steps, more, look.trace.text, grown.beginning.target)
    leading = source if kind_of(steps[-1], look) == "cross" else []
    front = len(leading)
    groups = recipes.in_text([*leading, *decoder_tokens], look.beginner)[1]
    if position >= len(groups):
        return None
    number = groups[position][-1] - (front + len(decoder_tokens) - len(steps))
    return number if 0 <= number < len(grown.steps) else None


def bars(draft: Draft, strategy: Strategy, grown: Grown) -> Part:
    """Return the likeliest tokens before and after the controls, with those struck out and the chosen one."""
    look = draft.look
    step, past = grown.selected_step, grown.at is not None or bool(grown.end_reason)
    assert step is not None, "something was said, or comes next"
    growing = grown.running and any(step is other for other in grown.steps)
    scores = replace(step, strategy=strategy).distribution
    chosen, dart = scores.choose(strategy, step.position)
    best = recipes.likeliest_ids(scores, chosen, BARS[look.level])
    options: dict[str, Any] = {"answer": replay(grown, grown.steps[: step.position]), "strategy": asdict(strategy)}
    options |= {"count": BARS[look.level], "simple": look.beginner}

    def numbers() -> dict[str, Numbers]:
        columns = {"token": [look.model.token_text(id) for id in best], "id": best, "logit": step.logits[best]}
        columns |= {"before": scores.before[best], "after": scores.after[best], "struck": np.isneginf(scores.final[best])}
        names = {"place": range(1, len(best) + 1)}
        return {name: Numbers(np.array(values), ("place",), names) for name, values in columns.items()}

    after = f"after “{label(look.spell_tokens(step.tokens[-1:], False)[0].text)}”"
    bars_picture = picture(recipes.bars, look, options, numbers, "What comes next", "bars", after, step=step)
    facts: dict[str, object] = {"token": name_of(look, chosen), "said": name_of(look, step.token.id), "position": step.position}
    facts["by_one"] = wording.step_label(look.model.info)
    facts |= facts_of(scores, strategy, chosen, dart)
    drawn = "drawn" if past or growing else draft.heading_for("drawn", "next")
    below: list[str] = [draft.words(drawn if dart is not None else "taken", **facts)]
    if past and chosen != step.token.id:
        below.append(draft.words("otherwise", **facts))
    below.append(draft.words("controls" if scores.stages else "no controls", **facts))
    above = draft.words("growing" if growing else "past" if past else "next", **facts)
    return draft.picture(bars_picture, above, "\n\n".join(filter(None, below)))


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
