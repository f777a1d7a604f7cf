"""Sends small messages to the browser without compression.

Two thirds of a run's messages are shorter than 200 bytes. Compressing them saves a few bytes each, and costs the one thread that
sends to everybody a good part of its time: it releases Python’s lock, for which forty runs wait, twice for each message.

Gain: less processor time for each answer, at the price of a few more bytes; `benchmarks.replacements`, "small_messages". Needless
when uvicorn, which compresses all messages or none, has a minimum size. No upstream issue is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.frames import Opcode

if TYPE_CHECKING:
    from websockets.frames import Frame

SMALL = 200  # bytes

compress = PerMessageDeflate.encode


def encode(deflate: PerMessageDeflate, frame: Frame) -> Frame:
    """Return the result of websockets' own function of these arguments, or the uncompressed frame, which the protocol allows."""
    return frame if len(frame.data) < SMALL and frame.fin and frame.opcode is not Opcode.CONT else compress(deflate, frame)


def leave_as_they_are() -> None:
    """Let all lines of a server send small messages uncompressed."""
    PerMessageDeflate.encode = encode  # type: ignore[method-assign, assignment]
