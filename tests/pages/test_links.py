"""A link that somebody wrote down opens the same picture for ever: every parameter, on the page that it is for."""

from __future__ import annotations

import pytest

from tests.grids import grid
from tests.pages.opening import open_link, words_on
from ui import state
from ui.memory import allowed

TEXT = "text=The+cat+sat+on+the+mat"
FRENCH = f"model=translator&{TEXT}&target=Le+chat+noir"
EXPERT = f"{TEXT}&level=expert"
TWO_TEXTS = f"{EXPERT}&experiment=Two+texts&other-text=The+dog+sat+on+the+mat"

# page, link, what is then chosen by its name in the link
LINKS = [
    ("type", "", {"level": "beginner", "model": "writer", "text": "Tom had a ball, and his dog ran after the"}),
    ("type", "text=Two%20lines%E2%86%B5here&level=intermediate", {"text": "Two lines↵here", "level": "intermediate"}),
    ("type", f"{EXPERT}&layer=L2&head=H7", {"layer": 2, "head": 7}),
    ("type", f"{EXPERT}&temperature=1.5&bars=20", {"temperature": 1.5, "bars": 20}),
    ("type", "model=filler&text=The+[MASK]+sat", {"model": "filler", "text": "The [MASK] sat"}),
    (
        "type",
        f"{FRENCH}&level=expert&attention=Encoder&layer=L1&head=H3",
        {"target": "Le chat noir", "attention": "Encoder", "layer": 1, "head": 3},
    ),
    (
        "type",
        f"{EXPERT}&special=false&whole-words=true&renormalised=true",
        {"special": False, "whole-words": True, "renormalised": True},
    ),
    ("attention", f"{TEXT}", {"view": "Head"}),
    ("attention", f"{TEXT}&view=Reading", {"view": "Reading"}),
    ("attention", f"{EXPERT}&view=Reading&shade=all+heads", {"view": "Reading", "shade": "all heads"}),
    ("attention", f"{EXPERT}&view=Reading&shade=rollout&layer=L3&head=H1", {"shade": "rollout", "layer": 3, "head": 1}),
    ("attention", f"{EXPERT}&view=Model&order=entropy&only=token+before", {"order": "entropy", "only": "token before"}),
    ("attention", f"{EXPERT}&view=Query-key&layer=L4&head=H2", {"view": "Query-key", "layer": 4, "head": 2}),
    ("attention", f"{EXPERT}&view=Heatmap&heat=all+heads", {"view": "Heatmap", "heat": "all heads"}),
    ("attention", f"{EXPERT}&view=BertViz&layer=L1&head=H1", {"view": "BertViz", "layer": 1, "head": 1}),
    (
        "attention",
        f"{EXPERT}&view=Heatmap&compare=head&other-layer=L1&other-head=H2",
        {"compare": "head", "other-layer": 1, "other-head": 2},
    ),
    ("attention", f"{EXPERT}&view=Heatmap&compare=layer&other-layer=L2", {"compare": "layer", "other-layer": 2}),
    (
        "attention",
        f"{EXPERT}&view=Heatmap&compare=text&other-text=A+dog+sat+on+the+mat",
        {"compare": "text", "other-text": "A dog sat on the mat"},
    ),
    (
        "attention",
        f"{EXPERT}&view=Heatmap&compare=model&other-model=filler&other-layer=L2&other-head=H4",
        {"compare": "model", "other-model": "filler", "other-layer": 2, "other-head": 4},
    ),
    (
        "attention",
        f"{FRENCH}&level=expert&attention=Decoder&view=Heatmap&layer=L2&head=H0",
        {"attention": "Decoder", "layer": 2, "head": 0},
    ),
    ("attention", f"{FRENCH}&level=intermediate", {"attention": "Cross"}),
    ("layers", f"{EXPERT}&layer=L1&head=H3&movie=one+head", {"part": "Evolution", "movie": "one head", "layer": 1, "head": 3}),
    ("layers", f"{TEXT}&part=Statistics", {"part": "Statistics"}),
    (
        "layers",
        f"{EXPERT}&part=Lens&lens=logit+lens&lens-colour=rank+of+the+answer",
        {"part": "Lens", "lens": "logit lens", "lens-colour": "rank of the answer"},
    ),
    ("layers", f"{FRENCH}&level=expert&attention=Encoder&part=Statistics", {"attention": "Encoder", "part": "Statistics"}),
    ("flow", f"{TEXT}&level=intermediate", {"show": "Sources"}),
    (
        "flow",
        f"{EXPERT}&show=Streams&fusion=max&discard=0.5&residual=0.25",
        {"show": "Streams", "fusion": "max", "discard": 0.5, "residual": 0.25},
    ),
    ("flow", f"{TEXT}&level=intermediate&fusion=min&show=Layer+by+layer", {"show": "Layer by layer", "fusion": "min"}),
    ("flow", f"{TEXT}&level=intermediate&show=Which+to+believe", {"show": "Which to believe"}),
    ("explain", f"{TEXT}", {}),
    (
        "explain",
        f"{EXPERT}&explain-by=Integrated+gradients&explain=The+words",
        {"explain": "The words", "explain-by": "integrated gradients"},
    ),
    (
        "explain",
        "text=The+farmer+gave+the+hungry+dog+a+bone,+and+the+dog+ran+into+the&level=expert&explain-word=barn&explain-against=house",
        {"explain": "The words"},
    ),
    ("explain", f"{EXPERT}&explain=Methods", {"explain": "Methods"}),
    ("explain", f"{TEXT}&level=intermediate&explain=Which+to+believe", {"explain": "Which to believe"}),
    ("space", f"{TEXT}", {"space": "One word"}),
    (
        "space",
        f"{EXPERT}&space=Tokens&projection=t-SNE&dimensions=2-D&measure=Raw&colour=Norm",
        {"projection": "t-SNE", "dimensions": "2-D", "measure": "Raw", "colour": "Norm"},
    ),
    ("space", f"{FRENCH}&level=expert&space=Tokens&stack=Decoder", {"stack": "Decoder"}),
    ("space", f"{TEXT}&space=Tokens", {"space": "Tokens"}),
    ("space", f"{TEXT}&space=Vocabulary", {"space": "Vocabulary"}),
    (
        "build",
        f"{TEXT}&level=intermediate&build=Masks&build-kind=encoder-decoder&build-layers=3&build-d_model=64&build-heads=4&build-positions=rotary",
        {
            "build": "Masks",
            "build-kind": "encoder-decoder",
            "build-layers": 3,
            "build-d_model": 64,
            "build-heads": 4,
            "build-positions": "rotary",
        },
    ),
    (
        "build",
        f"{EXPERT}&build=Cost&build-kv_heads=2&build-d_ff=96&build-vocabulary=500&build-context=128&build-norm=rms&build-norm_place=after&build-feedforward=swiglu",
        {
            "build": "Cost",
            "build-kv_heads": 2,
            "build-d_ff": 96,
            "build-vocabulary": 500,
            "build-context": 128,
            "build-norm": "rms",
            "build-norm_place": "after",
            "build-feedforward": "swiglu",
        },
    ),
    (
        "build",
        f"{EXPERT}&build=Why+%E2%88%9Ad&build-tied=false&build-bias=false&build-qk_norm=true&build-temperature=2.0&build-pattern=window&build-window=4&build-initialisation=gpt2",
        {
            "build": "Why √d",
            "build-tied": False,
            "build-bias": False,
            "build-qk_norm": True,
            "build-temperature": 2.0,
            "build-pattern": "window",
            "build-window": 4,
            "build-initialisation": "gpt2",
        },
    ),
    ("build", f"{EXPERT}&build=Positions", {"build": "Positions"}),
    ("type", f"{TEXT}&token=3", {"token": 3}),
    ("inside", f"{TEXT}&stage=pieces", {"stage": "pieces"}),
    ("inside", f"{TEXT}&stage=feed-forward&neuron=7", {"stage": "feed-forward", "neuron": "7"}),
    (
        "inside",
        f"{EXPERT}&layer=L3&head=H2&token=2&stage=weights&cell=2.2.1&trail=logits.5.7@self~output.5.9@self5",
        {
            "layer": 3,
            "head": 2,
            "token": 2,
            "stage": "weights",
            "cell": "2.2.1",
            "trail": "logits.5.7@self~output.5.9@self5",
        },
    ),
    ("inside", f"{TEXT}&stage=output&cell=2.9&block=self1", {"stage": "output", "cell": "2.9", "block": "self1"}),
    ("inside", f"{FRENCH}&level=expert&stage=cross+weights&cell=0.1.2", {"stage": "cross weights", "cell": "0.1.2"}),
    (
        "heads",
        f"{EXPERT}&heads-label=induction&heads-by=positions&layer=L5&head=H0",
        {"heads-label": "induction", "heads-by": "positions", "layer": 5, "head": 0},
    ),
    ("heads", f"{FRENCH}&level=intermediate&heads-label=along+the+source", {"heads-label": "along the source"}),
    ("generate", TEXT, {"generate-method": "Draw by dice", "generate-temperature": 0.8}),
    (
        "generate",
        f"{EXPERT}&generate-temperature=1.3&generate-top-k=40&generate-top-p=0.9&generate-min-p=0.05&generate-typical=0.95&generate-penalty=1.2&generate-no-repeat=3&generate-seed=7&generate-tokens=20&generate-cache=true",
        {
            "generate-temperature": 1.3,
            "generate-top-k": 40,
            "generate-top-p": 0.9,
            "generate-min-p": 0.05,
            "generate-typical": 0.95,
            "generate-penalty": 1.2,
            "generate-no-repeat": 3,
            "generate-seed": 7,
            "generate-tokens": 20,
            "generate-cache": True,
        },
    ),
    (
        "generate",
        f"{EXPERT}&generate-method=Beams&generate-beams=3&generate-length-penalty=0.5",
        {"generate-method": "Beams", "generate-beams": 3, "generate-length-penalty": 0.5},
    ),
    ("generate", f"{FRENCH}&translate-method=Draw+by+dice", {"translate-method": "Draw by dice"}),
    (
        "change",
        f"{EXPERT}&layer=L3&head=H1&try-all=true&changes=h2.3,m1.0,s0.1~1.5,t0.1~0.5,c3.1.4.2,f4,b5",
        {"layer": 3, "head": 1, "try-all": True, "changes": "h2.3,m1.0,s0.1~1.5,t0.1~0.5,c3.1.4.2,f4,b5"},
    ),
    ("change", f"{FRENCH}&level=expert&changes=h2.3@cross,f1@decoder", {"changes": "h2.3@cross,f1@decoder"}),
    (
        "change",
        f"{EXPERT}&experiment=Steer&steer=my+own+pairs&steer-with=A+ship&steer-without=A+cart&steer-strength=-1.5&steer-layer=2&steer-seed=3",
        {"steer": "my own pairs", "steer-with": "A ship", "steer-without": "A cart", "steer-strength": -1.5, "steer-layer": 2.0},
    ),
    (
        "change",
        f"{EXPERT}&experiment=What+wrote+it&change-word=dog&change-against=cat&wrote-cell=L2+H3",
        {"experiment": "What wrote it", "change-word": "dog", "change-against": "cat", "wrote-cell": (3, 3)},
    ),
    (
        "change",
        f"{EXPERT}&experiment=Circuit&circuit-keep=60&circuit-fill=another+text&circuit-other=The+dog+sat+on+the+mat",
        {"circuit-keep": 60, "circuit-fill": "another text", "circuit-other": "The dog sat on the mat"},
    ),
    (
        "change",
        f"{EXPERT}&experiment=Two+texts&other-text=The+dog+sat+on+the+mat&texts-part=heads&texts-into=second+into+first"
        "&texts-measure=KL&texts-cell=3.1&texts-answer=floor",
        {
            "experiment": "Two texts",
            "other-text": "The dog sat on the mat",
            "texts-part": "heads",
            "texts-into": "second into first",
            "texts-measure": "KL",
            "texts-cell": "3.1",
        },
    ),
    ("train", f"{TEXT}&train-task=Copy&train-layers=3", {"train-task": "Copy", "train-layers": 3}),
    (
        "train",
        f"{EXPERT}&train-task=Sort&train-heads=2&train-d_model=32&train-d_ff=64&train-steps=100&train-rate=0.01&train-rows=8&train-warmup=3&train-every=5&train-seconds=20&train-seed=3&train-optimizer=muon&train-positions=rotary&train-norm=layer&train-norm_place=after&train-feedforward=relu&train-log=true",
        {
            "train-task": "Sort",
            "train-heads": 2,
            "train-d_model": 32,
            "train-d_ff": 64,
            "train-steps": 100,
            "train-rate": 0.01,
            "train-rows": 8,
            "train-warmup": 3,
            "train-every": 5,
            "train-seconds": 20.0,
            "train-seed": 3,
            "train-optimizer": "muon",
            "train-positions": "rotary",
            "train-norm": "layer",
            "train-norm_place": "after",
            "train-feedforward": "relu",
            "train-log": True,
        },
    ),
    ("generate", f"{EXPERT}&generate-method=Beams&generate-beams=2", {"generate-method": "Beams", "generate-beams": 2}),
    ("generate", f"{EXPERT}&generate-temperature=0.5&generate-seed=3", {"generate-temperature": 0.5, "generate-seed": 3}),
]


