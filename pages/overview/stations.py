"""The words of the stations on page "Overview", and the page that each station leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from analysis.merging import unspaced
from ui.escaping import loadable_name, plain
from ui.lexicon.marks import Marked, Words
from ui.look import Look
from ui.picture.board import Draft, Note
from viz.numbers import decimal
from viz.tokens import named
from viz.views.stations_view import CELLS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from models.tokens import Token

STATIONS = ("tokens", "vectors", "look", "bridge", "mix", "forward", "layers", "chances")
PARTS = {
    "vectors": {"space": "Tokens"},
    "mix": {"stage": "mixed values"},
    "forward": {"stage": "feed-forward"},
    "layers": {"part": "Lens"},
}
PAGES = {
    "tokens": "type",
    "vectors": "space",
    "look": "attention",
    "bridge": "attention",
    "mix": "inside",
    "forward": "inside",
    "layers": "layers",
}


def words(draft: Draft, predicts: bool, token: str) -> dict[str, dict[str, str]]:
    """Return the words of the stations, at the reader's level and for this kind of model. predicts: whether the model predicts
    something at the shown position; token: the token there.
    """
    look = draft.look
    reader = Words(look.level, lambda: look.touched, None)  # what a script writes is no place for marks
    facts = facts_of(look)

    def texts(heading: str, **more: object) -> dict[str, str]:
        headings = {name: heading_of(draft, f"{heading} {name}", case_of(look)) for name in STATIONS}
        each = {name: reader(draft.folder, heading, **facts, **more) for name, heading in headings.items()}
        return {name: text for name, text in each.items() if text}

    def sentence(heading: str, case: str) -> str:
        return reader(draft.folder, heading_of(draft, heading, case), **facts)

    case = case_of(look)
    ends = {"rest": sentence("rest", case), "pointed": sentence("rest", "headless"), "no guess": ""}
    ends |= {name: sentence(name, case if predicts else "headless") for name in ("sum", "next")}
    ends["stripes"] = sentence("stripes", "")
    if look.beginner and (why := why_open(look)):
        ends["open"] = reader(draft.folder, "open", why=reader(draft.folder, why))
    if look.model.info.kind == "decoder" and predicts:
        ends |= {"again": sentence("again", ""), "start": sentence("start", "")}
    if word := cut_word(look):
        ends["cut"] = reader(draft.folder, "cut", word="".join(word), pieces=" + ".join(f"“{piece}”" for piece in word))
    if not of_image(look) and (sign := own_sign(look, look.trace.tokens)):
        ends["sink"] = reader(draft.folder, "sink", sign=sign)
    if not predicts:
        ends["no guess"] = sentence("no guess", case)
    titles = texts("name") | {"whole": reader(draft.folder, "name whole")}
    own = reader(draft.folder, "own", sign=sign) if (sign := own_sign(look, look.trace.read)) else ""
    notes = texts("note", token=token, own=f" {own}" if own else "")
    return {"titles": titles, "notes": notes, "steps": texts("step"), "rest": ends}


def of_image(look: Look) -> bool:
    """Return whether the model reads pictures."""
    return "image" in look.model.info.reads


def heading_of(draft: Draft, heading: str, case: str) -> str:
    """Return a heading in the variant for pictures where the model reads some, else in that of the model's case. Without labels,
    a picture has the words of a text without predictions where it has none of its own."""
    variants = (f"{case} image", case, "image") if case == "headless" else ("image", case)
    for variant in variants if of_image(draft.look) else (case,):
        if (of_variant := draft.heading_for(heading, variant)) != heading:
            return of_variant
    return heading


def own_sign(look: Look, tokens: Sequence[Token]) -> str:
    """Return the text of the first token if it is the model's own, which nobody typed; "" if it is typed."""
    first = tokens[0] if of_image(look) else look.spell_tokens(tokens)[0]
    return named(first.text) if first.special else ""


def cut_word(look: Look) -> list[str]:
    """Return the pieces of the last word that is cut into several tokens; [] if each word is one token."""
    pieces: list[str] = []
    word: list[str] = []
    end = -1
    for token in () if unspaced(look.trace.text) else look.trace.read:
        text = token.text.strip()
        goes_on = bool(word) and token.start == end and token.text[:1].isalpha()
        word = [] if token.special or token.fragment or not text.isalpha() else [*word, text] if goes_on else [text]
        pieces = word if len(word) > 1 else pieces
        end = token.end
    return pieces


