"""What a page shows of a text is composed without Streamlit: on any thread, to the same bytes that a run of the page mounts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from streamlit.testing.v1 import AppTest

from analysis import edge_effects
from analysis.effects import divergences
from models.edits import Head
from models.trace import Trace
from pages.attention.compose import compose as compose_attention
from pages.attention.live import VIEWS as LIVE_VIEWS
from pages.attention.settings import Settings as AttentionSettings
from pages.change.changed_text import ChangedText
from pages.change.changes import through_changed_head
from pages.change.compose import compose as compose_change
from pages.change.compose import compose_unfit
from pages.change.recipes import effects_of
from pages.change.settings import Ranking, Refused, Switched, Unasked
from pages.change.settings import Settings as ChangeSettings
from pages.flow.boards.question import candidates
from pages.flow.compose import compose as compose_flow
from pages.flow.request import position_of
from pages.flow.settings import Followed, Tokens, Unfollowed
from pages.flow.settings import Settings as FlowSettings
from pages.inside.compose import compose as compose_inside
from pages.inside.live import BY_RUNS
from pages.layers.compose import compose as compose_layers
from pages.overview.compose import compose as compose_overview
from pages.space.boards.tokens import SINGLE
from pages.space.compose import compose as compose_space
from pages.space.settings import Choice, Missing
from pages.space.settings import Settings as SpaceSettings
from pages.space.settings import Tokens as Points
from pages.type import compose as typed
from tests.grids import grid, pairwise
from tests.models.networks import NETWORKS, network, tokenizer
from tests.pages.mounting import assert_answered, assert_mounted
from tests.pages.opening import finish, open_link
from tests.pages.readings import (
    EXPERIMENTS,
    FLOWS,
    SPACES,
    STAGES,
    TWO,
    arranged,
    evolution,
    followed,
    opened,
    predicted,
    predictions,
    spread,
    statistics,
)
from tests.serving import ROOT
from ui.look import Choices, Look, look_of
from ui.memory import loaded
from ui.state import LEVELS

TEXT, SECOND = "The dog ran into the garden, and the dog ran.", "Le chien"
NAMES = {"decoder": "GPT-2", "encoder": "BERT", "encoder-decoder": "T5", "our own": "writer"}
BARS = {"beginner": 5, "intermediate": 8, "expert": 10}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The models by their kind, as a link names them."""
    root = tmp_path_factory.mktemp("composed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_MODEL_DIRS", str(root))
        paths = {kind: name if name == "writer" else str(root / kind) for kind, name in NAMES.items()}
        for kind, name in NAMES.items():
            if name in NETWORKS:
                network(name).save_pretrained(paths[kind])
                tokenizer(kind).save_pretrained(paths[kind])
            loaded.model(paths[kind])
        yield paths


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[Trace]:
    """What the page has read: another reading may differ in the last digit."""
    read, texts = loaded.read, list[Trace]()

    def keep(*given: str) -> Trace:
        texts.append(read(*given))
        return texts[-1]

    monkeypatch.setattr(loaded, "read", keep)
    return texts


def text_of(kind: str, folder: str, text: str = TEXT) -> str:
    mask = loaded.model(folder).info.mask if kind == "encoder" else ""
    return text.replace("garden", mask) if mask else text


def open_page(page: str, kind: str, folder: str, more: str, text: str = TEXT) -> AppTest:
    second = f"&target={quote_plus(SECOND)}" if kind == "encoder-decoder" else ""
    return open_link(page, f"model={folder}&text={quote_plus(text_of(kind, folder, text))}{second}&{more}")


def look(kind: str, folder: str, trace: Trace, app: AppTest, choices: dict) -> Look:
    """The look that these choices make, as a message could bring them."""
    second = SECOND if kind == "encoder-decoder" else ""
    return look_of(loaded.model(folder), trace, second, Choices(**choices, explained=app.session_state["explained"]))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", NAMES)
