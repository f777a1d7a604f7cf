"""A model of pictures on every page: some show what it does, and the others say in a sentence that they show texts."""

from __future__ import annotations

import base64
import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import models
from analysis import Attribution
from analysis.picture_heads import picture_head_labels
from models.edits import Head
from models.images.written import parse
from models.numbers.softmax import softmax
from pages.change import of_image
from pages.flow import recipes
from pages.overview import compose as overview
from pages.space import recipes as space
from tests.grids import grid, pairwise
from tests.pages.levels import flat, read
from tests.pages.opening import PAGES, open_link
from tests.pages.taking import header
from ui.choices import text_boxes
from ui.look import Choices, look_of
from ui.memory import loaded, pictures
from ui.picture.board import Draft
from ui.state import LEVELS
from viz.numbers import decimal, percent, tenths, whole_percent

OF_NO_MODEL = ("train", "lessons", "room")  # pages that show no result of the model in use


@pytest.mark.parametrize(
    ("page", "level"), grid(pairwise(PAGES, LEVELS), [(page, LEVELS[i % 3]) for i, page in enumerate(PAGES)])
)
def test_every_page_opens_with_a_model_of_pictures(page, level):
    app = open_link(page, f"model=digits&text=digit+3&level={level}")
    assert not app.warned and not app.error and not app.exception
    says_so = any("reads pictures, and page" in info.value for info in app.info)
    assert says_so == (
        page not in (*OF_NO_MODEL, "overview", "type", "attention", "layers", "explain", "space", "heads", "change", "flow")
    )


def test_page_heads_compares_each_head_with_its_shuffled_positions_over_the_held_out_digits():
    table = picture_head_labels(models.load("digits"))
    row = table[(table["layer"] == 1) & (table["head"] == 2)].iloc[0]
    app = open_link("heads", "model=digits&text=digit+3&level=intermediate&layer=L1&head=H2")
    on_screen = read(app)
    assert f"**{(table['label'] != '').sum()} of the {len(table)} heads have a label**" in on_screen
    assert all(f"{100 * row[name]:.1f}" in on_screen for name in ("neighbours", "neighbours_chance", "neighbours_null"))
    assert app.table[0].value.loc["own row", "positions shuffled"] == f"{tenths(row['row_chance'])} ± {tenths(row['row_spread'])}"
    assert app.table[0].value.loc["positions", "this head"] == f"{row['positional']:.2f}"


@pytest.mark.parametrize("level", LEVELS)
def test_page_heads_opens_with_a_head_without_a_label_and_from_a_token_that_is_no_patch(level):
    app = open_link("heads", f"model=digits&text=digit+3&level={level}&layer=L0&head=H2&token=0")
    assert not app.exception and not app.error
    assert level == "beginner" or "No label" in read(app)


@pytest.mark.parametrize("level", LEVELS)
def test_page_change_compares_the_labels_of_the_whole_picture_with_those_of_a_covered_one_without_a_head(level):
    whole = models.load("digits").predict("digit 8", top=1)[0]
    text, edits = "digit 8 without 2.2 3.2", [Head(1, 2)]
    changed = models.load("digits").trace(text, edits=edits).scores_at(0)
    before, after = whole.probability, softmax(changed.astype(np.float64))[8]
    spell = whole_percent if level == "beginner" else percent
    app = open_link("change", f"model=digits&text={text.replace(' ', '+')}&changes=h1.2&level={level}")
    assert not app.exception and not app.error and not app.warned
    on_screen = read(app)
    assert all(spell(share).split("\u00a0")[0] in on_screen for share in (before, after))


def test_page_change_offers_no_mean_over_texts_and_no_lines_for_a_picture():
    app = open_link("change", "model=digits&text=digit+3&level=expert")
    assert not app.exception
    assert [toggle.label for toggle in app.toggle] == ["Ablate each part by itself"]
    assert "Mean ablation is not offered here" in read(app)


def test_a_patch_is_covered_in_the_changed_picture_alone():
    whole, covered = loaded.read("digits", "digit 8"), loaded.read("digits", "digit 8 without 2.2")
    look = look_of(models.load("digits"), covered, "", Choices("intermediate"))
    changed = of_image.read_changed(look, ["h0.0"])
    assert changed.is_changed and changed.whole is not None and changed.fitting == ["h0.0"]
    np.testing.assert_array_equal(changed.whole.scores_at(0), whole.scores_at(0))
    expected = models.load("digits").trace("digit 8 without 2.2", edits=[Head(0, 0)]).scores_at(0)
    np.testing.assert_allclose(changed.trace.scores_at(0), expected, atol=1e-5)
    unchanged = of_image.read_changed(replace(look, trace=whole), [])
    assert not unchanged.is_changed and unchanged.whole is None


