"""The pictures of two texts: the map of what each piece does, and the predictions beside each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from pages.change.texts import recipes
from pages.change.texts.asked import HERE, Asked
from ui.picture.picture import Numbers, Picture
from ui.words import words
from viz import Part, percent
from viz.numbers import in_hundred
from viz.tokens import named

BARS = {"beginner": 5, "intermediate": 6, "expert": 6}
LITTLE = {"logit difference": 0.5, "probability": 0.05, "KL": 0.05}  # a difference of two texts that hardly says anything
ALL, SOME = 0.5, 0.1  # of the answer, from which on a beginner reads that it comes back, or a little


def grid(asked: Asked, found: np.ndarray, tried: list[tuple[int, int]] | None, pictures: list[Picture]) -> Part:
    """The map. found: what each piece does; tried: the squares that show it, None for all."""

    def numbers() -> dict[str, Numbers]:
        rows, columns, _, _ = recipes.names(asked.patches, asked.part, False)
        across = "head" if asked.part == "head" else "token"
        return {"effect": Numbers(found.astype(np.float32), ("layer", across), {"layer": rows, across: columns})}

    drawing = asked.picture(
        recipes.effects, "map", "What each piece does", {"measure": asked.measure, "tried": tried}, numbers=numbers,
        known={"found": found},
    )  # fmt: skip
    pictures.append(drawing)
    above = words(HERE, "texts game" if asked.look.beginner else f"texts map {asked.direction}", **facts(asked))
    below = [*missing(asked), *little(asked)]
    below += [words(HERE, "texts most", **strongest(asked, found))] * (tried is None)
    below += [words(HERE, "texts always")] * (asked.part == "stream" and asked.kind != "encoder" and tried is None)
    return drawing.on_board(above, "\n\n".join(filter(None, below)))


def facts(asked: Asked) -> dict[str, str]:
    """What sentences say of the texts and their answers."""
    token, against = asked.answers
    low, high = asked.patches.ends(asked.measure, *asked.answers)
    spelt = {"answer": asked.spelt(token), "against": asked.spelt(against)}
    return spelt | {
        "measure": words(HERE, f"texts measure {asked.measure}", **spelt),
        "piece": words(HERE, f"texts piece {asked.part}"), "low": signed(low), "high": signed(high),
    }  # fmt: skip


def missing(asked: Asked) -> list[str]:
    """What is said of places that only one of the texts has."""
    ours, theirs = asked.patches.tokens(asked.patches.base), asked.patches.tokens(asked.patches.source)
    places = asked.patches.places
    if len(places) == len(ours) == len(theirs):
        return []
    alone = [named(token.text) for at, token in enumerate(ours) if at not in places]
    unused = [named(token.text) for at, token in enumerate(theirs) if at not in places.values()]
    said = ", ".join(f"“{text}”" for text in [*alone, *unused][:6]) + ("" if len(alone + unused) <= 6 else " …")
    heading = "texts unequal" if alone + unused else "texts equal"
    return [words(HERE, heading, ours=len(asked.look.trace.tokens), theirs=len(asked.other.trace.tokens), tokens=said)]


def little(asked: Asked) -> list[str]:
    """What is said where both texts have nearly the same answer."""
    low, high = asked.patches.ends(asked.measure, *asked.answers)
    return [words(HERE, "texts little")] * (abs(high - low) < LITTLE[asked.measure])


def strongest(asked: Asked, found: np.ndarray) -> dict[str, str]:
    """The square that does most; not the stream after the last layer, of which the prediction itself is made."""
    row, column = np.unravel_index(int(np.nanargmax(found[:-1] if asked.part == "stream" else found)), found.shape)
    return {"where": where(asked, (int(row), int(column))), "share": share_of(asked, float(found[row, column]))}


def where(asked: Asked, cell: tuple[int, int]) -> str:
    """A square in words."""
    _, _, rows, columns = recipes.names(asked.patches, asked.part, asked.look.beginner)
    at = rows[cell[0]], columns[cell[1]].replace("*", r"\*")
    return f"{at[1]} of {at[0]}" if asked.part == "head" else f"{at[1]}, {at[0]}"


def share_of(asked: Asked, share: float) -> str:
    return f"{100 * share:.0f}".replace("-", "−") if asked.look.beginner else signed(share)


def signed(value: float) -> str:
    return f"{value + 0.0:.2f}".replace("-0.00", "0.00").replace("-", "−")


def prediction(asked: Asked, found: np.ndarray | None, patched: np.ndarray | None, pictures: list[Picture]) -> tuple[Part, Part]:
    """What the text that is put into says, without and with the piece; and what the other one says. found: as in `grid`;
    patched: ln p [vocabulary] with the piece."""
    names = asked.names if asked.patches.denoises else asked.names[::-1]
    count = BARS[asked.look.level]
    source, base = ("clean", "corrupt") if asked.patches.denoises else ("corrupt", "clean")

    def drawing(which: str, title: str, **more: Any) -> Picture:
        def numbers() -> dict[str, Numbers]:
            ids = recipes.candidates(asked.patches, asked.answers, patched, count)
            tokens = {"token": [asked.look.model.token_text(id) for id in ids]}
            logs = {"without": asked.patches.logs[base]} if which == "base" else {"probability": asked.patches.logs[source]}
            logs |= {"with the piece": patched} if which == "base" and patched is not None else {}
            return {name: Numbers(np.exp(one[ids]), ("token",), tokens) for name, one in logs.items()}

        made = asked.picture(recipes.bars, which, title, {"which": which, "count": count}, numbers=numbers, **more)
        pictures.append(made)
        return made

    known = {} if patched is None else {"patched": patched}
    first = drawing("base", f"The answer of the {names[1]}, with the piece", known=known)
    second = drawing("source", f"The answer of the {names[0]}", known=known)
    above = "\n\n".join([sentence(asked, found, patched), words(HERE, "texts base", text=names[1])])
    return first.on_board(above), second.on_board(words(HERE, "texts source", text=names[0]))


def sentence(asked: Asked, found: np.ndarray | None, patched: np.ndarray | None) -> str:
    """What the piece does, in words."""
    if asked.cell is None or patched is None or found is None:
        return words(HERE, "texts press", **facts(asked))
    base, source = ("corrupt", "clean") if asked.patches.denoises else ("clean", "corrupt")
    write = in_hundred if asked.look.beginner else percent
    share, now = float(found[asked.cell]), int(patched.argmax())
    told: dict[str, str] = facts(asked) | {
        "where": where(asked, asked.cell), "share": share_of(asked, share), "now": asked.spelt(now),
    }  # fmt: skip
    for name, token in zip(("answer", "against"), asked.answers, strict=True):
        chances = {
            "before": asked.chance(base, token),
            "end": asked.chance(source, token),
            "after": float(np.exp(patched[token])),
        }
        told |= {f"{name}_{one}": write(chance) for one, chance in chances.items()}
    if not asked.look.beginner:
        return words(HERE, f"texts patched {asked.direction}", **told)
    return words(HERE, f"texts {'back' if share >= ALL else 'some' if share >= SOME else 'none'}", **told)