def test_type_composes_what_a_run_mounts(folders, traces, kind, level):
    app = open_page("type", kind, folders[kind], f"level={level}")
    seen, settings = look(kind, folders[kind], traces[-1], app, {"level": level}), typed.Settings(1.0, BARS[level])
    assert_mounted(app, lambda: typed.compose(seen, settings))
    assert_answered(app, traces, "board")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", NAMES)
def test_overview_composes_what_a_run_mounts(folders, traces, kind, level):
    app = open_page("overview", kind, folders[kind], f"level={level}")
    seen = look(kind, folders[kind], traces[-1], app, {"level": level})
    board = assert_mounted(app, lambda: compose_overview(seen))
    assert list(board.data) == ["overview"]
    assert_answered(app, traces, "overview")


CHOSEN = "level=expert&layer=L3&head=H2&token=4&special=false&renormalised=true&temperature=0.5&bars=7"
CHOICES = {"level": "expert", "layer": 3, "head": 2, "token": 4, "special": False, "renormalised": True}


def test_type_composes_with_all_that_is_chosen(folders, traces):
    app = open_page("type", "our own", "writer", CHOSEN)
    seen = look("our own", "writer", traces[-1], app, CHOICES)
    assert_mounted(app, lambda: typed.compose(seen, typed.Settings(0.5, 7)))
    assert_answered(app, traces, "board")


VIEWS_OF = {  # what is run in `make test`, and all that there is
    "beginner": ("Reading", "Head"),
    "intermediate": ("Head", "Reading", "Model"),
    "expert": ("Query-key", "Head", "Reading", "Model"),
}
VIEWS_AT = [  # the first view of each level, and one of the others
    pytest.param(kind, level, view, marks=() if i == 0 else pytest.mark.thorough)
    for number, kind in enumerate(NAMES)
    for level, views in VIEWS_OF.items()
    for i, view in enumerate(views)
    if i in (0, 1 + number % (len(views) - 1))
]


@pytest.mark.parametrize(("kind", "level", "view"), VIEWS_AT)
def test_attention_composes_what_a_run_mounts(folders, traces, kind, level, view):
    app = open_page("attention", kind, folders[kind], f"level={level}&view={view}")
    seen, settings = look(kind, folders[kind], traces[-1], app, {"level": level}), AttentionSettings(view)
    board = assert_mounted(app, lambda: compose_attention(seen, settings))
    assert "attention-words" in board.data
    if view in LIVE_VIEWS:
        assert_answered(app, traces, *board.data)


def test_attention_composes_a_long_text_with_its_map(folders, traces):
    folder, text = folders["decoder"], " ".join(f"cat {i}" for i in range(100))
    app = open_link("attention", f"model={folder}&level=intermediate&layer=L1&head=H3&text={quote_plus(text)}")
    seen = look("decoder", folder, traces[-1], app, {"level": "intermediate", "layer": 1, "head": 3})
    board = assert_mounted(app, lambda: compose_attention(seen, AttentionSettings()))
    assert set(board.data) == {"window-map", "head-view", "attention-words"}
    assert_answered(app, traces, *board.data)


PARTS = {"Evolution": evolution, "Statistics": statistics, "Lens": predictions}
PARTS_AT = [  # each part at one level, and at one of the others
    pytest.param(kind, level, part, read, marks=() if LEVELS.index(level) == i else pytest.mark.thorough)
    for number, kind in enumerate(NAMES)
    for level in LEVELS
    for i, (part, read) in enumerate(PARTS.items())
    if (i - LEVELS.index(level)) % 3 in (0, 1 + number % 2) and (level, part) != ("beginner", "Evolution")
]


