"""The door: `streamlit run app.py`.

The script that runs for each visitor is `ui/door.py`. It does not stand here because Streamlit takes a folder `pages` beside the
running script for its old pages mechanism, and would answer a link to a page with "Page not found" on a fresh server.
"""

import sys
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from ui.lessons import routes as lesson_routes
from ui.lexicon import routes as lexicon_routes
from ui.live import routes as live_routes
from ui.memory import malloc
from ui.rooms import routes as room_routes
from ui.rooms import whole
from ui.serving import (
    address,
    assets,
    base,
    base_path,
    bodies,
    connections,
    disconnects,
    early_requests,
    flood,
    guard,
    headers,
    leaving,
    message_filter,
    page_turns,
    probes,
    sending,
)

DOOR = Path(__file__).resolve().parent / "ui" / "door.py"

# Streamlit inserts the script's folder into sys.path for each run and removes it afterwards, unless it is there. An import on
# another thread that is going through sys.path at that moment skips an entry, and whatever was imported in part stays broken.
sys.path.append(str(DOOR.parent))
malloc.set_up()
ROUTES = [
    *assets.ROUTES,
    *address.ROUTES,
    *lexicon_routes.ROUTES,
    *lesson_routes.ROUTES,
    *probes.ROUTES,
    *room_routes.ROUTES,
    *live_routes.ROUTES,
]
app = st.App(
    DOOR,
    routes=base_path.add_below(ROUTES),
    lifespan=sending.lifespan,
    middleware=[
        *map(
            Middleware,
            (connections.Bounded, headers.Sealed, bodies.Bodies, guard.Guard, flood.Flood, message_filter.MessageFilter),
        ),
        *map(Middleware, (address.Address, base.Based)),
        *map(
            Middleware,
            (early_requests.EarlyRequests, leaving.Leaving, whole.Whole, page_turns.PageTurns, disconnects.Disconnects),
        ),
    ],
)
