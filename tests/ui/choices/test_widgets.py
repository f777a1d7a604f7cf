"""Whatever number a link asks for, the page stands and says what does not exist."""

from __future__ import annotations

import pytest

from tests.pages.opening import open_link, said


@pytest.mark.parametrize("asked", ["inf", "-1e999", "nan", "zzz"])
@pytest.mark.parametrize(
    ("page", "key"), [("build?build=Architecture", "build-layers"), ("train?", "train-steps"), ("generate?", "generate-seed")]
)
def test_no_number_without_an_end_is_taken_from_a_link(page, key, asked):
    page, link = page.split("?")
    app, plain = (open_link(page, f"level=expert&{link}{more}") for more in (f"&{key}={asked}", ""))
    assert "which does not exist here" in said(app)
    assert app.number_input(key=key).value == plain.number_input(key=key).value
