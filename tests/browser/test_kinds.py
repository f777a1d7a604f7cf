"""Pages "Type" and "Attention" with an encoder and an encoder-decoder: models of every kind through the same door."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

import models
from tests.browser.places import chance
from viz import percent

TEXT = "The cat sat on the mat."
WAIT = 60_000


def box(page: Page):
    return page.get_by_label("Your text", exact=True)


def part(page: Page, name: str):
    return page.locator(f"[data-part='{name}']")


def chips(page: Page, name: str = "chips"):
    return part(page, name).get_by_role("option")


def bars(page: Page):
    return page.locator("[data-part^=bars]").get_by_role("button")


def press(page: Page, word: str) -> None:
    chips(page).filter(has_text=re.compile(rf"(^|\W){re.escape(word)}(\W|\d|id\s|$)")).first.click()


def test_a_press_covers_a_token_and_the_encoder_predicts_it(open_with, folders):
    page, model = open_with("BERT"), models.load(str(folders["BERT"]))
    expect(bars(page)).to_have_count(0)
    token = next(token for token in model.tokenize(TEXT) if token.text == " cat")
    covered = TEXT[: token.start].rstrip() + " <mask>" + TEXT[token.end :]
    press(page, "cat")
    expect(box(page)).to_have_value(covered)
    best = model.predict(covered, top=5)
    expect(bars(page)).to_have_count(5)
    for bar, prediction in zip(bars(page).all(), best, strict=True):
        expect(bar).to_contain_text(chance(page, prediction.probability))
    press(page, "<mask>")
    expect(box(page)).to_have_value(TEXT)
    expect(bars(page)).to_have_count(0)
    box(page).fill("the <mask> sat")  # one that is typed is a mask too
    expect(bars(page)).to_have_count(5)


def test_a_prediction_takes_the_place_of_the_mask(open_with, folders):
    text = "The <mask> sat on the <mask>."
    page, model = open_with("BERT", text=text, level="intermediate"), models.load(str(folders["BERT"]))
    expect(bars(page)).to_have_count(16)  # eight at each mask
    best = model.predict(text, top=8)
    expect(bars(page).nth(8)).to_contain_text(percent(best[8].probability))
    bars(page).nth(8).click()
    expect(box(page)).to_have_value(f"The <mask> sat on the {best[8].text.strip()}.")
    expect(bars(page)).to_have_count(8)


def test_special_tokens_can_be_hidden_and_a_second_text_is_read_with_the_first(open_with, folders):
    page, model = open_with("BERT", level="intermediate"), models.load(str(folders["BERT"]))
    tokens = model.tokenize(TEXT)
    expect(chips(page)).to_have_count(len(tokens))
    expect(part(page, "reading")).to_contain_text("add up to 100 %")
    page.get_by_text("Special tokens").click()
    expect(chips(page)).to_have_count(len(tokens) - 2)
    expect(part(page, "reading")).to_contain_text("add up to less than 100 %")
    press(page, "cat")
    expect(box(page)).to_have_value("The <mask> sat on the mat.")
    page.get_by_text("Two texts").click()
    page.get_by_label("Your second text").fill("the dog")
    expect(chips(page)).to_have_count(len(model.trace("The <mask> sat on the mat.", "the dog").tokens) - 3)


def test_a_model_without_a_head_says_so_and_shows_its_attention(open_with):
    page = open_with("BERT without a head", level="intermediate")
    expect(part(page, "bars")).to_contain_text("has no language-model head")
    expect(bars(page)).to_have_count(0)
    expect(part(page, "heads").locator("canvas").first).to_be_visible()


def test_an_encoder_decoder_answers_as_one_types(open_with, folders):
    page, model = open_with("T5", level="intermediate"), models.load(str(folders["T5"]))
    answer = page.get_by_label("The answer so far")
    answer.click()
    typed_text = ""
    for key in "the dog":
        page.keyboard.press("Space" if key == " " else key)
        typed_text += key
        expect(chips(page, "target")).to_have_count(len(model.trace(TEXT, typed_text).target))
        expect(bars(page).first).to_contain_text(percent(model.predict(TEXT, typed_text, top=1)[0].probability))
    expect(chips(page)).to_have_count(len(model.tokenize(TEXT)))
    best = model.predict(TEXT, typed_text, top=1)[0]
    bars(page).first.click()
    expect(answer).to_have_value(typed_text + best.text)


def test_the_cross_attention_of_an_encoder_decoder_has_a_row_for_each_token_of_the_answer(open_with, folders):
    page = open_with("T5", "attention", level="intermediate", attention="Cross", view="Heatmap", target="the dog sat")
    trace = models.load(str(folders["T5"])).trace(TEXT, "the dog sat")
    shape = [len(trace.target), len(trace.tokens)]
    page.wait_for_function(
        """([rows, columns]) => {
          const chart = document.querySelector('.js-plotly-plot')?.calcdata?.[0]?.[0];
          return chart && chart.z.length === rows && chart.z[0].length === columns;
        }""",
        arg=shape,
        timeout=WAIT,
    )
    expect(page.get_by_text("In words")).to_be_visible()
    assert page.locator(".stException, .stAlertContainer:has-text('went wrong')").count() == 0


def test_a_layer_that_the_other_stack_lacks_gives_way(open_with):
    page = open_with("T5", level="intermediate", attention="Encoder", layer="L2", target="the dog")
    expect(page.get_by_text("Where it looks through encoder L2")).to_be_visible()
    page.get_by_role("radio", name="Cross").or_(page.get_by_role("button", name="Cross")).first.click()
    expect(page.get_by_text(re.compile("Where it looks through cross L[01] H"))).to_be_visible()
    shown = page.get_by_text(re.compile("Where it looks through cross L[01] H")).inner_text()
    layer = re.search(r"L\d", shown)[0]
    expect(page.get_by_role("combobox", name="Layer")).to_have_value(layer)
    assert page.get_by_text("could not be drawn").count() == 0


def test_the_mask_follows_the_model(open_with, open_page, folders):
    """Another model has another mask, or none: then the words that were covered come back."""
    page = open_with("BERT")
    press(page, "cat")
    expect(box(page)).to_have_value("The <mask> sat on the mat.")
    picker = page.get_by_role("combobox", name="Model")
    picker.click()
    page.get_by_role("option", name="writer").click()
    expect(box(page)).to_have_value(TEXT, timeout=WAIT)
