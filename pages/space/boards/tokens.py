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
from viz.numbers import whole_percent
from viz.tokens import named

KEY, PATCHES, ABOUT = "space-view", "space-patches", "space-about"
MOST = 200  # tokens that are compared in pairs
HALF = 0.5  # of the other pairs are less alike than a pair drawn at random, on average
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
    about, facts = "patches" if reads_picture else "tokens", {"layers": len(hidden) - 1, "d": look.model.info.d_model}
    if not reads_picture and look.level != "expert":
        draft.note(ABOUT, about, **facts)
        say_alike(draft, reading)
        draft.say("try")
    elif look.beginner:
        draft.say(about)
    if reads_picture:
        add_patches(draft, settings, reading)
    if not look.beginner and ABOUT not in draft.contents:
        draft.say(about, **facts)
    draft.say("points image" if reads_picture else "points", draft.words("fold"))
    if reading.arranged:
        draft.beside += scene.faith(draft, reading.arranged, chosen)
        draft.beside.sort(key=lambda note: bool(note.fold))  # what is folded stays together
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


def say_alike(draft: Draft, reading: Tokens) -> None:
    """Say which two different words of the text lie nearest to each other in the picture, and whether all of their numbers agree;
    then which two are most alike by all of their numbers, where these are others."""
    tokens = draft.look.spell_tokens(draft.look.trace.target if reading.stack == "decoder" else draft.look.trace.tokens)
    distinct: dict[int, int] = {}  # of each token, the first place
    for at, place in enumerate(reading.places[:MOST]):
        if not tokens[place].special and any(map(str.isalnum, tokens[place].text)):
            distinct.setdefault(tokens[place].id, at)
    places = list(distinct.values())
    pairs = scene.alike_pairs(draft.look.trace.hidden[reading.stack][:, reading.places], places)
    if pairs is None or reading.arranged is None:
        return
    near, best = nearest_drawn(reading.arranged.projection.points[-1], places), pairs.most_alike.places
    names = {at: starred(f"“{named(tokens[reading.places[at]].text)}”") for at in (*near, *best)}
    share, start = pairs.share_below(near, -1), pairs.share_below(near, 0)
    facts = {"first": names[near[0]], "second": names[near[1]], "share": whole_percent(share), "start": whole_percent(start)}
    facts |= {"cosine": scene.cosine_words(pairs.of(near)[-1]), "most_first": names[best[0]], "most_second": names[best[1]]}
    facts |= {"most": scene.cosine_words(pairs.most_alike.cosines[-1]), "usual": scene.cosine_words(pairs.usual)}
    draft.beside.append(Note(draft.paragraph("alike", *(["alike misled"] if share < HALF else []), **facts)))
    if near != best:
        draft.say("most alike", draft.words("fold") if draft.look.beginner else "", **facts)


def nearest_drawn(points: np.ndarray, places: Sequence[int]) -> tuple[int, int]:
    """Return which two of these points lie nearest to each other in the picture. points: [point, direction]."""
    first, second = np.triu_indices(len(places), 1)
    best = int(pdist(points[list(places)]).argmin())
    return places[first[best]], places[second[best]]
