"""What stands on a page, read from the elements that Streamlit sends."""

from __future__ import annotations

import json
import struct
from pathlib import Path

APPS = Path(__file__).parent / "apps"
STORY = "The farmer gave the hungry dog a bone, and the dog ran into the garden with it, where the cat sat in the sun and slept. "


def echoed(element) -> str | None:
    """The text that the bare app has answered."""
    if element.WhichOneof("type") == "text" and element.text.body.startswith("["):
        return element.text.body[1:-1]
    return None


def drawn(element) -> str | None:
    """The text whose tokens stand on Headlight's board."""
    if element.WhichOneof("type") != "bidi_component" or not element.bidi_component.component_name.startswith("headlight_board"):
        return None
    header, blocks = unpacked(element.bidi_component.bytes)
    for part in (part for card in header.get("cards", ()) for part in card["parts"]):
        if part["kind"] == "token_chips":
            chips, _ = unpacked(blocks[part["start"] : part["end"]])
            tokens = zip(chips["tokens"], chips["kinds"], strict=True)
            return "".join(piece.replace("·", " ") for pieces, special in tokens if not special for piece in pieces)
    return None


def unpacked(data: bytes) -> tuple[dict, bytes]:
    """The header of `viz.view.pack` and the raw bytes behind it."""
    (length,) = struct.unpack_from("<I", data)
    return json.loads(data[4 : 4 + length]), data[4 + length + -(4 + length) % 8 :]