SLOW = ("explain=Methods", "build=Why", "experiment=Circuit", "experiment=Steer")  # left out of `make test`


@pytest.mark.parametrize(
    ("page", "link", "chosen"),
    grid(LINKS, [each for each in LINKS if not any(slow in each[1] for slow in SLOW)]),
    ids=lambda value: value[:60] if isinstance(value, str) else "",
)
def test_a_link_that_was_written_down_opens_what_it_says(page, link, chosen):
    app = open_link(page, link)
    assert {name: app.session_state[name] for name in chosen} == chosen
    assert not app.warned, "nothing in it is nonsense"


@pytest.mark.parametrize("view", ["Head", "Reading", "Heatmap"])
def test_the_words_are_about_the_head_that_the_link_names(view):
    assert "L3 H5" in words_on(open_link("attention", f"{EXPERT}&view={view}&layer=L3&head=H5"))
    assert "L3 H5" not in words_on(open_link("attention", f"{TEXT}&view={view}&layer=L3&head=H5")), "a beginner sees one head"


FREE = {
    "text",
    "target",
    "model",
    "trained",
    "other-model",
    "other-text",
    "other-tokenizer",
    "steer-with",
    "change-other",
    "steer-without",
    *("change-word", "change-against", "circuit-other", "explain-word", "explain-against"),
    "texts-answer",
    "texts-against",
    "sought",
}  # any text, and names that are tried and told of
WRONG = {  # where each choice is offered; nonsense is told of wherever a link asks for it
    "level": ("type", ""),
    "attention": ("type", f"{FRENCH}&level=expert"),
    **dict.fromkeys(["layer", "head", "special", "whole-words", "temperature", "bars"], ("type", EXPERT)),
    "renormalised": ("type", f"{EXPERT}&special=false"),
    "view": ("attention", EXPERT),
    "shade": ("attention", f"{EXPERT}&view=Reading"),
    **dict.fromkeys(["order", "only"], ("attention", f"{EXPERT}&view=Model")),
    **dict.fromkeys(["heat", "compare"], ("attention", f"{EXPERT}&view=Heatmap")),
    **dict.fromkeys(["other-layer", "other-head"], ("attention", f"{EXPERT}&view=Heatmap&compare=head")),
    **dict.fromkeys(["part", "movie"], ("layers", EXPERT)),
    **dict.fromkeys(["lens", "lens-colour"], ("layers", f"{EXPERT}&part=Lens")),
    **dict.fromkeys(["show", "fusion", "discard", "residual"], ("flow", EXPERT)),
    **dict.fromkeys(["explain", "explain-by"], ("explain", EXPERT)),
    "space": ("space", EXPERT),
    **dict.fromkeys(["projection", "dimensions", "measure", "colour"], ("space", f"{EXPERT}&space=Tokens")),
    "token": ("type", TEXT),
    "stage": ("inside", TEXT),
    "block": ("inside", TEXT),
    "inside-text": ("inside", FRENCH),
    "word": ("inside", f"{TEXT}&stage=pieces"),
    "neuron": ("inside", f"{TEXT}&stage=feed-forward"),
    **dict.fromkeys(["word-order", "order-seed"], ("inside", f"{EXPERT}&stage=order")),
    **dict.fromkeys(["cell", "trail"], ("inside", f"{EXPERT}&stage=weights")),
    "stack": ("space", f"{FRENCH}&level=expert&space=Tokens"),
    **dict.fromkeys(["build", "build-kind", "build-layers", "build-tied", "build-temperature"], ("build", EXPERT)),
    **dict.fromkeys(["train-task", "train-layers", "train-rate", "train-optimizer", "train-log"], ("train", EXPERT)),
    **dict.fromkeys(
        ["generate-method", "generate-temperature", "generate-seed", "generate-cache", "generate-said"],
        ("generate", EXPERT),
    ),
    **dict.fromkeys(["generate-at", "generate-branch"], ("generate", f"{EXPERT}&generate-said=14-561")),
    "generate-beam": ("generate", f"{EXPERT}&generate-method=Beams&generate-searched=2"),
    "generate-searched": ("generate", f"{EXPERT}&generate-method=Beams"),
    "generate-own": ("generate", FRENCH),
    **dict.fromkeys(["experiment", "changes", "try-all", "try-lines", "resample"], ("change", EXPERT)),
    **dict.fromkeys(
        ["steer", "steer-strength", "steer-layer", "steer-method", "steer-seed"], ("change", f"{EXPERT}&experiment=Steer")
    ),
    "all-heads": ("change", f"{EXPERT}&try-lines=true"),
    "wrote-cell": ("change", f"{EXPERT}&experiment=What+wrote+it"),
    **dict.fromkeys(["circuit-keep", "circuit-fill"], ("change", f"{EXPERT}&experiment=Circuit")),
    **dict.fromkeys(["texts-part", "texts-into", "texts-measure", "texts-cell"], ("change", TWO_TEXTS)),
    **dict.fromkeys(["texts-kind", "texts-place"], ("change", f"{FRENCH}&{TWO_TEXTS}")),
    "translate-method": ("generate", f"{FRENCH}&level=expert"),
    **dict.fromkeys(["heads-label", "heads-by"], ("heads", EXPERT)),
    "heads-part": ("heads", "level=expert"),
    "heads-text": ("heads", f"{FRENCH}&level=expert&heads-part=Importance"),
    "heads-alike": ("heads", f"{EXPERT}&heads-part=Stand-ins&heads-text=your+text"),
    "heads-way": ("heads", f"{EXPERT}&heads-part=Weights"),
    "heads-worth": ("heads", f"{EXPERT}&heads-part=Importance&heads-text=your+text"),
    "learn": ("lessons", ""),
    "lesson": ("type", ""),
    "step": ("type", "lesson=tokens"),
    "room": ("type", ""),
    "projector": ("type", ""),
}


