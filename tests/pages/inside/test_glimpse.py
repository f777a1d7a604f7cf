"""The first look at a stage for beginners: a computed sentence and one small picture, and the rest behind a button."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import models
from analysis import inside
from pages.inside import formulas, glimpse, happened, morals, recipes
from pages.inside.compose import HERE, compose
from pages.inside.opened import open_stage
from pages.inside.parts import of_stage
from pages.inside.settings import Glimpse, Opened, Settings
from pages.inside.spots import Selection
from tests.pages.mounting import mounted
from tests.pages.opening import open_link, words_on
from ui.look import Look
from ui.picture.board import Draft
from viz.numbers import whole_percent

STATIONS = ("embeddings", "weights", "mixed values", "feed-forward", "blocks")
LINK = "level=beginner&text=The+cat+sat+on+the"


def written(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def look_and_way(name: str = "writer") -> tuple[Look, inside.Way]:
    model = models.load(name)
    texts = ("The cat sleeps.", "Le chat") if name == "translator" else ("The cat sat on the",)
    look = Look(model, model.trace(*texts), "cross" if name == "translator" else "self", "beginner", picked=(1, 2))
    stack = "decoder" if name == "translator" else "self"
    return look, inside.follow(model, look.trace, 1, stack=stack, around=look.token)


def sentences_of(stage: str, name: str = "writer", level: str = "beginner") -> str:
    """The words above the small picture of a stage; of another level, its sentence alone."""
    look, way = look_and_way(name)
    if level != "beginner":
        look = replace(look, level=level)
        here = open_stage(look, way, recipes.stage_of(way, stage), Selection(stage))
        return morals.of_stage(Draft(HERE, look), here)
    here = open_stage(look, way, recipes.stage_of(way, stage), Selection(stage))
    draft = Draft(HERE, look)
    facts = glimpse.naming.facts(look, here.stage, glimpse.strongest(here))
    facts |= glimpse.computed(draft, here, glimpse.strongest(here))
    return f"{glimpse.sentences(draft, here, facts)} {morals.of_stage(draft, here)} {glimpse.below(draft, here, facts)}"


@pytest.mark.parametrize("stage", STATIONS)
def test_a_station_opens_with_words_about_this_token_and_its_strongest_number_and_one_picture(stage):
    look, way = look_and_way()
    words = sentences_of(stage)
    assert "“the”" in words and "**" in words and "{" not in words
    row = np.abs(recipes.plane(recipes.stage_of(way, stage), [look.token], 2)[0])
    if stage != "weights":
        assert f"number {int(row.argmax())}" in words
    (reading,) = of_stage(look, way, Selection(stage))
    board = compose(look, Settings(Selection(stage)), reading)
    assert isinstance(reading, Glimpse) and len(board.pictures) == 1


@pytest.mark.parametrize("name", ["filler", "translator", "sorter"])
def test_every_stage_of_every_kind_of_model_has_a_first_look(name):
    if name == "translator":
        look, way = look_and_way(name)
    else:
        model = models.load(name)
        look = Look(model, model.trace("The cat sat on the mat."), "self", "beginner", picked=(1, 2))
        way = inside.follow(model, look.trace, 1, around=look.token)
    for stage in way.stages:
        if not recipes.known(stage):
            continue
        first, *more = of_stage(look, way, Selection(stage.name, (0,) * len(stage.axes)))
        assert isinstance(first, Glimpse) and len(compose(look, Settings(), first).pictures) == 1, stage.name
        assert [type(reading) for reading in more] == [Opened] * first.folds


def test_what_was_mixed_names_the_token_that_was_looked_at_most():
    look, way = look_and_way()
    shares = recipes.plane(recipes.stage_of(way, "weights"), [look.token], 2)[0]
    token = look.spell_tokens(look.trace.tokens)[int(shares.argmax())].text.strip()
    assert f"“{token}”" in sentences_of("mixed values") and f"“{token}”" in sentences_of("weights")


def test_the_row_most_like_a_token_is_that_of_the_smallest_angle_in_the_embedding():
    look, _ = look_and_way()
    words, tokens, table = (
        sentences_of("embeddings", level="intermediate"),
        look.trace.tokens,
        look.model.embedding().astype(np.float64),
    )
    own = table[tokens[look.token].id]
    cosines = table @ own / np.linalg.norm(table, axis=1) / np.linalg.norm(own)
    others = {token.id for token in tokens if not token.special and token.id != tokens[look.token].id}
    best = max(others, key=lambda id: cosines[id])
    assert f"“{look.model.token_text(best).strip()}” has the vector most like it:** cosine {written(cosines[best])}." in words
    assert f"“{look.model.token_text(best).strip()}” comes nearest" in sentences_of("embeddings") or "chance" in sentences_of(
        "embeddings"
    )
    drawn = np.random.default_rng(1).choice(cosines, (4000, len(others))).max(1)
    chance = float(re.search(r"usually has (\S+)\.", words)[1].replace("−", "-"))
    assert abs(chance - np.median(drawn)) < 0.05


def test_the_offer_that_fits_best_is_the_one_with_the_largest_weight():
    look, way = look_and_way()
    weights = recipes.plane(recipes.stage_of(way, "weights"), [look.token], 2)[0]
    words = sentences_of("queries", level="intermediate")
    best, tokens = int(weights.argmax()), look.spell_tokens(look.trace.tokens)
    whose = "its own key" if best == look.token else f"the key of “{tokens[best].text.strip()}”"
    assert f"Of {look.token + 1} tokens, {whose} fits this query best" in words
    numbers = re.search(r"score (\S+); the middle score is (\S+)\.", words).groups()
    high, middle = (float(number.replace("−", "-")) for number in numbers)
    typical = np.median(np.log(weights[: look.token + 1])) - np.log(weights[best])
    assert high - middle == pytest.approx(-typical, abs=0.06)


def test_the_guess_that_the_feed_forward_part_helps_is_named_only_where_no_random_change_helps_as_much():
    look, _ = look_and_way()
    added = look.trace.parts["self"]["feedforward"][1][look.token]
    after = look.trace.stream[2][look.token]
    before, later = (look.model.chances(look.trace.unembed(row[None]))[0] for row in (after - added, after))
    guess = int((later - before).argmax())
    drawn = np.random.default_rng(0).standard_normal((morals.DRAWS, len(added)))
    drawn *= np.linalg.norm(added) / np.linalg.norm(drawn, axis=1, keepdims=True)
    gains = look.model.chances(look.trace.unembed((after - added + drawn).astype(np.float32))) - before
    as_much = int((gains.max(1) >= later[guess] - before[guess]).sum())
    words = sentences_of("feed-forward", level="intermediate")
    assert f"by {whole_percent(np.linalg.norm(added) / np.linalg.norm(after - added))} of its length" in words
    named = f"“{look.model.token_text(guess).strip()}” most: from {whole_percent(before[guess])} to "
    assert (named in words) == (as_much == 0)
    plain_words = sentences_of("feed-forward")
    assert (named in plain_words) == (as_much == 0)
    assert ("no more than chance" in plain_words) == (as_much > 0)
    assert f"{as_much or 'None'} of {morals.DRAWS} random changes of that size" in words


def test_a_row_of_many_numbers_is_sixteen_squares_each_the_strongest_of_its_neighbours():
    look, way = look_and_way()
    here = open_stage(look, way, recipes.stage_of(way, "embeddings"), Selection("embeddings"))
    drawn = glimpse.strip(Draft(HERE, look), here).numbers()["value"].values
    table = look.model.embedding([look.trace.tokens[look.token].id])[0]
    groups = table.reshape(16, -1)
    assert drawn[0] == pytest.approx(groups[np.arange(16), np.abs(groups).argmax(1)], abs=1e-6)
    own_column = 48 + int(np.abs(table[48:64]).argmax())
    assert glimpse.pressed(here, 0, 3) == (here.stage, look.token, own_column)


def test_below_the_squares_of_a_token_stand_the_rows_most_and_least_like_it_and_a_click_leads_to_their_numbers():
    look, way = look_and_way()
    here = open_stage(look, way, recipes.stage_of(way, "embeddings"), Selection("embeddings"))
    tokens, table = look.trace.tokens, look.model.embedding().astype(np.float64)
    units = table / np.linalg.norm(table, axis=1, keepdims=True)
    own = tokens[look.token].id
    others = sorted(
        {token.id for token in tokens if not token.special and token.id != own}, key=lambda id: units[id] @ units[own]
    )
    assert [tokens[place].id for place in glimpse.compared(here)] == [others[-1], others[0]]
    drawn = glimpse.strip(Draft(HERE, look), here).numbers()["value"].values
    for line, id in ((1, others[-1]), (2, others[0])):
        groups = table[id].reshape(16, -1)
        assert drawn[line] == pytest.approx(groups[np.arange(16), np.abs(groups).argmax(1)], abs=1e-6)
        _, row, column = glimpse.pressed(here, line, 3)
        assert tokens[row].id == id and column == 48 + int(np.abs(table[id][48:64]).argmax())


def test_the_numbers_stand_behind_a_button_and_a_link_to_a_number_shows_them():
    app = open_link("inside", f"{LINK}&stage=queries")
    closed = len(mounted(app))
    assert app.button(key="inside-fold").label.startswith("Show every number") and "cell" not in app.session_state
    app.button(key="inside-fold").click().run()
    assert len(mounted(app)) == closed + 1 and app.session_state["cell"]
    assert app.button(key="inside-fold").label.startswith("Hide")
    app.button(key="inside-fold").click().run()
    assert len(mounted(app)) == closed and not app.session_state["cell"]
    assert len(mounted(open_link("inside", f"{LINK}&stage=queries&cell=1.2.3"))) == closed + 1


def test_the_neurons_stand_behind_the_button_too_and_a_link_to_one_shows_it():
    link = f"{LINK}&stage=feed-forward"
    assert "The neurons that fire most" not in words_on(open_link("inside", link))
    app = open_link("inside", f"{link}&neuron=7")
    assert "The neurons that fire most" in words_on(app)
    app.button(key="inside-fold").click().run()
    assert "The neurons that fire most" not in words_on(app) and not app.exception


@pytest.mark.parametrize("level", ["intermediate", "expert"])
def test_higher_levels_show_all_at_once(level):
    look, way = look_and_way()
    look = Look(look.model, look.trace, "self", level, picked=(1, 2))
    (reading,) = of_stage(look, way, Selection("queries"))
    assert isinstance(reading, Opened)
    assert [picture.part for picture in compose(look, Settings(), reading).pictures] == ["matrix", "row", "cell"]


def test_a_beginner_goes_from_station_to_station_by_a_button():
    app = open_link("inside", "level=beginner")
    names = []
    while "inside-next" in {button.key for button in app.button}:
        names.append(app.button(key="inside-next").label.removeprefix("Next: "))
        app.button(key="inside-next").click().run()
        assert not app.exception and len(names) < 20
    assert names == ["Numbers", "Looking", "Mixing", "Feed-forward", "6 layers", "What comes next", "Order"]


def test_at_intermediate_the_neurons_are_unfolded_and_folded():
    app = open_link("inside", "level=intermediate&stage=feed-forward")
    assert "The neurons that fire most" not in words_on(app)
    for label, is_there in (("Show the neurons", True), ("Hide the neurons", False)):
        assert app.button(key="inside-fold").label.startswith(label)
        app.button(key="inside-fold").click().run()
        assert ("The neurons that fire most" in words_on(app)) is is_there and not app.exception


def test_the_line_of_each_station_says_what_happened_there_to_this_text():
    look, way = look_and_way()
    draft = Draft(HERE, look)
    lines = {name: happened.line(draft, way, recipes.stage_of(way, name)) for name in (*STATIONS, "choice")}
    shares = recipes.plane(recipes.stage_of(way, "weights"), [look.token], 2)[0]
    most = look.spell_tokens(look.trace.tokens)[int(shares.argmax())].text.strip()
    assert lines["weights"] == f"“the” looks most at “{most}”: {whole_percent(float(shares.max()))}"
    assert lines["mixed values"] == f"it brings back most from “{most}”"
    chances = look.model.chances(look.trace.unembed(look.trace.stream[:, look.token]))
    best = [look.model.outcome(int(row.argmax())).strip() for row in chances]
    changed = f"the guess turns from “{best[1]}” to “{best[2]}”"
    assert lines["feed-forward"] == (
        changed if best[1] != best[2] else f"the guess stays “{best[2]}”: {whole_percent(chances[2].max())}"
    )
    assert lines["choice"] == f"the guess is “{best[-1]}”: {whole_percent(float(chances[-1].max()))}"
    assert lines["blocks"].endswith(f"“{best[-1]}”") and len(set(lines.values())) == len(lines)


def test_the_guesses_of_neighbouring_layers_are_listed_together():
    look, way = look_and_way()
    parts = happened.runs(look, way)
    best = [look.model.outcome(id).strip() for id, _ in happened.by_layer(look, way)[1:]]
    assert len(parts) <= happened.RUNS and parts[0][1] == f"“{best[0]}”" and parts[-1][1] == f"“{best[-1]}”"
    assert all(f"{where} {guess}" in happened.listed(parts) for where, guess in parts if guess)


def test_beside_what_was_mixed_stands_the_row_of_the_token_of_which_most_was_taken():
    look, way = look_and_way()
    here = open_stage(look, way, recipes.stage_of(way, "mixed values"), Selection("mixed values"))
    ((stage, at, head),) = glimpse.handed(here)
    shares = recipes.plane(recipes.stage_of(way, "weights"), [look.token], 2)[0]
    assert (stage, at) == ("values", int(shares.argmax()))
    values = glimpse.strip(Draft(HERE, look), here).numbers()["value"].values
    np.testing.assert_array_equal(values[1], recipes.peaks(recipes.plane(recipes.stage_of(way, stage), [at], head))[0])
    assert glimpse.pressed(here, 1, 0) == glimpse.pressed(here, 0, 0), "both rows lead to the number that arrives"


def test_a_feed_forward_is_read_from_its_input_to_its_output_and_its_sum_has_one_rest():
    app = open_link("inside", f"{LINK.replace('beginner', 'intermediate')}&stage=feed-forward")
    assert "From input to output." in words_on(app)
    look, way = look_and_way()
    look = replace(look, level="intermediate")
    stage = recipes.stage_of(way, "feed-forward")
    here = open_stage(look, way, stage, Selection("feed-forward"))
    terms, others = recipes.largest(here.cell)
    formula = formulas.put_in(Draft(HERE, look), here.cell, stage, glimpse.naming.facts(look, stage, here.index))
    assert formula.count(" × ") == len(terms) and f"({len(others)} more neurons)" in formula