@pytest.mark.parametrize(("kind", "level", "part", "read"), PARTS_AT)
def test_layers_compose_what_a_run_mounts(folders, traces, kind, level, part, read):
    app = open_page("layers", kind, folders[kind], f"level={level}&part={part}")
    seen = look(kind, folders[kind], traces[-1], app, {"level": level})
    settings, reading = read(seen)
    assert_mounted(app, lambda: compose_layers(seen, settings, reading))
    maps = ["evolution", *(f"evolution-{name}" for name in ("words", "film", "pair", "ranks"))]
    if keys := {"Evolution": maps, "Lens": ["lens-board"] + ["lens-more"] * (level == "beginner")}.get(part):
        assert_answered(app, traces, *keys)


def test_layers_compose_what_a_run_mounts_with_the_tuned_lens(folders, traces):
    app = open_page("layers", "our own", folders["our own"], "level=expert&part=Lens&lens=tuned+lens")
    seen = look("our own", folders["our own"], traces[-1], app, {"level": "expert"})
    settings, reading = predictions(seen, tuned=True)
    assert_mounted(app, lambda: compose_layers(seen, settings, reading))
    assert_answered(app, traces, "lens-board")


def test_layers_compose_what_a_run_mounts_for_a_head_that_a_beginner_has_clicked(folders, traces):
    app = open_page("layers", "decoder", folders["decoder"], "level=beginner&part=Statistics")
    app.session_state["layers-head"] = (1, 2)
    app = finish(app.run())
    seen = look("decoder", folders["decoder"], traces[-1], app, {"level": "beginner"})
    settings, reading = statistics(seen)
    assert_mounted(app, lambda: compose_layers(seen, replace(settings, clicked=(1, 2)), reading))


FEW = {
    ("decoder", "expert", "Switch off"),
    ("encoder-decoder", "beginner", "Switch off"),
    ("encoder", "intermediate", "Two texts"),
    ("decoder", "intermediate", "What wrote it"),
    ("encoder", "intermediate", "Steer"),
}


def pairs_of(parts: Collection[str], few: Collection[tuple[str, str, str]]) -> list:
    """All pairs of kinds, levels and parts of a page; a few of them in `make test`."""
    cells = [*sorted(few), *(cell for cell in pairwise(list(NAMES), LEVELS, list(parts)) if cell not in few)]
    return grid(cells, few)


@pytest.mark.parametrize(("kind", "level", "experiment"), pairs_of(EXPERIMENTS, FEW))
def test_change_composes_what_a_run_mounts(folders, traces, kind, level, experiment):
    if level == "beginner" and experiment not in ("Switch off", "Steer"):
        pytest.skip("beginners have no such experiment")
    link, read = EXPERIMENTS[experiment]
    changes, other = TWO.get(kind, ("h0.1", "h1.0")), text_of(kind, folders[kind]).replace("dog", "cat")
    more = link.format(changes=",".join(changes), other=quote_plus(other))
    app = open_page("change", kind, folders[kind], f"level={level}&experiment={quote_plus(experiment)}&{more}")
    base = traces[-2] if experiment in ("Switch off", "Two texts") else traces[-1]
    seen = look(kind, folders[kind], base, app, {"level": level})
    if experiment == "Switch off":
        seen = through_changed_head(seen, changes)
    try:
        settings, reading = read(seen, traces)
    except ValueError as sentence:
        settings, reading = ChangeSettings(), Refused(str(sentence))
    board = assert_mounted(app, lambda: compose_change(seen, settings, reading))
    if experiment == "Switch off":
        assert_answered(app, traces, *board.data)
    refused = {("encoder", "What wrote it"), ("encoder-decoder", "Circuit")}
    assert bool(board.data) == bool(board.pictures) == ((kind, experiment) not in refused)


