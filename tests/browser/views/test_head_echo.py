"""The view of heads, where the app answers a press and then chooses by itself."""

from __future__ import annotations

import numpy as np
from playwright.sync_api import expect

from tests.browser.views.test_head_view import tokens
from viz import head_view


def test_a_head_that_the_app_chooses_again_is_no_echo_of_an_earlier_press(draw, redraw):
    eyes = np.stack([np.eye(2)] * 3)

    def alone(head: int):
        return head_view(tokens(["a", "b"]), tokens(["a", "b"]), eyes, heads=[head])

    page = draw(alone(0))
    page.get_by_role("button", name="H2", exact=True).dblclick()
    redraw(page, alone(2))  # the app's answer
    redraw(page, alone(1))  # its own
    expect(page.locator(".head[aria-pressed=true]")).to_have_text(["H1"])
    redraw(page, alone(2))  # its own again
    expect(page.locator(".head[aria-pressed=true]")).to_have_text(["H2"])
