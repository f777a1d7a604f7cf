"""Small messages go to the browser as they are.

Two thirds of what a run sends is shorter than 200 bytes. To compress those saves a few bytes of each, and costs the one thread
that sends to all a good part of what it does for them: twice each it lets go of Python’s lock, for which forty runs wait.

Gain: less processor time for each answer, for a few more bytes; `benchmarks.replacements`, "small_messages".
Needless when uvicorn, which has compression on or off for all, has a least size. No upstream issue is known.
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
    """What websockets' own function of these arguments gives, or the frame itself, as the protocol has it for any message."""
    return frame if len(frame.data) < SMALL and frame.fin and frame.opcode is not Opcode.CONT else compress(deflate, frame)


def leave_as_they_are() -> None:
    """Let all lines of a server send small messages so."""
    PerMessageDeflate.encode = encode  # type: ignore[method-assign, assignment]