def test_change_composes_all_that_is_tried(folders, traces):
    folder = folders["decoder"]
    app = open_page("change", "decoder", folder, "level=expert&changes=h0.1,h77.0&try-all=true&try-lines=true")
    seen = look("decoder", folder, traces[-2], app, {"level": "expert"})
    model, position, heads = seen.model, predicted(seen), seen.attention.layers * seen.attention.heads
    edits = [[Head(*divmod(at, seen.attention.heads))] for at in range(heads)]
    reading = Switched(
        ChangedText(["h0.1"], {}, traces[-1]),
        effects_of(model, seen.trace, "self", position, ""),
        Ranking(divergences(model, seen.trace, edits, position), 1),
        edge_effects(model, seen.trace, position, seen.layer, seen.head),
    )
    settings = ChangeSettings(("h0.1", "h77.0"), tries_lines=True)
    assert_mounted(app, lambda: compose_change(seen, settings, reading))
    unfit = replace(reading.changed, unfit={"h77.0": app.info[0].value.partition("left out\\. ")[2].replace("\\", "")})
    assert_mounted(app, lambda: compose_unfit(seen, unfit))


def test_change_says_why_nothing_can_be_asked(folders, traces):
    app = open_link("change", f"model={folders['encoder']}&level=expert&experiment=Circuit&text={quote_plus(TEXT)}")
    seen = look("encoder", folders["encoder"], traces[-1], app, {"level": "expert"})
    board = assert_mounted(app, lambda: compose_change(seen, ChangeSettings(), Unasked("unmasked")))
    assert not board.data


OPENED = {
    ("decoder", "expert", "weights"),
    ("encoder", "intermediate", "feed-forward"),
    ("encoder-decoder", "beginner", "choice"),
    ("our own", "beginner", "pieces"),
    ("decoder", "intermediate", "order"),
}


@pytest.mark.parametrize(("kind", "level", "stage"), pairs_of(STAGES, OPENED))
def test_inside_composes_what_a_run_mounts(folders, traces, kind, level, stage):
    order = (0, 2, 1, *range(3, len(text_of(kind, folders[kind]).split())))
    more = f"&word-order={'.'.join(map(str, order))}" if stage == "order" else ""
    app = open_page("inside", kind, folders[kind], f"level={level}&stage={stage}{more}")
    for button in [button for button in app.button if button.label.startswith("Show the neurons that fire most")]:
        finish(button.click().run())
    seen = look(kind, folders[kind], traces[-1], app, {"level": level})
    boards = [assert_mounted(app, partial(compose_inside, seen, *part)) for part in opened(seen, stage, order)]
    if stage not in BY_RUNS:
        assert_answered(app, traces, *(key for board in boards for key in board.data))


FOLLOWED = {
    ("decoder", "expert", "Sources"),
    ("encoder", "intermediate", "Streams"),
    ("encoder-decoder", "intermediate", "Layer by layer"),
    ("our own", "beginner", "Sources"),
}


FLOW_CELLS = [cell for cell in pairs_of(FLOWS, FOLLOWED) if cell.values[1] != "beginner" or cell.values[2] == "Sources"]


@pytest.mark.parametrize(("kind", "level", "view"), FLOW_CELLS)
def test_flow_composes_what_a_run_mounts(folders, traces, kind, level, view):
    app = open_page("flow", kind, folders[kind], f"level={level}&show={quote_plus(view)}")
    seen = look(kind, folders[kind], traces[-1], app, {"level": level})
    for settings, reading in followed(seen, view):
        assert_mounted(app, partial(compose_flow, seen, settings, reading))


def test_flow_composes_all_that_is_chosen(folders, traces):
    more = "level=expert&token=3&special=false&renormalised=true&fusion=max&discard=0.25&residual=0.75"
    app = open_page("flow", "our own", "writer", more)
    seen = look("our own", "writer", traces[-1], app, {"level": "expert", "token": 3, "special": False, "renormalised": True})
    choices = (("fusion", "max"), ("discard", 0.25), ("residual", 0.75))
    for settings, reading in followed(seen, "Sources", choices):
        assert_mounted(app, partial(compose_flow, seen, settings, reading))