LONG = {"heads-text", "heads-worth", "circuit-keep", "circuit-fill"}  # much is computed there: left out of `make test`
TOGETHER = {place: [name for name in WRONG if WRONG[name] == place] for place in dict.fromkeys(WRONG.values())}


@pytest.mark.parametrize(("page", "link"), grid(TOGETHER, [place for place, names in TOGETHER.items() if not LONG & {*names}]))
def test_nonsense_in_a_link_is_told_of(page, link):
    """All that one page offers at once is asked for in one link, and each name is told of."""
    names = TOGETHER[page, link]
    notices = open_link(page, "&".join([link, *(f"{name}=nonsense{number}" for number, name in enumerate(names))])).warned
    assert len(notices) == 1 and notices[0].count("which does not exist here.") == len(names)
    assert all(f"“nonsense{number}”, which does not exist here." in notices[0] for number in range(len(names)))
    assert f"You see the default{'s' if len(names) > 1 else ''} instead." in notices[0]


MANY = "9" * 5000  # Python itself reads at most 4,300 digits


@pytest.mark.parametrize(
    ("page", "link", "value"),
    [
        *(("generate", f"{EXPERT}&generate-said=14-561", {name: MANY}) for name in ("generate-branch", "generate-at")),
        ("generate", f"{EXPERT}&generate-method=Beams", {"generate-searched": MANY}),
        ("inside", f"{EXPERT}&stage=pieces", {"word": MANY}),
        ("inside", f"{EXPERT}&stage=queries", {"cell": f"0.0.{MANY}"}),
        ("inside", f"{EXPERT}&stage=queries&cell=0.0.0", {"trail": f"output.0.{MANY}@self5"}),
        ("inside", TEXT, {"block": f"self{MANY}"}),
        ("inside", TEXT, {"token": MANY}),
    ],
    ids=lambda item: next(iter(item)) if isinstance(item, dict) else "",
)
def test_a_number_with_more_digits_than_python_reads_does_not_exist(page, link, value):
    ((name, written),) = value.items()
    app = open_link(page, f"{link}&{name}={written}")
    assert len(app.warned) == 1 and "9999" in app.warned[0] and "which does not exist here" in app.warned[0]


