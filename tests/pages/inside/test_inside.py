"""Page Inside: every stage opens and is spoken of, a number is followed back, and what is chosen stands in the link."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import models
from analysis import inside
from models.scratch import norms, transformer
from pages.inside import beginning, choose, code, detail, formulas, kept, naming, recipes, stops
from pages.inside import state as page_state
from pages.inside.compose import HERE
from pages.inside.opened import open_stage
from pages.inside.spots import Selection, Spot
from tests.models.networks import network, tokenizer
from tests.node import printed
from tests.pages.opening import open_link, words_on
from tests.serving import ROOT
from ui import state
from ui.lexicon.marks import sections
from ui.look import Look
from ui.memory import loaded
from ui.picture.board import Draft
from viz.views.sum_view import Product, sum_view
from viz.views.way_view import Stop, shades, way_view

TEXTS = {"writer": ("The cat sat", ""), "filler": ("The [MASK] sat", ""), "translator": ("The cat sleeps.", "Le chat")}
WAYS = [("writer", "self"), ("filler", "self"), ("translator", "encoder"), ("translator", "decoder")]


def look_of(name: str, stack: str, level: str = "expert") -> tuple[Look, inside.Way]:
    model = models.load(name)
    trace = model.trace(*TEXTS[name])
    look = Look(model, trace, "cross" if stack == "decoder" else stack, level, picked=(1, 2))
    return look, inside.follow(model, trace, 1, 2, stack=stack)


@pytest.mark.parametrize("level", state.LEVELS)
@pytest.mark.parametrize(("name", "stack"), WAYS)
def test_every_stage_of_our_models_has_words_of_its_own(name, stack, level):
    look, way = look_of(name, stack, level)
    draft = Draft(HERE, look)
    for stage in ("text", "pieces", *way.stages):
        _, gist = formulas.first_line(draft, stage)
        assert gist and formulas.explanation(draft, stage, {}), stage
        if not isinstance(stage, str) and stage.rule is not None and stage.name != "choice":
            assert all(formulas.factors(draft, stage)), stage.formula
            cell = way.explain(stage.name, (0,) * len(stage.axes))
            formula = formulas.put_in(draft, cell, stage, {})
            assert bool(formula) == (level != "beginner" or stage.formula in ("layer norm", "rms norm", "softmax")), stage.formula
            assert "{" not in formula, "each name in the words has a number"


@pytest.mark.parametrize("dimension", [3, 19])
def test_the_sum_of_a_turned_number_names_its_cosine_and_its_sine(dimension):
    look, way = look_of("writer", "self", "intermediate")
    draft, stage, index = Draft(HERE, look), recipes.stage_of(way, "turned queries"), (2, 3, dimension)
    cell = way.explain(stage.name, index)
    formula = formulas.put_in(draft, cell, stage, {})
    frequency = look.trace.attention["self"].rotary(1).frequencies[3]
    cos, sin = (formulas.figure(float(turn(3 * frequency))) for turn in (np.cos, np.sin))
    assert f"cos θ = {cos} and sin θ = {sin}" in formula and f"3 × {formulas.radians(frequency)} = " in formula
    sign, names = ("−", ["cos θ", "−sin θ"]) if dimension == 3 else ("+", ["cos θ", "sin θ"])
    assert f"cos θ {sign} x₂ · sin θ" in formula and f"× {cos}) {sign} (" in formula and f"× {sin}) = " in formula
    assert [naming.term(draft, way, stage, term).split(" · ")[1] for term in cell.terms] == names


@pytest.mark.parametrize(
    ("name", "stack", "level"),
    [
        ("writer", "self", "beginner"),
        pytest.param("filler", "self", "intermediate", marks=pytest.mark.thorough),
        pytest.param("translator", "encoder", "expert", marks=pytest.mark.thorough),
        pytest.param("translator", "decoder", "intermediate", marks=pytest.mark.thorough),
    ],
)
def test_every_stage_opens(name, stack, level):
    text, target = TEXTS[name]
    link = f"model={name}&text={text}&target={target}&level={level}&attention={stack.capitalize()}"
    link = link if name == "translator" else link.partition("&target")[0] + f"&level={level}"
    for stage in ("text", "pieces", *(stage.name for stage in look_of(name, stack)[1].stages)):
        app = open_link("inside", f"{link}&stage={stage}")
        assert not app.warned and app.session_state["stage"] == stage


def test_the_first_stage_is_open_for_a_beginner_until_it_is_closed():
    app = open_link("inside", "text=The cat sat&level=beginner")
    assert app.session_state["stage"] == "pieces"
    app.session_state["stage"] = ""
    assert app.run().session_state["stage"] == "", "it stays closed"
    assert "stage" not in open_link("inside", "text=The cat sat&level=intermediate").session_state


def test_a_beginner_follows_the_answer_or_the_text_that_was_typed():
    text, target = TEXTS["translator"]
    link = f"model=translator&text={text}&target={target}&level=beginner"
    app = open_link("inside", f"{link}&stage=cross weights")
    assert app.session_state["inside-text"] == "The answer" and app.session_state["stage"] == "cross weights"
    app.segmented_control(key="inside-text").set_value("Your text").run()
    assert app.session_state["stage"] == "", "the text that was typed looks at no other"
    app = open_link("inside", f"{link}&inside-text=Your text&stage=memory&token=3")
    assert not app.warned and app.session_state["stage"] == "memory" and "You follow the token “s”" in words_on(app)
    app = open_link("inside", f"{link}&block=encoder1&stage=weights")
    assert not app.warned and app.session_state["inside-text"] == "Your text"


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_the_ids_are_those_of_the_text_that_is_followed(stack):
    look, way = look_of("translator", stack)
    drawing = beginning.chips(look, way)
    assert drawing.numbers()["id"].values.tolist() == [token.id for token in way.tokens]
    assert drawing.drawn is not None


@pytest.mark.parametrize("text", ["", "a", "word " * 400])
def test_any_length_of_text_has_its_way(text):
    for stage in ("queries", "weights", "probabilities", "choice"):
        open_link("inside", f"text={text}&level=expert&stage={stage}")


def test_of_1024_tokens_a_window_is_shown_around_the_one_that_is_followed(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", str(tmp_path))
    network("GPT-2").save_pretrained(tmp_path)
    tokenizer("decoder").save_pretrained(tmp_path)
    text = "The cat sat on the mat, and the dog sat on the cat. " * 110
    assert len(loaded.model(str(tmp_path)).trace(text).tokens) == 1024
    for token, stage in ((0, "weights"), (512, "queries"), (1023, "choice")):
        app = open_link("inside", f"model={tmp_path}&text={text.strip()}&level=expert&token={token}&stage={stage}")
        assert "reads at most 1,024 tokens at a time" in words_on(app) and not app.warned
        assert app.session_state["stage"] == stage and app.session_state["token"] == token
        (way,) = (way for owner in kept.ways.owners for way in kept.ways.of(owner).values() if len(way.tokens) == 1024)
        assert token in way.window and len(way.window) == 64
        kept.forget(way.model)


@pytest.mark.parametrize(("name", "stack"), WAYS)
def test_numbers_that_are_shown_are_those_of_the_stage_and_their_terms_add_up(name, stack):
    look, way = look_of(name, stack)
    for stage in way.stages:
        if stage.name in ("ids", "choice"):
            continue
        here = open_stage(look, way, stage, Selection(stage.name))
        visible = recipes.plane(stage, here.rows, here.head)[:, here.columns]
        row, column = here.place
        drawn = visible[here.rows.index(row), here.columns.index(column)]
        assert drawn == pytest.approx(stage.at(here.index), rel=1e-6, abs=1e-5)
        cell = way.explain(stage.name, here.index)
        named, others = recipes.largest(cell)
        assert sum(term.product for term in (*named, *others)) == pytest.approx(cell.value, rel=1e-3, abs=1e-3)
        assert naming.rows(look, stage, here.rows) and naming.columns(look, stage, here.columns)


def test_a_number_is_followed_back_to_the_table_of_the_embedding():
    """From a logit, always by the largest term, through every layer."""
    _, way = look_of("writer", "self")
    place = inside.Place("logits", (len(way.tokens) - 1, 5), None, "self")
    layers, stages = set(), []
    for _ in range(400):
        terms, _ = recipes.largest(way.explain(*place))
        nearer = [term for term in terms if term.source is not None]
        if not nearer:
            break
        place = next((term.source for term in nearer if term.source.stage.endswith("stream")), nearer[0].source)
        layers.add(place.layer)
        stages.append(place.stage)
    assert place.stage == "ids" and {"embeddings", "stream", "output", "final norm"} <= set(stages)
    assert layers >= set(range(models.load("writer").info.layers))


@given(
    st.builds(
        Spot,
        st.from_regex("[a-z][a-z -]{0,20}[a-z]", fullmatch=True),
        st.lists(st.integers(0, 9999), min_size=1).map(tuple),
        st.none() | st.integers(0, 99),
        st.sampled_from(["self", "encoder", "decoder"]),
    )
)
def test_a_place_is_read_back_from_a_link(spot):
    assert Spot.read(str(spot)) == spot


@pytest.mark.parametrize("text", ["", "queries", "queries.1", "queries@self", "queries.1@", "queries.x@self", "queries.1@self-1"])
def test_what_is_no_place_is_not_read_as_one(text):
    assert Spot.read(text) is None


def test_the_code_is_that_of_the_file():
    _, way = look_of("writer", "self")
    sources = {stage.name: code.of(stage, way) for stage in way.stages}
    assert sources["final norm"] == inspect.getsource(norms.RMSNorm).rstrip()
    assert sources["queries"].splitlines()[0].strip() in inspect.getsource(transformer.MultiHeadAttention)
    assert all(sources[name] for name in sources if name not in ("ids", "choice"))


def test_the_expert_sees_code_and_the_beginner_sees_none():
    link = "text=The+cat+sat&stage=weights"
    assert "def weights(" in open_link("inside", f"{link}&level=expert").code[0].value
    assert not open_link("inside", f"{link}&level=beginner").code


def test_a_text_that_became_shorter_lets_a_number_go_without_a_complaint():
    app = open_link("inside", "text=The+cat+sat+on+the+mat&level=expert&stage=stream&cell=6.3")
    assert app.session_state["cell"] == "6.3"
    app.text_input[0].set_value("The cat").run()
    assert app.session_state["cell"] == "" and app.session_state["stage"] == "stream" and not app.warning


def test_a_link_waits_for_its_model(monkeypatch):
    monkeypatch.setattr(state, "LINK", state.Key("a-link", ("inside", {"stage": "weights"})))
    monkeypatch.setattr(state.st, "session_state", {"job": object()})
    assert state.take_linked_value(page_state.STAGE) is None
    state.st.session_state["job"] = None
    assert state.take_linked_value(page_state.STAGE) == "weights" and state.take_linked_value(page_state.STAGE) is None


def test_the_head_of_the_side_bar_is_the_one_that_is_followed():
    assert "L3 H5" in words_on(open_link("inside", "text=The+cat&level=intermediate&layer=L3&head=H5"))


def test_a_sum_that_does_not_add_up_is_refused():
    with pytest.raises(ValueError, match="add up"):
        sum_view("a number", 3.0, [Product("one", 1.0, 1.0, 1.0)])
    sum_view("a number", 3.0, [Product("one", 1.0, 1.0, 1.0)], (2, 2.0))
    sum_view("a hidden score", -np.inf, [Product("mask", -np.inf, -np.inf, 1.0)])


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2000))
def test_a_strip_shows_the_sign_of_what_is_largest_and_zero_as_none(values):
    cells, signed = shades(np.array(values))
    assert signed == (min(values) < 0) and len(cells) <= 256
    if len(values) <= 256:
        assert all(
            (cell > 128) == (value > 0)
            for cell, value in zip(cells, values, strict=True)
            if signed and abs(value) == max(map(abs, values)) and value
        )
        assert all(cell == (128 if signed else 0) for cell, value in zip(cells, values, strict=True) if value == 0)


def test_what_is_hidden_keeps_its_place_in_a_strip_and_has_no_colour():
    cells, signed = shades(np.array([-1.0, 2.0, -np.inf, -np.inf]))
    assert signed and len(cells) == 4 and cells[2:].tolist() == [128, 128]


def test_a_single_number_is_no_strip():
    assert way_view([Stop("ids", "Ids", values=np.array([7.0]))]).data and not len(shades(np.array([7.0]))[0])


def test_the_words_below_a_table_write_a_number_as_the_table_does():
    values = [-6.94, 0.17678, 73.513, 1.0, 3913.0, -0.0094, -0.09912, 123.46, 1234.6, -1e-9, 0.0, 0.9997, 0.9999999, -33.768]
    script = 'import { figure } from "./shared/number.js";\n' + f"for (const each of {values}) console.log(figure(each));"
    assert [formulas.figure(value) for value in values] == printed(script).splitlines()


@pytest.mark.parametrize(("text", "count"), [("", "into 0 tokens."), ("Hello", "into 1 token."), ("The cat", "into 2 tokens.")])
def test_pieces_are_counted_in_words_that_fit_their_number(text, count):
    assert count in words_on(open_link("inside", f"text={text}&stage=pieces&level=beginner"))


def test_beginners_go_back_through_layers_that_are_counted_from_zero():
    look, way = look_of("writer", "self", "beginner")
    spot = Spot("output", (2, 169), 5, "self")
    assert naming.spot(Draft(HERE, look), way, spot).startswith("L5 Added: ")


def test_a_long_trail_keeps_where_it_began_and_its_last_numbers(monkeypatch):
    look, _ = look_of("writer", "self")
    spots = [Spot("output", (0, number), 1, "self") for number in range(choose.FURTHEST + 9)]
    trail, gone = (), []
    monkeypatch.setattr(choose, "_go", lambda look, to, trail: gone.append(trail))
    for here in spots:
        choose.follow(look, here, trail, here)
        trail = gone[-1]
    assert trail == (spots[0], *spots[1 - choose.FURTHEST :])


@pytest.mark.parametrize("level", state.LEVELS)
@pytest.mark.parametrize(("name", "stack"), WAYS)
def test_where_something_is_added_to_the_stream_the_shortest_way_back_is_named_and_leads_to_the_embedding(name, stack, level):
    look, way = look_of(name, stack, level)
    draft = Draft(HERE, look)
    stages, place, named = {stage.name: stage for stage in way.stages}, "output", []
    while place != "stream":
        stage = stages[place]
        before = next(source for source in stage.inputs if "stream" in source)
        if sentence := detail.straight(draft, stage):
            assert f"**{formulas.name(draft, before)}**" in sentence
            named.append(place)
        place = before
    assert len(named) == sum("add" in stages[stage_name].formula for stage_name in named) >= 2
    assert not detail.straight(draft, stages["embeddings"]) and not detail.straight(draft, stages["feed-forward"])


def test_the_formula_of_a_matrix_has_a_bias_only_where_the_matrix_has_one():
    look, way = look_of("writer", "self", "intermediate")
    stage = recipes.stage_of(way, "queries")
    formula = formulas.put_in(Draft(HERE, look), way.explain("queries", (2, 3, 5)), stage, {})
    assert stage.rule.bias is None and formula.startswith("`y = Σ x · W`,")
    terms = (inside.Term("dimension 0", 2.0, 3.0, 6.0), inside.Term("bias", 1.0, 1.0, 1.0))
    cell = replace(way.explain("queries", (2, 3, 5)), value=7.0, terms=terms)
    assert formulas.put_in(Draft(HERE, look), cell, stage, {}).startswith("`y = Σ x · W + b`,")


def test_shares_are_written_with_the_same_places_and_other_numbers_with_three_digits():
    _, way = look_of("writer", "self", "intermediate")
    shares, scores = (recipes.writer_of(recipes.stage_of(way, name)) for name in ("weights", "scores"))
    assert [shares(value) for value in (1.0, 0.78, 0.0037, 0.00001)] == ["1.000", "0.780", "0.004", "0.000"]
    assert scores(-12.34) == "−12.3"


def test_the_main_stages_open_the_list_at_intermediate_and_the_small_ones_unfold():
    look, way = look_of("writer", "self", "intermediate")
    draft = Draft(HERE, look)
    attention = ("queries", "keys", "values", "scores", "weights", "mixed values", "attention stream")
    names = ("embeddings", *attention, "feed-forward", "output", "choice")
    assert [line.key for line in stops.lines(draft, way)] == [*names, stops.ORDER]
    assert [line.name.partition(". ")[0] for line in stops.lines(draft, way)][:-1] == [str(i) for i in range(1, 12)]
    with_open = [line.key for line in stops.lines(draft, way, "masked scores")]
    assert with_open[with_open.index("scores") + 1] == "masked scores" and len(with_open) == len(names) + 2
    assert len(stops.lines(draft, way, every_stage=True)) == len(names) + stops.small(way) + 1 == len(stops.names(way))


def test_beginners_go_through_the_seven_stations_of_the_overview_and_experts_see_all_stages():
    look, way = look_of("writer", "self", "beginner")
    assert [line.key for line in stops.lines(Draft(HERE, look), way)] == [
        "pieces",
        "embeddings",
        "weights",
        "mixed values",
        "feed-forward",
        "blocks",
        "choice",
        stops.ORDER,
    ]
    titles = ["Tokens", "Numbers", "Looking", "Mixing", "Feed-forward", "6 layers", "What comes next"]
    assert [line.name for line in stops.lines(Draft(HERE, look), way)][:-1] == titles
    own = sections(ROOT / "pages/overview/beginner.md")
    assert (
        titles[1] == own["name vectors"]
        and titles[-2] == own["name layers"].format(layers=6)
        and titles[-1] == own["name chances"]
    )
    assert len(stops.lines(Draft(HERE, replace(look, level="expert")), way)) > 20
    opened = stops.stations(way)
    assert opened["masked scores"] == "weights" and opened["ids"] == "pieces" and opened["logits"] == "choice"


def test_no_letter_of_the_strips_is_smaller_than_twelve_pixels():
    sheet = (ROOT / "viz/views/way_view/view.css").read_text("utf-8")
    assert (sizes := re.findall(r"font-size: ([\d.]+)px", sheet)) and min(map(float, sizes)) >= 12


def test_colours_are_explained_above_strips_and_nowhere_else():
    strip = Stop("ids", "Ids", values=np.array([-1.0, 7.0]))
    plain = Stop("a", "A")
    assert b"below zero" in way_view([strip], explained=[strip]).data
    assert b"below zero" in way_view([plain], explained=[plain, strip]).data, "a strip further down is explained too"
    assert b"below zero" not in way_view([strip]).data and b"below zero" not in way_view([plain], explained=[plain]).data


def test_intermediate_readers_see_the_product_and_the_score_of_one_pair():
    app = open_link("inside", "level=intermediate&text=Tom had a ball, and his dog ran after the&layer=L2&head=H1")
    attention = loaded.model("writer").trace("Tom had a ball, and his dog ran after the").attention["self"]
    row = attention[2][1, -1]
    best = int(row.argmax())
    queries, keys = attention.q(2)[1, -1], attention.k(2)[1]
    product = float(queries @ keys[best])
    on_screen = words_on(app)
    scaled = f"divided by √{len(queries)}, the score is **{product / len(queries) ** 0.5:.1f}**"
    assert f"query · key (both after the small steps in between) = {product:.1f}; {scaled}" in on_screen
    assert "no other head looks as much at the token before" in on_screen


def test_the_list_says_which_layers_do_the_same_again():
    model = models.load("writer")
    for layer, words in ((0, "L1 to L5"), (1, "L2, L3, L4 and L5"), (3, "L4 and L5"), (4, "L5"), (5, "")):
        look = Look(model, model.trace(TEXTS["writer"][0]), "self", "intermediate", picked=(layer, 2))
        way = inside.follow(model, look.trace, layer, 2, stack="self")
        heading = stops.later_layers(Draft(HERE, look), way)
        assert heading == (
            f"The same again in {words}, each with weights of its own" if words and words != "L2 to L5" else heading
        )
        assert bool(heading) == bool(words)
