"""Board "Tokens": the tokens of the text, moving from layer to layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import pdist

from models.tokens import Patch
from pages.space import recipes, scene
from pages.space.settings import Settings, Tokens
from ui.escaping import starred
from ui.look import Look
from ui.picture.board import Draft, Note
from ui.picture.picture import Numbers, Picture
from viz.tokens import named

KEY, PATCHES = "space-view", "space-patches"
MOST = 200  # tokens that are compared in pairs
SINGLE = "One token has no place among others: the picture shows how tokens lie beside each other. Type a word."


def add(draft: Draft, settings: Settings, reading: Tokens) -> None:
    """Add the points, and explain them in the column of words."""
    look, trace, stack, places = draft.look, draft.look.trace, reading.stack, reading.places
    if len(places) < 2:
        draft.contents["space-single"] = Note(SINGLE, "info")
        return
    hidden, chosen = trace.hidden[stack][:, places], settings.chosen
    reads_picture = "image" in look.model.info.reads
    if reading.arranged:
        spelled = look.spell_tokens(trace.target if stack == "decoder" else trace.tokens)
        tokens = [spelled[place] for place in places]
        names = [token.text for token in tokens]
        columns: dict[str, Sequence] = {"token": names, "position": places}
        if not reads_picture:
            columns["part"] = recipes.word_parts(tokens)
        options = {"stack": stack, "places": places, "colour": settings.colour}
        values = recipes.colour_options(settings.colour, tokens, places, hidden)["values"]
        drawing = scene.picture(
            KEY,
            "Tokens as points",
            recipes.tokens,
            (look,),
            options,
            settings,
            reading.arranged,
            takes=("model", "trace"),
            names=names,
            hidden=hidden,
            columns=columns,
            values=values,
        )
        draft.add(drawing, KEY)
    if not look.beginner:  # of whom a single sentence is read
        draft.beside.append(Note("##### In words", "text"))
    about = "patches" if reads_picture else "tokens"
    if look.beginner:
        draft.say(about)
    if reads_picture:
        add_patches(draft, settings, reading)
    elif look.level != "expert":
        say_most_alike(draft, reading)
    if not look.beginner:
        draft.say(about, layers=len(hidden) - 1, d=look.model.info.d_model)
    before = len(draft.beside)
    draft.say("points image" if reads_picture else "points", draft.words("fold"))
    if reading.arranged:
        draft.beside += scene.faith(draft, reading.arranged, chosen)
        draft.beside[before:] = sorted(draft.beside[before:], key=lambda note: bool(note.fold))  # what is folded stays together
        if settings.colour == "Norm" and chosen.measure == "cosine":
            draft.say("norm")


def add_patches(draft: Draft, settings: Settings, reading: Tokens) -> None:
    """Add the picture itself, shaded by how alike each patch is to one of them, and the numbers beside what is usual."""
    look, places = draft.look, reading.places
    token = compared_patch(look, places, settings.followed)
    states = look.trace.hidden[reading.stack]
    cosines = recipes.likeness(states[[0, -1]], token)  # a run needs only the first and the last; a file has every layer
    name = look.trace.tokens[token].text
    drawing = Picture(
        recipes.patches_alike,
        (look,),
        {"stack": reading.stack, "token": token},
        PATCHES,
        lambda: {"cosine": Numbers(recipes.likeness(states, token), ("layer", "token"))},
        words=f"compared with {name}",
        title=f"How alike each patch is to {name} after the last layer",
        takes=("model", "trace"),
    )
    draft.contents["patches-title"] = Note(draft.words("title image", token=name), "text")
    draft.add(drawing, PATCHES)
    others = [at for at, token_at in enumerate(look.trace.tokens) if at != token and not token_at.special]
    if len(others) < 2:
        return
    best = max(others, key=lambda at: cosines[-1, at])
    facts = {
        "token": name,
        "best": look.trace.tokens[best].text,
        "end": scene.cosine_words(cosines[-1, best]),
        "start": scene.cosine_words(cosines[0, best]),
        "usual": scene.cosine_words(float(np.median(cosines[-1, others]))),
        "usual_start": scene.cosine_words(float(np.median(cosines[0, others]))),
    }
    draft.say("patches alike", **facts)


def compared_patch(look: Look, places: Sequence[int], followed: int | None) -> int:
    """Return the position of the followed token, else of the chosen one, else of the patch that varies most within itself."""
    if followed is not None and followed < len(places):
        return places[followed]
    if look.chosen_token is not None:
        return look.chosen_token
    contrast = [token.pixels.std() if isinstance(token, Patch) else -1 for token in look.trace.tokens]
    return int(np.argmax(contrast))


def say_most_alike(draft: Draft, reading: Tokens) -> None:
    """Say which two different words of the text are most alike after the last layer, and how alike they were before the first."""
    trace = draft.look.trace
    tokens = draft.look.spell_tokens(trace.target if reading.stack == "decoder" else trace.tokens)
    distinct: dict[int, int] = {}  # of each token, the first place
    for at, place in enumerate(reading.places[:MOST]):
        if not tokens[place].special and any(map(str.isalnum, tokens[place].text)):
            distinct.setdefault(tokens[place].id, at)
    pairs = scene.alike_pairs(trace.hidden[reading.stack][:, reading.places], list(distinct.values()))
    if pairs is None:
        return

    def names(prefix: str, pair: tuple[int, int]) -> dict[str, str]:
        first, second = (starred(f"“{named(tokens[reading.places[at]].text)}”") for at in pair)
        return {f"{prefix}first": first, f"{prefix}second": second}

    best = pairs.most_alike
    values = {"start": best.cosines[0], "end": best.cosines[-1], "usual": pairs.usual}
    facts = names("", best.places)
    facts |= {name: scene.cosine_words(value, scene.digits_of(draft.look)) for name, value in values.items()}
    if not draft.look.beginner:
        draft.say("most alike", **facts)
        return
    has_grown = best.cosines[-1] > best.cosines[0]
    draft.beside.append(
        Note(draft.paragraph("most alike", f"most alike {'grown' if has_grown else 'fallen'}", "most alike usual", **facts))
    )
    if (
        reading.arranged
        and (flat := nearest_drawn(reading.arranged.projection.points[-1], list(distinct.values()))) != best.places
    ):
        draft.say("most alike flat", **names("flat_", flat))


def nearest_drawn(points: np.ndarray, places: Sequence[int]) -> tuple[int, int]:
    """Return which two of these points lie nearest to each other in the picture. points: [point, direction]."""
    first, second = np.triu_indices(len(places), 1)
    best = int(pdist(points[list(places)]).argmin())
    return places[first[best]], places[second[best]]