def test_flow_without_a_head_follows_attention_alone(folders, traces):
    folder = str(Path(folders["encoder"]).with_name("headless"))
    network("BERT without a head").save_pretrained(folder)
    tokenizer("encoder").save_pretrained(folder)
    app = open_page("flow", "encoder", folder, "level=expert&show=Which+to+believe")
    seen = look("encoder", folder, traces[-1], app, {"level": "expert"})
    for reading in (Tokens(), Followed([]), Unfollowed()):
        assert_mounted(app, partial(compose_flow, seen, FlowSettings(), reading))


def test_flow_says_that_a_token_is_not_covered(folders, traces):
    app = open_link("flow", f"model={folders['encoder']}&level=intermediate&text={quote_plus(TEXT)}")
    seen = look("encoder", folders["encoder"], traces[-1], app, {"level": "intermediate"})
    board = assert_mounted(app, lambda: compose_flow(seen, FlowSettings(), Followed(candidates(seen, position_of(seen)))))
    assert list(board.contents) == ["flow-not-covered"]


def test_flow_of_a_single_token_has_nothing_to_go_back_to(folders, traces):
    app = open_link("flow", "model=writer&text=")
    seen = look("our own", "writer", traces[-1], app, {})
    board = assert_mounted(app, lambda: compose_flow(seen, FlowSettings(), Tokens()))
    assert list(board.contents) == ["flow-chips", "flow-single"]


SPREAD = {
    ("decoder", "intermediate", "Tokens"),
    ("encoder-decoder", "beginner", "Tokens"),
    ("encoder", "expert", "One word"),
    ("our own", "expert", "Vocabulary"),
}


@pytest.mark.parametrize(("kind", "level", "part"), pairs_of(SPACES, SPREAD))
def test_space_composes_what_a_run_mounts(folders, traces, kind, level, part):
    app = open_page("space", kind, folders[kind], f"level={level}&space={quote_plus(part)}")
    text = text_of(kind, folders[kind])
    base = next(trace for trace in reversed(traces) if trace.text == text and bool(trace.target) == (kind == "encoder-decoder"))
    seen = look(kind, folders[kind], base, app, {"level": level})
    for settings, reading in spread(seen, part, traces):
        assert_mounted(app, partial(compose_space, seen, settings, reading))


def test_space_composes_all_that_is_chosen(folders, traces):
    more = "level=expert&space=Tokens&colour=Norm&measure=Scaled&dimensions=2-D&special=false&stack=Decoder"
    app = open_page("space", "encoder-decoder", folders["encoder-decoder"], more)
    app.session_state["followed"] = {"space-view": 1}
    app = finish(app.run())
    choices = {"level": "expert", "special": False}
    seen = look("encoder-decoder", folders["encoder-decoder"], traces[-1], app, choices)
    settings = SpaceSettings(Choice(dimensions=2, measure="scaled"), 1, "Norm")
    places, hidden = seen.select(seen.trace.target).places, seen.trace.hidden["decoder"]
    reading = Points("decoder", places, arranged(hidden[:, places], settings.chosen))
    assert_mounted(app, lambda: compose_space(seen, settings, reading))


def test_space_says_why_there_is_nothing_to_compare(folders, traces):
    app = open_link("space", "model=writer&space=Tokens&text=")
    seen = look("our own", "writer", traces[-1], app, {})
    board = assert_mounted(app, lambda: compose_space(seen, SpaceSettings(), Points("self", [0], None)))
    assert [note.text for note in board.contents.values()] == [SINGLE] and not board.beside
    app = open_link("space", "model=writer&space=One+word&text=The+dog")
    for word in ("zebra", " "):
        app = finish(app.text_input(key="context-word").set_value(word).run())
        assert_mounted(app, partial(compose_space, seen, SpaceSettings(), Missing(word)))


@pytest.mark.thorough
def test_what_composes_imports_no_streamlit():
    modules = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in sorted(composing())]
    assert "pages.type.compose" in modules
    code = "import sys\nsys.modules['streamlit'] = None\n" + "\n".join(f"import {name}" for name in modules)
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def composing() -> Iterator[Path]:
    return (ROOT / "pages").rglob("compose.py")
