"""The functions of Streamlit and its server that Headlight replaces, and the switch that leaves them unchanged.

With HEADLIGHT_PLAIN_STREAMLIT=1 none is replaced; with a comma-separated list of names, all but these are. Each module's
docstring names the problem, the gain, and the change of Streamlit that would make it needless.
`python -m benchmarks.replacements` measures each. `ui.state` reads the session and the address past Streamlit's public functions;
its name here is "session".
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping

from ui.serving import batched_writes, bundles, lookups, loops, order, small_messages, theme, timers, typing_pause

SWITCH = "HEADLIGHT_PLAIN_STREAMLIT"
ALL = "1"
SESSION = "session"  # read by `ui.state` itself, which imports nothing of the server

REPLACEMENTS: dict[str, Callable[[asyncio.AbstractEventLoop], None]] = {
    "theme": lambda loop: theme.remember(),
    "typing_pause": lambda loop: typing_pause.read_simply(),
    "widget_values": lambda loop: lookups.look_up_one_by_one(),
    "component_values": lambda loop: lookups.present_for_reading(),
    "settings": lambda loop: lookups.read_settings_without_lock(),
    "order": lambda loop: order.keep(),
    "timers": lambda loop: timers.take_no_choices(),
    "bundles": bundles.hand_on,
    "small_messages": lambda loop: small_messages.leave_as_they_are(),
    "batched_writes": lambda loop: batched_writes.gather(),
    "loops": lambda loop: loops.rest(),
}


def is_left_out(name: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether a function is left unchanged. Errors: ValueError, a sentence, for a name that does not exist."""
    asked = {word.strip() for word in environment.get(SWITCH, "").split(",")} - {"", "0"}
    if unknown := sorted(asked - REPLACEMENTS.keys() - {ALL, SESSION}):
        known = ", ".join([*REPLACEMENTS, SESSION])
        raise ValueError(f"{SWITCH} is 1, or some of these names: {known}. It says {', '.join(unknown)}.")
    return bool(asked & {ALL, name})


def install(loop: asyncio.AbstractEventLoop) -> None:
    """Replace all functions that are not left out. loop: the event loop that sends to all browsers."""
    for name, replace in REPLACEMENTS.items():
        if not is_left_out(name):
            replace(loop)
