"""What has grown, as parts of a board: the text, shaded by where the model looked, and what comes next."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from models.generation import Step
from models.strategy import Distribution, Strategy
from models.tokens import Token
from pages.generate import doing, recipes, told
from pages.generate.grown import Grown
from ui.look import Look
from ui.picture.picture import Numbers, Picture
from ui.show import part
from ui.words import words
from viz import Part, percent
from viz.tokens import label, named, plain_sign

HERE = Path(__file__).parent
BARS = {"beginner": 6, "intermediate": 8, "expert": 12}
BOARD = "generate-board"


def the_text(grown: Grown, look: Look, pictures: list[Picture]) -> list[Part]:
    """The text, and below it a row for each of its tokens. pictures: those on the board, to add them to."""
    made = part("The text", text_part, grown, look, pictures), part("The rows", rows_part, grown, look, pictures)
    return [one for one in made if one.view or one.above]


def text_part(grown: Grown, look: Look, pictures: list[Picture]) -> Part:
    """The text with all that was said, shaded by where the chosen head looked when it chose a token. pictures: those on the
    board, to add it to."""
    made = of_rows(recipes.text, "The text so far", "text", grown, look)
    pictures.append(made)
    chat = f"\n\n{words(HERE, 'chat')}" if grown.beginning.chat else ""
    return made.on_board(words(HERE, "text", head=look.head_name) + chat, told.at_its_end(grown, look))


def rows_part(grown: Grown, look: Look, pictures: list[Picture]) -> Part:
    """A row for each token that was said, from where two of them are. pictures: as above."""
    made = of_rows(recipes.rows, "Where it looked", "rows", grown, look)
    if len(made.known["steps"]) < 2:
        return Part("rows", None)
    pictures.append(made)
    return made.on_board(words(HERE, "rows", head=look.head_name), late=True)


def of_rows(recipe: Any, title: str, name: str, grown: Grown, look: Look) -> Picture:
    """A picture of where the chosen head looked for each token that was said, and for what comes next."""
    steps, more = with_next(grown)
    kind = kind_of(steps[-1], look)
    options = {
        "said": what_was_said(grown), "more": more, "kind": kind, "layer": look.layer, "head": look.head,
        "chosen": chosen_row(grown, steps), "simple": look.beginner,
    }  # fmt: skip

    def numbers() -> dict[str, Numbers]:
        found = recipes.looks(steps, kind, look.layer, look.head)
        weights = np.full((len(steps), max(map(len, found))), np.nan, dtype=np.float32)
        for row, values in zip(weights, found, strict=True):
            row[: len(values)] = values
        keys = steps[-1].source if kind == "cross" else steps[-1].tokens
        sides = {"from": [step.tokens[-1].text for step in steps], "to": [token.text for token in keys]}
        chosen = [recipes.COMES if more and step is steps[-1] else step.token.text for step in steps]
        return {"weights": Numbers(weights, ("from", "to"), sides), "choosing": Numbers(np.array(chosen), ("from",), sides)}

    return picture(recipe, look, options, numbers, title, name, look.head_name, steps=steps)


def chosen_row(grown: Grown, steps: list[Step]) -> int:
    """The row of the step that is looked at, the last one while none is."""
    return len(steps) - 1 if grown.at is None or grown.at >= len(steps) else grown.at


def with_next(grown: Grown) -> tuple[list[Step], bool]:
    """The steps of the branch that is shown, with one for what comes next where that is known; and whether it is."""
    ahead, steps = grown.ahead, list(grown.steps)  # in this order: while it grows by itself, a token may be said just now
    return ([*steps, ahead], True) if ahead and ahead.position == len(steps) else (steps, False)


def kind_of(step: Step, look: Look) -> str:
    """Which attention is shown: an answer's own rows while the encoder's is chosen, which does not grow."""
    return look.kind if look.kind in step.attention else "cross"


def what_was_said(grown: Grown, line: list[Step] | None = None) -> dict[str, Any]:
    """What a notebook needs to have a branch said again, by default the one that is shown."""
    ids = [step.token.id for step in (grown.steps if line is None else line)]
    return {"ids": ids, "target": grown.beginning.target, "chat": grown.beginning.chat}


def picture(
    recipe: Any, look: Look, options: dict[str, Any], numbers: Any, title: str, name: str, of: str = "", **known: Any
) -> Picture:
    """A picture of the board."""
    return Picture(
        recipe, (look,), options, BOARD, numbers, words=of, title=title, part=name, takes=("model", "trace"), known=known
    )


def look_at(pressed: Any, grown: Grown, look: Look) -> None:
    """What a press on a word of the text, or on one of its rows, has looked at; the same again lets it go."""
    if pressed["part"] == "rows":
        steps, _ = with_next(grown)
        number = recipes.first_row(len(steps), chosen_row(grown, steps)) + pressed["value"][0]
    else:
        number = step_of(pressed["value"], grown, look)
    grown.at = None if number in (grown.at, None) or number >= len(grown.steps) else number


def step_of(position: int, grown: Grown, look: Look) -> int | None:
    """Which step a press on the text is about; None for what was typed, and for what comes next."""
    steps, more = with_next(grown)
    source, shown = recipes.read_and_said(steps, more, look.trace.text, grown.beginning.target)
    front = len(source) if kind_of(steps[-1], look) == "cross" else 0
    number = position - (front + len(shown) - len(steps))
    return number if 0 <= number < len(grown.steps) else None


def bars(grown: Grown, strategy: Strategy, look: Look, pictures: list[Picture]) -> Part:
    """The likeliest tokens before and after the controls, what was struck out, and what is chosen. pictures: as above."""
    step, past = grown.looked_at, grown.at is not None or bool(grown.ended)
    assert step is not None, "something was said, or comes next"
    growing = grown.run is not None and any(step is one for one in grown.steps)
    found = replace(step, strategy=strategy).distribution
    chosen, dart = found.choose(strategy, step.position)
    best = recipes.likeliest(found, chosen, BARS[look.level])
    options: dict[str, Any] = {"said": what_was_said(grown, grown.steps[: step.position]), "strategy": asdict(strategy)}
    options |= {"count": BARS[look.level], "percent": not look.beginner}

    def numbers() -> dict[str, Numbers]:
        columns = {"token": [look.model.token_text(id) for id in best], "id": best, "logit": step.logits[best]}
        columns |= {"before": found.before[best], "after": found.after[best], "struck": np.isneginf(found.final[best])}
        names = {"place": range(1, len(best) + 1)}
        return {name: Numbers(np.array(values), ("place",), names) for name, values in columns.items()}

    after = f"after “{label(step.tokens[-1].text)}”"
    made = picture(recipes.bars, look, options, numbers, "What comes next", "bars", after, step=step)
    pictures.append(made)
    facts: dict[str, object] = {"token": name_of(look, chosen), "said": name_of(look, step.token.id), "position": step.position}
    facts["by_one"] = doing.by_one(look.model.info)
    facts |= facts_of(found, strategy, chosen, dart)
    below = [words(HERE, "drawn" if dart is not None else "taken", **facts)]
    if past and chosen != step.token.id:
        below.append(words(HERE, "otherwise", **facts))
    below.append(words(HERE, "controls" if found.stages else "no controls", **facts))
    above = words(HERE, "growing" if growing else "past" if past else "next", **facts)
    return made.on_board(above, "\n\n".join(filter(None, below)))


def facts_of(found: Distribution, strategy: Strategy, chosen: int, dart: float | None) -> dict[str, str]:
    """Numbers that the words are about, as text."""
    left = int(np.count_nonzero(found.after))
    facts = {"after": percent(found.after[chosen]), "before": percent(found.before[chosen]), "left": f"{left:,}"}
    facts |= {"all": f"{len(found.before):,}", "seed": str(strategy.seed), "stages": "; ".join(stages(found))}
    if dart is not None:
        likelier = found.after > found.after[chosen]
        start = float(found.after[likelier].sum()) + float(
            found.after[:chosen][found.after[:chosen] == found.after[chosen]].sum()
        )
        facts |= {"dart": f"{100 * dart:.2f}", "start": f"{100 * start:.2f}"}
        facts["end"] = f"{100 * (start + float(found.after[chosen])):.2f}"
    return facts


def stages(found: Distribution) -> list[str]:
    """Each control in its turn, and how many tokens it struck out."""
    return [
        f"{'ruled out by the model' if one.name == 'model' else one.name.replace('_', ' ')}"
        + (f" (struck out {len(one.struck):,})" if len(one.struck) else "")
        for one in found.stages
    ]


def name_of(look: Look, id: int) -> str:
    (token,) = look.written([Token(id, look.model.token_text(id), 0, 0, look.model.is_special(id))], first=False)
    text = plain_sign(token.text) if look.beginner else token.text
    name = named(text) if text.strip() else label(text)
    return name.replace("*", r"\*")
