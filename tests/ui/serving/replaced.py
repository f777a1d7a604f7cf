"""A mark for tests of a function that replaces one of Streamlit's: they are skipped where the switch leaves that as it is."""

from __future__ import annotations

import pytest

from ui.serving import replacements


def needs(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(replacements.is_left_out(name), reason=f"{replacements.SWITCH} leaves out {name}")
