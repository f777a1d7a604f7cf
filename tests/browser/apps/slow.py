"""The app with a Hub of one model, "owner/slow" (at any revision): the writer again, which comes when the file GATE is there."""

import itertools
import os
import time
from dataclasses import replace
from pathlib import Path

import streamlit as st

import models
from models.files.progress import Progress
from ui.serving import address, assets, sending

really_load = models.load


def load(name, device=None, report=lambda progress: None, dtype=None, reads=None):
    if not name.startswith("owner/slow"):
        return really_load(name, device, report)
    gate = Path(os.environ["GATE"] + name.rpartition("@")[2])
    for step in itertools.count():
        report(Progress("download", min(step, 540) * 10**6, 548 * 10**6))
        if gate.exists():
            break
        time.sleep(0.02)
    model = really_load("writer")
    model.info = replace(model.info, name=name, source="Hub")
    return model


models.load = load
app = st.App("../../../ui/door.py", routes=[*assets.ROUTES, *address.ROUTES], lifespan=sending.lifespan)
