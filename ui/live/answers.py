"""Answers on the line: the boards of the newest text, composed as a run of the page composes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ui.live.message import Request, RequestError, read
from ui.live.visits import Visit
from ui.look import Choices, Look, look_of
from ui.memory import loaded, visitors
from ui.memory.measured import press
from ui.memory.turns import turn
from ui.parts import complaint
from viz.view import View, pack

if TYPE_CHECKING:
    from models.info import ModelInfo


def answer(message: str, visit: Visit) -> bytes | str:
    """Return the boards that a message asks for, packed; or as JSON a sentence of what is wrong, under “wrong”."""
    number = 0
    try:
        request = read(message)
        number = request.number
        if visit.composer is None or (request.page, request.model) != (visit.page, visit.model):
            raise RequestError("This line answers for the page that its visitor has open, with the model of that page.")
        with visitors.acting_for(visit.session), turn(), press(request.page):
            look, choices = look_at(request, visit)
            picks, changes = ({}, {}) if request.click is None else changes_of(request, visit, look)
            if picks:
                look = look_of(look.model, look.trace, second_of(request, look.model.info), replace(choices, **picks))
            board = visit.composer(look, {**request.values, **changes})
            check_frame(board.frame, visit)
            return packed(request, board.contents, picks, changes)
    except ValueError as error:
        return json.dumps({"number": getattr(error, "number", 0) or number, "wrong": str(error)})
    except Exception as error:
        return json.dumps({"number": number, "wrong": complaint("This text", error, "read")})


def look_at(request: Request, visit: Visit) -> tuple[Look, Choices]:
    """Read the text of a request, and return the look at it, and the choices that it is made of. Errors: ValueError, a sentence,
    for a layer or a head that the model does not have."""
    info, choices = loaded.info(request.model), request.choices
    if visit.lost == request.run:  # what a shorter text has lost does not come back with a longer one
        choices = replace(choices, token=None)
    second = second_of(request, info)
    trace, model = loaded.read(request.model, request.text, second), loaded.model(request.model)
    if trace.cut:
        raise RequestError("The model reads a part of this text, so a run of the page says which.")
    look = look_of(model, trace, second, choices)
    if choices.token is not None and look.chosen_token is None:
        visit.lost = request.run
    check_head(look)
    return look, choices


def changes_of(request: Request, visit: Visit, look: Look) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a click on the board changes of the choices that all pages share, and of the page's own. Errors: ValueError, a
    sentence, for a click that does something else."""
    picks = visit.picker(look, request.click) if visit.picker else None
    changes = visit.changer(look, request.click, request.values) if visit.changer else None
    if picks is None and changes is None:
        raise RequestError("A click that changes more than the picture is one for a run of the page.")
    return dict(picks or {}), dict(changes or {})


def second_of(request: Request, info: ModelInfo) -> str:
    """Return the second text, for a model that may read one."""
    return request.second if info.pairs or (info.kind == "encoder-decoder" and not info.labels) else ""


def check_frame(frame: object, visit: Visit) -> None:
    """Check that the sentences and views around a board are those on screen. Errors: ValueError, a sentence. frame: of
    the board (`ui.picture.board.Board.frame`)."""
    if frame is None or frame != visit.frame:
        raise RequestError("For this text the page has other sentences or views, which a run of the page places.")


def check_head(look: Look) -> None:
    """Check that the chosen layer and head exist. Errors: ValueError, a sentence."""
    layer, head = look.picked
    layers, heads = look.attention.layers, max(look.attention.counts)
    if layer is not None and layer >= layers:
        raise RequestError(f"There is no layer {layer}: this model has {layers}, counted from 0.")
    if head is not None and head >= heads:
        raise RequestError(f"There is no head {head}: a layer of this model has at most {heads}, counted from 0.")


def packed(request: Request, contents: Mapping[str, object], picks: Mapping[str, Any], changes: Mapping[str, Any]) -> bytes:
    """Pack the views of a board, by their keys. kinds: of the views inside each, as in the browser’s node; picks, changes: of a
    click, as in `changes_of`."""
    places, blocks, offset = {}, list[bytes](), 0
    for key, view in contents.items():
        if isinstance(view, View):
            places[key] = {"kinds": " ".join(view.uses), "start": offset, "end": offset + len(view.data)}
            blocks.append(view.data)
            offset += len(view.data)
    header = {"number": request.number, "run": request.run, "boards": places, "picks": picks, "values": changes}
    return pack(header, blocks=np.frombuffer(b"".join(blocks), dtype=np.uint8))
