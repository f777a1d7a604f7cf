"""The door: `streamlit run app.py`.

The script that runs for each visitor is `ui/door.py`. It does not stand here because Streamlit takes a folder `pages` beside the
running script for its old pages mechanism, and would answer a link to a page with "Page not found" on a fresh server.
"""

import streamlit as st
from starlette.middleware import Middleware

from ui.memory import freed
from ui.serving import address, assets, going, guard, leaving, sending

freed.set_up()
app = st.App(
    "ui/door.py",
    routes=[*assets.ROUTES, *address.ROUTES],
    lifespan=sending.lifespan,
    middleware=[
        Middleware(guard.Guard),
        Middleware(address.Address),
        Middleware(leaving.Leaving),
        Middleware(going.Going),
    ],
)
