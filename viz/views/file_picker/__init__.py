"""A button that opens a file of text from the visitor's own device: the browser reads it, and nothing is uploaded."""

from __future__ import annotations

from viz.view import View, pack


def file_picker(label: str, *, ends: str, largest: int) -> View:
    """Draw a button that asks for a file. ends: how the name of one ends, such as ".json"; largest: bytes of one.

    When a file is chosen, `chosen` gets `{"text": what it says, "n": when}`; a larger one is refused with a sentence below the
    button.
    """
    return View("file_picker", pack({"label": label, "ends": ends, "largest": largest}), label)
