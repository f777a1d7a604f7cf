"""The diagram of page "Build": the same boxes for everybody, and for beginners the purpose of each."""

from __future__ import annotations

import re
from dataclasses import asdict

import numpy as np
import pytest

from analysis.baseline_cost import side_by_side
from analysis.cost import costs, crossing
from analysis.encodings import Encoding
from analysis.scaling import scaling
from models.scratch.config import KINDS, PLACES, POSITIONS, TransformerConfig
from pages.build import recipes
from pages.build.changes import change_facts, time_alone
from pages.build.parts import moral, position_facts, reached, root_facts
from pages.build.plan import columns, plain_stack
from tests.pages.levels import flat, read
from tests.pages.opening import open_link
from viz.numbers import percent, signed

JARGON = ("norm", "softmax", "√", "q·k", "q [", "swiglu", "logit", "gelu", "{")

SMALL = TransformerConfig(layers=2, d_model=32, heads=2, d_ff=64)


def boxes(plan):
    for _, column in plan:
        for box in column:
            yield from (box, *box.parts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("positions", POSITIONS)
def test_beginners_meet_what_each_part_is_for_and_no_formula(kind, positions):
    config = TransformerConfig(kind=kind, positions=positions, layers=3)
    plan = columns(config, 7, 5, plain_stack)
    for box in boxes(plan):
        words = f"{box.name} {box.note} {box.shape}".lower()
        assert not [word for word in JARGON if word in words], words
        assert box.note or box.name in ("Encoder", "Decoder")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", PLACES)
def test_both_diagrams_have_the_same_boxes(kind, place):
    config = TransformerConfig(kind=kind, norm_place=place, layers=3, positions="learned")
    plain, exact = columns(config, 7, 5, plain_stack), columns(config, 7, 5)
    outline = lambda plan: [[(len(box.parts), box.times, box.added) for box in column] for _, column in plan]  # noqa: E731
    assert outline(plain) == outline(exact)
    assert [box.added for box in boxes(plain)] == [box.added for box in boxes(exact)]


def test_a_beginner_steps_from_one_number_of_heads_that_fits_to_the_next():
    app = open_link("build", "build-heads=8")
    control = lambda name: app.number_input(key=f"build-{name}")  # noqa: E731  (it is another one after each run)
    for chosen, becomes in ((9, 16), (15, 8), (7, 4), (200, 128)):
        control("heads").set_value(chosen).run()
        assert (control("heads").value, app.error) == (becomes, [])
    control("d_model").set_value(300).run()
    assert (control("d_model").value, app.error) == (256, [])
    control("d_model").set_value(1000).run()
    assert control("d_model").value == 1024 and not app.exception


def test_a_decoder_is_brought_to_page_train_with_all_that_is_chosen_there_too():
    link = "level=expert&build-layers=3&build-d_model=64&build-heads=2&build-d_ff=96&build-norm=layer&build-tied=false"
    app = open_link("build", f"{link}&build-embedding_norm=true")
    button = app.button(key="build-train")
    assert "leaves behind: Norm after the embedding" in button.proto.help
    button.click().run()
    chosen = {name: app.session_state[f"train-{name}"] for name in ("layers", "d_model", "heads", "d_ff", "norm", "tied")}
    assert chosen == {"layers": 3, "d_model": 64, "heads": 2, "d_ff": 96, "norm": "layer", "tied": False}
    assert app.session_state["level"] == "expert" and not app.exception and not app.warning


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ("build-kind=encoder", "a decoder learns"),
        ("build-layers=9", "at most 8 for “Layers”"),
        ("build-d_ff=4096", "at most 2048"),
    ],
)
def test_what_page_train_cannot_train_is_said_at_its_button(link, why):
    button = open_link("build", f"level=expert&{link}").button(key="build-train")
    assert button.disabled and why in button.proto.help


def test_a_beginner_brings_along_what_a_beginner_has_chosen_and_stays_one():
    app = open_link("build", "build-layers=1&build-heads=2")
    app.button(key="build-train").click().run()
    sizes = {name: app.number_input(key=f"train-{name}").value for name in ("layers", "heads", "d_model")}
    assert (app.session_state["level"], sizes) == ("beginner", {"layers": 1, "heads": 2, "d_model": 256})
    assert "train-d_ff" not in app.session_state


def test_a_press_on_plus_widens_by_the_least_that_fits():
    app = open_link("build", "build-heads=16")
    width = lambda: app.number_input(key="build-d_model")  # noqa: E731  (it is another one after each run)
    width().set_value(257).run()
    assert width().value == 288
    width().set_value(287).run()
    assert width().value == 256


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("positions", ["rotary", "learned", "relative"])
def test_the_shares_beside_the_boxes_add_up_to_all_numbers(kind, place, positions):
    config = TransformerConfig(kind=kind, norm_place=place, positions=positions)
    shapes = [box.shape for box in boxes(columns(config, 7, 5, plain_stack)) if not box.parts]
    shares = [float(match[1]) for shape in shapes if (match := re.match(r"([\d.]+)\s%", shape))]
    assert 100 - 0.1 * len(shapes) < sum(shares) <= 100.1


def test_a_change_is_told_with_what_it_changes_and_what_it_does_not():
    app = open_link("build", "")
    said = lambda: re.sub(r"\[(\w+)\]\(.*?\)", r"\1", " ".join(caption.value for caption in app.caption))  # noqa: E731
    assert "**Try it:**" in said()
    app.number_input(key="build-heads").set_value(9).run()
    assert "**8 → 16 heads: the model stays at 6.92 million numbers.**" in said()
    assert "16 of the 256 numbers, not with 32" in said()
    app.number_input(key="build-layers").set_value(7).run()
    facts = change_facts(TransformerConfig(heads=16), TransformerConfig(heads=16, layers=7), 12)
    assert f"6 → 7 layers: {facts['parameters_before']} → {facts['parameters']} numbers" in said()


