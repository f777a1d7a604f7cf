"""Page "Heads" in a real browser: a head is pressed, its label is explained, and page Attention opens it."""

from __future__ import annotations

import re

import pandas as pd
from playwright.sync_api import expect

from analysis import head_labels
from models import load
from viz import percent
from viz.numbers import signed

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


def test_the_table_that_is_taken_away_is_the_one_on_screen(open_page, tmp_path):
    page = open_page("/heads?level=expert&text=The+cat+sat&heads-label=token+before&heads-by=positions")
    main = page.get_by_test_id("stMain")
    table = main.locator(".hl-grid-view").nth(1)
    expect(table).to_be_visible(timeout=WAIT)
    expect(main.get_by_role("heading", name="Every score", exact=True)).to_be_visible(timeout=WAIT)
    table.get_by_text("As a table").click()
    expect(table.locator("table tr").nth(1)).to_be_visible()
    shown = [line.locator("th, td").all_inner_texts() for line in table.locator("table tr").all()]
    page.get_by_role("button", name="Take it away").click()
    page.get_by_role("combobox", name="Which picture").click()
    page.get_by_role("option", name="Every score of every head", exact=True).click()
    expect(page.get_by_test_id("stCode").filter(has_text="Every score of every head")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV", exact=True).click()
    file = tmp_path / "scores.csv"
    download.value.save_as(file)
    taken = pd.read_csv(file).pivot(index="head", columns="score", values="share")
    names, rows = shown[0][1:], [line[0] for line in shown[1:]]
    assert list(pd.read_csv(file)["head"].unique()) == rows, "in the order on screen, those with the label alone"
    assert taken.loc[rows, "positions"].is_monotonic_decreasing and len(rows) > 1
    for line in shown[1:]:
        for name, cell in zip(names, line[1:], strict=True):
            assert signed(taken.loc[line[0], name]) in cell
