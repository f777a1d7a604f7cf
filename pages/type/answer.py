"""The whole answer of an encoder-decoder as one plain line, which grows by itself while nobody types."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ui.escaping import plain
from ui.look import Look
from ui.memory import jobs, loaded
from ui.words import words

HERE = Path(__file__).parent
PLACE = "whole-answer"


def place(look: Look) -> None:
    """Draw the answer that begins with the text in the second box, finished by the model; draw nothing for other models."""
    model, trace = look.model, look.trace
    if model.info.kind != "encoder-decoder" or model.info.labels or trace.unembed is None:
        return
    name, text, begun = model.info.name, trace.text, look.second

    def work(report: jobs.Report) -> str:
        return loaded.go_on(name, text, begun, report)

    def draw(answer: str, ended: bool = False) -> None:
        line = plain(answer or begun)
        st.markdown(words(HERE, "whole answer", answer=line + ("" if ended else " …")))

    answer = jobs.beside(("whole answer", name, model.weights, text, begun), work, draw, PLACE)
    if answer is not None:
        with jobs.place(PLACE):
            draw(answer, ended=True)