@pytest.mark.parametrize("level", LEVELS)
def test_page_flow_follows_the_label_back_to_the_patches(level):
    model = models.load("digits")
    trace = model.trace("digit 8")
    scores = Attribution(model, trace, 0, 8).scores("gradient rollout")
    best = int(scores[1:].argmax()) + 1
    app = open_link("flow", f"model=digits&text=digit+8&level={level}&token=3")
    assert not app.exception and not app.error and not app.warned
    on_screen = read(app)
    assert scores.sum() == pytest.approx(1)
    if level != "expert":
        first = "**{}** counts most" if level == "beginner" else "Gradient rollout puts **{}** first"
        assert first.format(trace.tokens[best].text) in on_screen
        share = whole_percent(scores[best]) if level == "beginner" else decimal(100 * scores[best])
        assert flat(share) in on_screen


@pytest.mark.parametrize("level", LEVELS[1:])
def test_page_flow_follows_the_label_from_layer_to_layer(level):
    trace = models.load("digits").trace("digit 8")
    attribution = Attribution(models.load("digits"), trace, 0, 8)
    app = open_link("flow", f"model=digits&text=digit+8&level={level}&show=Layer+by+layer")
    assert not app.exception and not app.error and not app.warned
    on_screen = read(app)
    assert all(f"After L{layer}" in on_screen for layer in range(3)) and "streams" in on_screen.lower()
    options = {"position": 0, "token": 8, "choices": (), "second": "", "scope_options": {}, "simple": False}
    for name in ("rollout", "gradient rollout"):
        drawn = [
            header(recipes.map_of_layer(models.load("digits"), trace, name=name, layer=layer, **options)) for layer in range(3)
        ]
        largest = [100 * attribution.scores(name, layer)[1:].max() for layer in range(3)]
        assert [each["values"]["largest"] for each in drawn] == pytest.approx(largest)


def test_page_flow_draws_the_scores_on_the_picture_and_shades_up_to_the_largest_of_a_patch():
    model = models.load("digits")
    trace = model.trace("digit 8")
    options = {"position": 0, "token": 8, "choices": (), "between": None, "second": "", "scope_options": {}, "simple": False}
    view = recipes.method(model, trace, name="rollout", link="flow", **options)
    scores = Attribution(model, trace, 0, 8).scores("rollout")
    drawn = header(view)
    assert scores[0] > scores[1:].max(), "[CLS] has more than any patch"
    assert drawn["values"]["largest"] == pytest.approx(100 * scores[1:].max())
    assert drawn["values"]["words"] == [decimal(100 * score) for score in scores]


def test_page_flow_puts_the_orders_of_a_picture_to_the_test():
    app = open_link("flow", "model=digits&text=digit+8&level=intermediate&show=Which+to+believe")
    assert not app.exception and not app.error
    on_screen = read(app)
    assert "One picture proves little" in on_screen and "falls where these are covered" in on_screen
    assert "Covered first, in this order: **row" in on_screen and "Masked first" not in on_screen


def test_page_type_shows_the_labels_of_the_picture_that_the_address_names():
    app = open_link("type", "model=digits&text=digit+7+without+2.2&level=intermediate")
    assert app.session_state["text"] == "digit 7 without 2.2"
    assert "Hidden: 1 of the 4 × 4 patches" in read(app)


def test_a_text_that_names_no_picture_is_refused_in_a_sentence_and_the_page_stands():
    app = open_link("type", "model=digits&text=etc/passwd", finished=False)
    assert ["“etc/passwd” is a text, and this model reads pictures" in error.value for error in app.error] == [True]
    with pytest.raises(ValueError, match="is a text, and this model reads pictures"):
        loaded.read("digits", "/etc/passwd")


def test_a_file_of_the_server_is_no_picture_of_a_page(tmp_path):
    path = tmp_path / "secret.png"
    Image.new("L", (8, 8), 255).save(path)
    assert models.load("digits").trace(path).tokens, "in Python a path is read"
    with pytest.raises(ValueError, match="is a text"):
        loaded.read("digits", str(path))


def test_a_hidden_patch_is_read_like_pixels_of_the_mean_colour():
    model = models.load("digits")
    pixels = parse("digit 5").pixels().copy()
    pixels[2:4, 4:6] = model.grid.mean[0]
    by_name = loaded.read("digits", "digit 5 without 2.3").scores_at(0)
    by_hand = model.trace(np.clip(pixels, 0, 1)).scores_at(0)
    np.testing.assert_allclose(by_name, by_hand, atol=0.02)  # 0.3 is no whole level of 255


