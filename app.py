"""The door: `streamlit run app.py`.

The script that runs for each visitor is `ui/door.py`. It does not stand here because Streamlit takes a folder `pages` beside the
running script for its old pages mechanism, and would answer a link to a page with "Page not found" on a fresh server.
"""

import streamlit as st
from starlette.middleware import Middleware

from ui.lexicon import fetched
from ui.memory import freed
from ui.rooms import routes, whole
from ui.serving import (
    address,
    assets,
    base,
    below,
    bodies,
    connections,
    early,
    flood,
    going,
    guard,
    headers,
    heard,
    leaving,
    probes,
    sending,
)  # fmt: skip

freed.set_up()
app = st.App(
    "ui/door.py",
    routes=below.base_path([*assets.ROUTES, *address.ROUTES, *fetched.ROUTES, *probes.ROUTES, *routes.ROUTES]),
    lifespan=sending.lifespan,
    middleware=[
        *map(Middleware, (connections.Bounded, headers.Sealed, bodies.Bodies, guard.Guard, flood.Flood, heard.Heard)),
        *map(Middleware, (address.Address, base.Based)),
        *map(Middleware, (early.Early, leaving.Leaving, whole.Whole, going.Going)),
    ],
)
