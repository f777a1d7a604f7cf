"""Board "Lens": what the model would predict if it stopped after a layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from analysis.lens import Lens
from models.trace import Trace
from pages.layers import recipes
from pages.layers.settings import Predictions, Settings
from ui.look import Look
from ui.picture.board import Draft
from ui.picture.picture import Numbers, Picture
from viz.tokens import named, plain_name
from viz.views.board import Card, Part

KEY, MORE = "lens-board", "lens-more"
TITLE = "What each layer would guess"
TRANSFORM = "; t is a transform of the head: a matrix, an activation and a norm"


def add(draft: Draft, settings: Settings, reading: Predictions) -> None:
    """Add the board."""
    look, seen, positions = draft.look, reading.lens, reading.positions
    is_stale = look.beginner and has_changed(look, settings)
    at = len(look.trace.read) - 1 if is_stale else look.token_among(len(look.trace.read))
    column = positions.index(at) if at in positions else len(positions) - 1 if look.model.info.kind != "encoder" else 0
    last = len(seen.ids) - 1
    first = int(look.beginner)  # the input is no layer, so beginners do not see its row
    layer = last if settings.lens_layer is None or is_stale else min(max(settings.lens_layer, first), last)
    facts = _facts(look, seen, column, layer)
    drawings = _pictures(look, reading, settings.colour, column, layer)

    def part(name: str, picture: str) -> Part:
        return draft.part(name, Draft.picture, drawings[picture])

    def say(name: str, *headings: str) -> Part:
        return Part(name, None, draft.paragraph(*headings, **facts))

    words = f"lens{' tuned' * reading.tuned}"
    lens, position, answer = part("The lens", "lens"), part("This position", "layers"), part("The answer", "answer")
    titles = f"{facts['where']}, layer by layer", "How it comes to its answer"
    is_late = int(seen.settled[column]) > first
    finding = say("facts", "settled", *(["before"] if is_late else []))
    if look.beginner:
        cell = [say("cell", "cell")] if layer < last else []
        about = [words, *(["lens last"] if look.model.info.kind != "encoder" else []), f"{words} careful"]
        grid = [finding, lens, *cell, say("words", *about)]
        draft.add_cards(KEY, [Card(grid, TITLE)], TITLE)
        draft.add_cards(MORE, [Card([position], titles[0], 6), Card([answer], titles[1], 5)], titles[0])
        return
    grid = [finding, lens, say("words", words), say("careful", f"{words} careful")]
    way = [answer, say("cell", "cell")]
    draft.add_cards(KEY, [Card(grid), Card([position], titles[0], 6), Card(way, titles[1], 5)], TITLE)


def has_changed(look: Look, settings: Settings) -> bool:
    """Return whether another token now stands where the clicked column was, so that a beginner reads of the last one again."""
    if settings.lens_token is None or look.chosen_token != settings.lens_token[0]:
        return False
    place, id = settings.lens_token
    return place >= len(look.trace.read) or look.trace.read[place].id != id


def _layer_name(trace: Trace, layer: int) -> str:
    return "input" if layer == 0 else f"L{trace.numbers[layer - 1]}"


def _pictures(look: Look, reading: Predictions, colour: str, column: int, layer: int) -> dict[str, Picture]:
    """Return the pictures of this part by the part of the board that shows them."""
    seen, positions, tuned = reading.lens, list(reading.positions), reading.tuned
    model, read = look.model, look.spell_tokens(look.trace.read)
    options, tokens = {"positions": positions, "tuned": tuned}, [read[place].text for place in positions]
    place = {"column": column, "layer": layer}
    kind = "Tuned lens" if tuned else "Logit lens"
    where = f"{'at' if model.info.kind == 'encoder' else 'after'} “{named(tokens[column])}”"
    names: dict[str, Sequence] = {"stage": [_layer_name(look.trace, row) for row in range(len(seen.ids))], "position": positions}

    def texts(ids: np.ndarray) -> np.ndarray:
        return np.array([model.token_text(int(id)) for id in ids.ravel()], dtype=str).reshape(ids.shape)

    def cells() -> dict[str, Numbers]:
        each = {
            "probability": seen.probabilities[:, :, 0],
            "likeliest": texts(seen.ids[:, :, 0]),
            "rank of the answer": seen.rank,
            "probability of the answer": seen.probability,
            "nats to the answer": seen.kl,
        }
        of_position = {"token": np.array(tokens, dtype=str), "answer": texts(seen.answer)}
        of_cell = {name: Numbers(values, ("stage", "position"), names) for name, values in each.items()}
        return of_cell | {name: Numbers(values, ("position",), names) for name, values in of_position.items()}

    def layers() -> dict[str, Numbers]:
        ids, shares = seen.ids[:, column], seen.probabilities[:, column]
        each = {"probability": shares, "token": texts(ids), "id": ids}
        return {name: Numbers(values, ("stage", "place"), names) for name, values in each.items()}

    def answer() -> dict[str, Numbers]:
        each = {"probability": seen.probability, "rank": seen.rank, "nats to the answer": seen.kl}
        return {name: Numbers(values[:, column], ("stage",), names) for name, values in each.items()}

    def picture(part: str, recipe: Callable, numbers: Callable, title: str, of: str, more: dict) -> Picture:
        return Picture(
            recipe,
            (look,),
            options | more,
            KEY if part == "lens" or not look.beginner else MORE,
            numbers,
            words=of,
            title=title,
            part=part,
            takes=("model", "trace"),
            known={"predictions": seen},
        )

    grid = {"tokens": tokens, "colour": colour, "chosen": (layer, column), "simple": look.beginner}
    simple = place | {"simple": look.beginner}
    title = f"What each layer would guess by the {kind.lower()}"
    return {
        "lens": picture("lens", recipes.lens_cells, cells, title, "", grid),
        "layers": picture("layers", recipes.lens_position, layers, "The likeliest tokens of every layer", where, simple),
        "answer": picture("answer", recipes.lens_answer, answer, "The answer, layer by layer", where, simple),
    }


def _facts(look: Look, seen: Lens, column: int, layer: int) -> dict[str, object]:
    model, trace = look.model, look.trace
    place, settled = int(seen.positions[column]), int(seen.settled[column])
    token = named(look.spell_tokens(trace.read)[place].text)
    settled = max(settled, int(look.beginner))
    since = "from the input on" if settled == 0 else f"from {_layer_name(trace, settled)} on"
    if settled == len(seen.ids) - 1:
        since = f"only after the last layer, {_layer_name(trace, settled)}"

    def token_name(id: np.integer) -> str:
        text = model.token_text(int(id))
        return named(plain_name(text) if look.beginner else text)

    before = max(settled - 1, int(look.beginner))
    facts = {
        "before": _layer_name(trace, before),
        "before_best": token_name(seen.ids[before, column, 0]),
        "before_share": look.percent(seen.probabilities[before, column, 0]),
        "where": f"At “{token}”" if model.info.kind == "encoder" else f"After “{token}”",
        "answer": token_name(seen.answer[column]),
        "share": look.percent(seen.probability[-1, column]),
        "settled": since,
        "layer": _layer_name(trace, layer),
        "best": token_name(seen.ids[layer, column, 0]),
        "best_share": look.percent(seen.probabilities[layer, column, 0]),
        "rank": f"{seen.rank[layer, column]:,}",
        "answer_share": look.percent(seen.probability[layer, column]),
        "kl": f"{seen.kl[layer, column]:.3f}",
        "vocabulary": f"{model.info.vocabulary:,}",
        "d_model": model.info.d_model,
        "name": model.info.name,
        "place": place,
        "mean_settled": f"{np.mean(seen.settled):.1f}",
        "formula": model.way_out_formula("h"),
        "tuned_formula": model.way_out_formula("h + h·A + b"),
        "transform": TRANSFORM if "t(" in model.way_out_formula() else "",
        "before_last": _layer_name(trace, len(seen.ids) - 2),
        "first_kl": f"{seen.kl[0, column]:.3g}",
        "late_kl": f"{seen.kl[-2, column]:.3g}",
        "mean_first_kl": f"{seen.kl[0].mean():.3g}",
        "mean_late_kl": f"{seen.kl[-2].mean():.3g}",
        "same": int(sum(trace.read[at].id == best for at, best in zip(seen.positions, seen.ids[0, :, 0], strict=True))),
        "all": len(seen.positions),
    }
    return {name: str(value).replace("*", r"\*") for name, value in facts.items()}