def test_a_picture_of_a_visitor_is_found_by_its_name_alone_and_goes_with_its_visitor(monkeypatch):
    monkeypatch.setattr(pictures, "_images", {})
    file = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (9, 7, 3), dtype=np.uint8)).save(file, "PNG")
    name = pictures.keep(base64.b64encode(file.getvalue()).decode())
    assert pictures.is_own(f"{name} without 1.1") and not pictures.is_own("digit 3")
    whole, hidden = loaded.read("digits", name), loaded.read("digits", f"{name} without 1.1")
    assert whole.text == name and not np.allclose(whole.scores_at(0), hidden.scores_at(0))
    for leave in pictures.visitors.leaving:
        leave(lambda visitor: False)
    with pytest.raises(ValueError, match="goes when they leave"):
        loaded.read("digits", name)


@pytest.mark.parametrize("given", ["", "no base64 at all!", base64.b64encode(b"GIF89a").decode(), "A" * (pictures.LONGEST + 4)])
def test_what_is_no_picture_is_refused_in_a_sentence(given):
    with pytest.raises(ValueError, match=r"\.$"):
        pictures.keep(given)


def test_a_visitor_keeps_a_few_pictures_and_the_oldest_goes_first(monkeypatch):
    monkeypatch.setattr(pictures, "_images", {})
    names = []
    for level in range(pictures.AT_MOST + 2):
        file = io.BytesIO()
        Image.new("L", (8, 8), level).save(file, "PNG")
        names.append(pictures.keep(base64.b64encode(file.getvalue()).decode()))
    for name in names[:2]:
        with pytest.raises(ValueError, match="not here any more"):
            pictures.image_of(name)
    assert all(pictures.image_of(name).size == (8, 8) for name in names[2:])


def test_another_kind_of_model_brings_an_example_of_its_own_into_the_box():
    app = open_link("type", "model=digits")
    assert app.session_state["text"] == text_boxes.EXAMPLES["image"][0]
    app.selectbox(key="model").select("writer").run()
    app.run()
    assert parse(app.session_state["text"]).is_file, "a text again"


def test_page_space_compares_a_patch_with_all_others_by_the_cosine_of_their_states():
    trace = models.load("digits").trace("digit 3")
    states = trace.hidden["self"].astype(np.float64)
    units = states / np.linalg.norm(states, axis=-1, keepdims=True)
    expected = np.einsum("lnd,ld->ln", units, units[:, 7])
    np.testing.assert_allclose(space.likeness(trace.hidden["self"], 7), expected, atol=1e-6)
    app = open_link("space", "model=digits&text=digit+3&level=intermediate&colour=Row")
    at = max(range(1, 17), key=lambda place: trace.tokens[place].pixels.std())
    others = np.delete(units[-1] @ units[-1, at], [0, at])
    assert f"their cosine is {others.max():.2f}, where the median over all patches is {np.median(others):.2f}" in read(app)


@pytest.mark.parametrize("level", LEVELS)
def test_page_overview_leads_a_picture_to_its_label_with_the_pixels_of_each_patch(level):
    best = models.load("digits").predict("digit 8", top=1)[0]
    trace = models.load("digits").trace("digit 8")
    app = open_link("overview", f"model=digits&text=digit+8&level={level}")
    assert not app.exception and not app.error and not app.warned
    on_screen = read(app)
    spell = whole_percent if level == "beginner" else percent
    assert flat(spell(best.probability)) in on_screen and "row 2, column 3" in on_screen
    assert "cut" in on_screen and "vocabulary" not in on_screen
    look = look_of(models.load("digits"), trace, "", Choices(level))
    drawn = header(overview.picture(Draft(overview.HERE, look)).drawn)
    (lane,) = drawn["lanes"]
    shape = drawn["arrays"]["images-lane0"]["shape"]
    assert lane["pictured"] == [name != "[CLS]" and name != "" for name in lane["names"]] and shape[1:] == [2, 2, 3]
    places = [place for place, token in zip(lane["places"], lane["tokens"], strict=True) if token is not None]
    row = np.asarray(trace.attention["self"][look.layer][look.head][0])
    left_out = [at for at in range(len(row)) if at not in places]
    assert len(places) == 15 and max(row[left_out]) <= min(row[[at for at in places if at]]), "those that it looks at most stay"
