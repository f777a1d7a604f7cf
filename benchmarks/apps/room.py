"""The floor of a room: a bare app of two pages whose level and text follow who leads, by the room's own line and strip."""

import streamlit as st

from ui.rooms import routes

app = st.App("room_page.py", routes=list(routes.ROUTES))