def test_several_wrong_values_are_told_of_together():
    notices = open_link("attention", f"{EXPERT}&layer=L99&head=H99&view=nonsense").warned
    assert len(notices) == 1 and notices[0].count("which does not exist here.") == 3
    assert notices[0].endswith("You see the defaults instead.")


def test_no_choice_that_a_link_can_ask_for_is_left_out_above():
    # Two texts: for a model that none of those here is. The curves: once something is trained.
    # A chat: of a model that has a template. A language: where there are translations of lessons. Token embeddings alone: where
    # positions are added to them, which no model here does.
    keys = {key.name for key in vars(state).values() if isinstance(key, state.Key) and key.linked}
    assert keys - FREE - {"two-texts", "curves", "generate-chat", "language", "explain-tokens"} <= WRONG.keys()


def test_a_layer_and_a_head_may_be_written_without_their_letters():
    app = open_link("inside", "level=intermediate&layer=0&head=3")
    assert (app.session_state["layer"], app.session_state["head"]) == (0, 3) and not app.warned
    app.query_params["layer"], app.query_params["head"] = "1", "5"  # Back, to what was written by hand: the menus own the address
    app.run()
    assert (app.session_state["layer"], app.session_state["head"]) == (1, 5) and not app.exception
    assert (app.query_params["layer"], app.query_params["head"]) == ("L1", "H5")
    for number in ("99", "9" * 5000):  # Python itself reads at most 4,300 digits
        app = open_link("inside", f"level=intermediate&layer={number}")
        assert app.session_state["layer"] != 99 and ["“99" in warning for warning in app.warned] == [True] and not app.exception


