"""Page "Heads" in a real browser: a head is pressed, its label is explained, and page Attention opens it."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from analysis import head_labels
from models import load
from viz import percent

WAIT = 60_000


def test_a_label_is_opened_and_its_head_followed_to_attention(open_page):
    page = open_page("/heads?level=intermediate&text=The+cat+sat&layer=L0&head=H0")
    main = page.get_by_test_id("stMain")
    board = main.locator(".hl-grid-view").first
    expect(board).to_be_visible(timeout=WAIT)
    expect(main.get_by_role("heading", name="L0 H0", exact=True)).to_be_visible(timeout=WAIT)
    table = head_labels(load("writer"))
    best = table.loc[table["induction"].idxmax()]
    layer, head = int(best["layer"]), int(best["head"])
    board.get_by_text("As a table").click()
    cell = board.locator("table tr").nth(layer + 1).locator("td, th").nth(head + 1)
    expect(cell).to_contain_text(percent(best["induction"]))
    board.get_by_role("grid").focus()
    for key in ["ArrowDown"] * layer + ["ArrowRight"] * head + ["Enter"]:
        page.keyboard.press(key)
    expect(main.get_by_role("heading", name=f"L{layer} H{head}", exact=True)).to_be_visible(timeout=WAIT)
    expect(main).to_contain_text(f"it gives {percent(best['induction'])} of its attention".replace(" %", "\u00a0%"))
    expect(page).to_have_url(re.compile(rf"head=H{head}"))
    main.get_by_role("button", name=f"Open L{layer} H{head} in Attention").click()
    expect(main.get_by_role("heading", name="Attention", exact=True)).to_be_visible(timeout=WAIT)
    expect(page).to_have_url(re.compile(rf"attention\?.*layer=L{layer}"))