def test_operations_are_compared_with_a_person_who_does_one_a_second():
    assert [time_alone(count) for count in (1, 90, 3_600, 86_400 * 20, 31_557_600 * 12)] == [
        "1 second",
        "1.5 minutes",
        "1 hour",
        "20 days",
        "12 years",
    ]


@pytest.mark.parametrize("level", ["intermediate", "expert"])
def test_networks_without_attention_stand_beside_a_decoder_with_what_they_cost(level):
    app = open_link("build", f"level={level}&build=Cost&build-layers=2&build-d_model=32&build-heads=2&build-d_ff=64")
    _, table = app.table
    assert list(table.value.index) == ["Transformer", "LSTM", "GRU", "Causal convolution"] and not app.exception
    assert list(table.value["one after the other"]) == [str(each.waits) for each in side_by_side(SMALL, 12, measured=False)]
    assert (table.value["milliseconds"].astype(float) > 0).all()
    assert len(open_link("build", f"level={level}&build=Cost&build-kind=encoder").table) == 1


def words_of(part, more=""):
    app = open_link("build", f"level=intermediate&build={part}&text=The+cat+sat+on+the+mat{more}")
    assert not app.exception
    return " ".join(caption.value for caption in app.caption)


def test_a_mask_is_told_by_what_the_last_token_may_see():
    assert "“mat”, may see itself and all 6 tokens before it" in words_of("Masks")
    narrow = words_of("Masks", "&build-pattern=window&build-window=3")
    assert "fewer than 3 places away" in narrow and "2 of the 6 tokens before it: “on”, “the”" in narrow
    assert "may see only itself" in words_of("Masks", "&build-pattern=window&build-window=1")
    assert "does not hide what comes later" in words_of("Masks", "&build-kind=encoder")


def test_the_part_that_costs_most_is_named_for_this_text_and_a_longer_one():
    config = TransformerConfig()
    of_part = {cost.part: cost.flops.value for cost in costs(config, 7)}
    most = max(of_part, key=of_part.get)
    share = percent(of_part[most] / sum(of_part.values()))
    assert "no more of them" in words_of("Cost")
    facts = moral(config, "operations", 7, 7)
    assert (facts["part_now"], facts["share_now"], facts["longer"]) == (most, share, "256 tokens")


@pytest.mark.parametrize("positions", POSITIONS)
def test_each_scheme_of_positions_is_told_in_plain_words_first(positions):
    words = words_of("Positions", f"&build-positions={positions}")
    assert not words.startswith("So that") and not re.search(r"(?<!text)\{[a-z_]+\}", words)


@pytest.mark.parametrize("end", [-2.0, 2.0])
@pytest.mark.parametrize("falls", [True, False])
def test_near_tokens_are_said_to_score_higher_where_they_do_on_average(falls, end):
    """However a curve with waves happens to end."""
    curve = np.linspace(*((1, 0) if falls else (0, 1)), 64) + 0.1 * np.sin(np.arange(64))
    curve[-1] = end
    facts = position_facts(Encoding(distances=np.arange(64.0), by_distance={"H0": curve}))
    assert bool(facts["falls"]) == falls == (curve[:32].mean() > curve[32:].mean())
    halves = (signed(float(half.mean() / curve[0])) for half in (curve[:32], curve[32:])) if curve[0] else ("", "")
    assert not curve[0] or (facts["near_half"], facts["far_half"]) == tuple(halves)
    assert facts["low_at"].startswith(f"{curve.argmin()} token")


def test_a_size_is_offered_only_where_it_changes_something():
    def offered(more=""):
        app = open_link("build", f"level=intermediate{more}")
        return {box.key.removeprefix("build-") for box in app.number_input}

    few = offered()
    assert not few & {"window", "random_keys", "global_tokens", "features", "experts_used"} and "temperature" in few
    assert offered("&build-pattern=bigbird") - few == {"window", "random_keys", "global_tokens"}
    assert offered("&build-pattern=strided&build-window=5") - few == {"window"}
    assert offered("&build-computed=performer&build-experts=2") - few == {"features", "experts_used"}
    app = open_link("build", "level=intermediate&build-window=5")
    assert not app.exception and not app.warned


def test_the_curves_of_the_bench_are_told_with_their_numbers():
    facts, table = root_facts(scaling(), 32), scaling()
    assert percent(table.largest_plain.iloc[-1]) == facts["plain_last"]
    below = table[table.d_k == float(facts["below"])].iloc[0]
    before = table[table.d_k == float(facts["before_below"])].iloc[0]
    assert below.gradient_plain < below.gradient_scaled and before.gradient_plain >= before.gradient_scaled
    assert "{" not in words_of("Why+√d")


def test_the_cost_says_whether_the_crossings_are_within_the_context_which_the_figure_marks():
    config = TransformerConfig()
    first, second = crossing(config, "feed-forward"), crossing(config)
    assert config.context < first < second
    assert [reached(context, first, second) for context in (256, first - 1, first, second - 1, second)] == [
        "none",
        "none",
        "first",
        "first",
        "both",
    ]
    assert reached(10**6, float("inf"), float("inf")) == "never"
    words = read(open_link("build", "level=intermediate&build=Cost"))
    assert flat("this model reads at most 256 tokens, so it never gets as far as the crossings") in words
    mark = recipes.crossing(config=asdict(config)).data[-1]
    assert mark.name == "the context: 256 tokens" and set(mark.x) == {256}