def test_what_a_link_asks_for_in_vain_is_still_told_of_when_its_model_cannot_be_opened(monkeypatch, tmp_path):
    monkeypatch.setattr(allowed, "folders", lambda: allowed.roots(address="localhost"))
    app = open_link("inside", f"model={tmp_path}&level=wizard&stage=nonsense")
    notices = [element.value for element in app.warning]
    while not notices:  # until the model is found not to be one, nothing is said that the next page would take away
        notices = [element.value for element in app.run().warning]
    assert len(notices) == 2 and "could not be opened" in notices[0]
    assert "“wizard”" in notices[1] and "“nonsense”" in notices[1]


@pytest.mark.parametrize(("page", "below"), [("type", "text_input"), ("train", "button")])
def test_a_sentence_above_moves_nothing_below_so_a_letter_typed_meanwhile_finds_its_text_box(page, below):
    app = open_link(page)
    before = places(app, below)
    app.session_state["trouble"] = "The model could not be opened."
    app.run()
    assert [element.value for element in app.warning] == ["The model could not be opened\\."] and places(app, below) == before


def test_a_lesson_that_is_closed_moves_nothing_so_a_letter_typed_meanwhile_finds_its_text_box():
    app = open_link("attention", "lesson=heads&step=2&layer=L2&head=H1&text=The+cat")
    before = places(app, "text_input")
    app.button(key="lesson-close").click().run()
    assert not app.session_state["lesson"] and places(app, "text_input") == before


def test_a_sentence_about_a_long_text_moves_nothing_below_so_a_press_there_is_answered_meanwhile():
    app = open_link("generate", "text=The+cat")
    before = places(app, "button_group")
    app.text_input(key="text").set_value("The cat sat. " * 100).run()
    assert "reads at most" in app.info[0].value and places(app, "button_group") == before


def test_a_choice_that_an_address_names_without_a_value_is_the_default():
    app = open_link("space", "level=expert&text=The+cat+sat&dimensions=")
    assert any("which does not exist here" in warning for warning in app.warned)


def places(app, below: str) -> list[int]:
    """Where on a page what holds such elements stands: a fragment is known by it."""
    return [place for place, block in app.main.children.items() if getattr(block, "children", None) and block.get(below)]