def why_open(look: Look) -> str:
    """Return the heading of the reason why a head is the one that newcomers see first; "" for a head that was chosen."""
    first = look.favourite
    return f"why {first.does}" if (first.layer, first.head) == (look.layer, look.head) else ""


def case_of(look: Look) -> str:
    """Return the case of the words for a model: "labels", "headless", "encoder", "encoder-decoder", or "" for a decoder."""
    info = look.model.info
    if info.labels:
        return "labels"
    if not look.trace.predicts:
        return "headless"
    return "" if info.kind == "decoder" else info.kind


def facts_of(look: Look) -> dict[str, object]:
    info, trace, attention = look.model.info, look.trace, look.attention
    size = attention.v(look.layer).shape[-1] if info.queries else "d"
    return {
        "name": loadable_name(info.name),
        "tokens": len(trace.read),
        "d_model": info.d_model,
        "d_head": size,
        "vocabulary": f"{info.vocabulary:,}",
        "layers": len(trace.numbers),
        "heads": attention.heads,
        "other_heads": attention.heads - 1,
        "all_heads": sum(attention.counts),
        "size": info.d_model,
        "cells": min(CELLS, info.d_model),
        "kind": look.kind,
        "formula": attention.formula(look.layer).replace("√d", f"√{size}").replace("/√", "/\u2060√"),
        "way_out": look.model.way_out_formula("h") if trace.unembed else "",
        "mask": info.mask,
        "outcomes": len(info.labels.names) if info.labels else "",
        "parameters": decimal(info.parameters / 1e6),
    }


def links(look: Look) -> dict[str, str]:
    """Return the page that shows each station, with the entries that its address adds to this page's."""
    pages = PAGES | ({"chances": answering(look)} if look.trace.predicts else {})
    if of_image(look):  # page Inside shows no pictures
        pages = {name: page for name, page in pages.items() if page != "inside"}
    parts = {name: part_of(look, name) for name in pages}
    return {name: page + (f"?{urlencode(parts[name])}" if parts[name] else "") for name, page in pages.items()}


def part_of(look: Look, station: str) -> dict[str, str]:
    """Return the part of its page that shows a station, as an address writes it."""
    part = dict(PARTS.get(station, {})) if not of_image(look) or station != "layers" else {}
    if not look.trace.target or look.beginner:
        return part
    across = station == "bridge" or (station in ("mix", "forward") and look.kind != "decoder")
    if station == "mix" and across:
        part["stage"] = "cross mixed values"
    return part | ({"attention": "Cross"} if across else {})


def answering(look: Look) -> str:
    """Return the page that continues from the model's prediction."""
    return "explain" if look.model.info.kind == "encoder" or look.model.info.labels else "generate"


def choices(look: Look, station: str) -> dict[str, str]:
    """Return the choices with which a station's page opens, as an address writes them; layers by their index."""
    values = {"level": look.level}
    if not look.beginner:
        values |= {"layer": f"L{look.layer}", "head": f"H{look.head}"}
        values |= {"attention": look.kind.capitalize()} if look.trace.target else {}
    values |= part_of(look, station)
    if look.chosen_token is not None:
        values["token"] = str(look.chosen_token)
    return values


def sign_of(draft: Draft) -> Marked:
    """Return what beginners are told of the model's own first token; nothing where it has none."""
    sign = own_sign(draft.look, draft.look.trace.tokens)
    text = draft.words(heading_of(draft, "sign", ""), sign=plain(sign)) if sign else ""
    return Marked(f" {text}" if text else "")


def say(draft: Draft) -> None:
    """Say, below the picture, what it leaves out, and how a program gets its numbers."""
    look = draft.look
    facts: Mapping[str, object] = facts_of(look) | {"first": f"L{look.trace.numbers[0]}", "sign": sign_of(draft)}
    draft.say(heading_of(draft, "onward", ""))
    below = "below narrow" if look.narrow and look.level != "expert" else "below"
    draft.say(heading_of(draft, below, ""), draft.words("fold"), **facts)
    if code := draft.words(heading_of(draft, "code", ""), **facts):
        draft.beside.append(Note(code, "code"))
