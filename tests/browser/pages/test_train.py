"""Page "Train" in a real browser: a small transformer learns, can be paused, left, looked back on, opened and taken away."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable

from playwright.sync_api import Page, expect
from safetensors.torch import load as load_weights

from tests.browser.places import in_menu
from tests.browser.test_accessible import violations

WAIT = 60_000
SMALL = "train-layers=1&train-d_model=32&train-heads=2"

WATCH_TOASTS = """() => {
    window.toasts = [];  // all that appear: each soon goes again
    new MutationObserver(() => {
        for (const toast of document.querySelectorAll("[data-testid=stToast]")) toasts.push(toast.innerText);
    }).observe(document.body, { childList: true, subtree: true });
}"""


def begin(page: Page) -> None:
    expect(page.get_by_role("button", name="Start")).to_be_visible(timeout=WAIT)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=WAIT)
    page.get_by_role("button", name="Start").click(timeout=WAIT)
    expect(page.get_by_role("button", name="Reset", exact=True)).to_be_visible(timeout=WAIT)


def lines(page: Page) -> dict[str, list[float]]:
    """The curves that are drawn, by name."""
    return page.locator(".js-plotly-plot").first.evaluate(
        "plot => Object.fromEntries(plot._fullData.map(({ name, _input, y }) => [name, Array.from(y)]))"
    )


def stepped(page: Page) -> int:
    """The step that the progress names."""
    match = re.search(r"(?:Step|step|Done:) (\d+)", page.locator("[data-testid=stProgress]").inner_text())
    return int(match[1]) if match else 0


def test_it_learns_and_the_slider_goes_back_in_time(open_page):
    page = open_page(f"/train?level=intermediate&train-task=Copy&train-steps=60&{SMALL}", dark=True)
    expect(page.get_by_role("button", name="Start")).to_be_enabled(timeout=WAIT)
    page.wait_for_function("document.getElementById('headlight-style')")  # without it colours are not ours yet
    assert not (grave := violations(page)), "\n".join(grave)
    begin(page)
    expect(page.get_by_text("Done: 60 steps")).to_be_visible(timeout=WAIT)
    page.get_by_role("radio", name="Loss").or_(page.get_by_role("button", name="Loss")).first.click()
    page.wait_for_function("() => document.querySelector('.js-plotly-plot')?._fullData?.[0]?.name?.startsWith('examples')")
    loss = lines(page)
    learned, fresh = loss["examples it learns from"], loss["fresh examples"]
    assert len(learned) == 60 and sum(learned[-10:]) < 0.7 * sum(learned[:10]) and fresh[-1] < fresh[0]
    expect(page.get_by_text(re.compile(r"^Step 60: "))).to_be_visible()
    slider = page.get_by_role("slider", name="Step that is shown")
    slider.focus()
    slider.press("ArrowLeft")
    expect(page.get_by_text(re.compile(r"^Step 50: "))).to_be_visible()
    slider.press("Home")
    expect(page.get_by_text(re.compile(r"^Step 0: "))).to_be_visible()
    expect(page.get_by_text(re.compile(r"^L\d H\d at step 0$"))).to_be_visible()


def test_it_pauses_goes_on_while_one_is_away_and_is_let_go(open_page):
    page = open_page(f"/train?level=intermediate&train-task=Sort&train-steps=5000&{SMALL}")
    begin(page)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text(re.compile("^Paused at step"))).to_be_visible()
    paused = stepped(page)
    page.wait_for_timeout(1500)
    assert stepped(page) == paused
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    in_menu(page, "Build").click()
    expect(page.locator(".hl-architecture")).to_be_visible(timeout=WAIT)
    in_menu(page, "Train").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible(timeout=WAIT)
    assert stepped(page) > paused, "it went on meanwhile"
    page.reload()
    expect(page.get_by_role("button", name="Pause")).to_be_visible(timeout=WAIT)  # the browser is known
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text(re.compile(r"^Stopped after \d+ steps"))).to_be_visible()
    page.get_by_role("button", name="Reset", exact=True).click()
    expect(page.get_by_text("Nothing is trained yet")).to_be_visible()


def test_what_was_trained_opens_like_any_model_and_is_taken_away(open_page):
    """It takes a quarter of a minute: one trains, saves three files and goes through three pages, and another opens the link."""
    page = open_page(f"/train?level=expert&train-task=Dates&train-steps=40&train-d_ff=32&train-log=true&{SMALL}")
    begin(page)
    expect(page.get_by_text("Done: 40 steps")).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("button", name="Open on all pages")).to_be_visible()
    assert not (grave := violations(page)), "\n".join(grave)
    weights = load_weights(saved(page, "Weights (safetensors)"))
    assert weights["embedding.weight"].shape == (257, 32)
    with zipfile.ZipFile(io.BytesIO(saved(page, "Folder (zip)"))) as archive:
        assert {name.rpartition("/")[2] for name in archive.namelist()} == {"config.json", "model.safetensors", "tokenizer.json"}
    with zipfile.ZipFile(io.BytesIO(saved(page, "TensorBoard log (zip)"))) as archive:
        assert any("tfevents" in name for name in archive.namelist())
    page.evaluate(WATCH_TOASTS)
    page.get_by_role("button", name="Open on all pages").click()
    page.wait_for_function("() => toasts.some((words) => words.includes('The model now reads its own example'))")
    expect(page.locator("[data-testid=stSidebar]")).to_contain_text("1 layers × 2 heads", timeout=WAIT)
    expect(page.get_by_role("combobox", name="Model")).to_have_value("dates, 40 steps")
    expect(page).to_have_url(re.compile(r"model=dates%2C\+40\+steps.*trained=[0-9a-f]{8}"))
    words = re.sub(r"--logdir \S+", "", page.inner_text("body"))  # only who sits at the machine is told where the log lies
    assert "%2F" not in page.url and "/hl-" not in words
    other = open_page(page.url.replace("/train", "/").split("/", 3)[3].join(["/", ""]))  # somebody else with the link
    expect(other.get_by_role("combobox", name="Model")).to_have_value("dates, 40 steps", timeout=WAIT)
    expect(other.locator("[data-testid=stSidebar]")).to_contain_text("It was trained on page Train.", timeout=WAIT)
    expect(other.get_by_label("Your text")).to_have_value(re.compile(r"\d \w{3} \d{4}\|"))
    in_menu(page, "Attention").click()
    expect(page.locator(".hl-head-view, .hl canvas").first).to_be_visible(timeout=WAIT)
    expect(page.get_by_label("Your text")).to_have_value(re.compile(r"\d \w{3} \d{4}\|"))
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=WAIT)
    page.get_by_label("Your text").fill(9 * "A text that is far longer than a date. ")
    cut = page.get_by_text("tokens at a time, so the first")
    expect(cut).to_be_visible()
    in_menu(page, "Train").click()
    expect(page.get_by_role("button", name="Open on all pages")).to_be_visible(timeout=WAIT)
    expect(cut).to_have_count(0)  # here it is no matter what the model in use can read


def test_a_learning_rate_that_is_too_high_keeps_the_last_good_weights(open_page):
    page = open_page(f"/train?level=intermediate&train-task=Copy&train-rate=1000&{SMALL}")
    page.get_by_label("Learning rate", exact=True).fill("1000")
    begin(page)
    expect(page.get_by_text(re.compile("the learning rate, here 1000, is too high.*are kept"))).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("button", name="Reset", exact=True)).to_be_visible()


def saved(page: Page, name: str) -> bytes:
    with page.expect_download() as download_info:
        page.get_by_role("button", name=name).click()
    return download_info.value.path().read_bytes()


def test_two_visitors_train_at_once_and_each_keeps_his_own(open_page: Callable[..., Page]):
    pages = [open_page(f"/train?level=intermediate&train-task={task}&train-steps=20&{SMALL}") for task in ("Copy", "Reverse")]
    for page in pages:
        begin(page)
    for page, word in zip(pages, ("copy", "reverse"), strict=True):
        expect(page.get_by_text("Done: 20 steps")).to_be_visible(timeout=WAIT)
        expect(page.get_by_text(f"This one learns “{word}”")).to_be_visible()
    pages[0].get_by_role("button", name="Reset", exact=True).click()
    expect(pages[0].get_by_text("Nothing is trained yet")).to_be_visible(timeout=WAIT)
    pages[1].reload()
    expect(pages[1].get_by_text("This one learns “reverse”")).to_be_visible(timeout=WAIT)


def test_two_runs_are_compared_and_one_slider_moves_both(open_page):
    page = open_page(
        "/train?level=expert&train-task=Copy&train-steps=40&train-every=10&train-rows=4&train-d_model=16&train-d_ff=16"
    )
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("button", name="Compare with another run").click(timeout=WAIT)
    page.locator(".st-key-train-seed input").fill("5")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Start", exact=True).click()
    table = page.get_by_test_id("stTable")
    expect(table).to_contain_text("all runs (2 seeds)", timeout=WAIT)
    for seed in (0, 5):
        expect(page.get_by_text(f"seed {seed}, step 40")).to_be_visible(timeout=WAIT)
    slider = page.locator(".st-key-compared-time").get_by_role("slider")
    slider.focus()
    page.keyboard.press("Home")
    for seed in (0, 5):
        expect(page.get_by_text(f"seed {seed}, step 0")).to_be_visible(timeout=WAIT)
    page.get_by_role("button", name="Remove").last.click()
    expect(page.get_by_role("button", name="Reset")).to_be_visible(timeout=WAIT)


def test_a_sweep_is_cancelled_while_the_page_goes_on_and_begins_again(open_page):
    """The whole sweep takes minutes, so it is not waited for: `tests/pages/train/test_scale.py` reads what comes out of one."""
    page = open_page("/train?level=intermediate&sweep=Depth+or+width")
    page.get_by_text("Scale: how much does size help?").click(timeout=WAIT)
    page.get_by_role("button", name="Train 8 small models").click(timeout=WAIT)
    cancel = page.get_by_role("button", name="Cancel")
    expect(cancel).to_be_visible(timeout=WAIT)
    expect(page.get_by_text(re.compile("Run 1 of 8: 1 layer, width 88"))).to_be_visible(timeout=WAIT)
    assert not (grave := violations(page)), "\n".join(grave)
    cancel.click()
    expect(page.get_by_text("Cancelled.")).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("button", name="Start", exact=True)).to_be_enabled(timeout=WAIT)
    page.get_by_role("button", name="Start again").click()
    expect(cancel).to_be_visible(timeout=WAIT)
    cancel.click()
    expect(page.get_by_text("Cancelled.")).to_be_visible(timeout=WAIT)
