"""Where layers without attention stand among the others, every name of a layer is its number in the network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import transformers

import models
from analysis.routes import paths
from benchmarks import tiny
from models.huggingface.model import HuggingFaceModel
from pages.change import changed_text
from pages.heads import standins
from tests.grids import grid
from tests.models.networks import tokenizer
from tests.node import printed
from tests.pages.opening import open_link, words_on
from tests.pages.taking import header, opened, table
from ui.look import Look
from ui.memory import loaded
from ui.picture.caption import caption, size
from viz import model_view

HYBRIDS = {
    "lfm2": "Lfm2ForCausalLM",
    "jamba": "JambaForCausalLM",
    "granitemoehybrid": "GraniteMoeHybridForCausalLM",
    "zamba": "ZambaForCausalLM",
    "zamba2": "Zamba2ForCausalLM",
}
NUMBERS = (2, 4)  # of the layers with attention in `sparse`, none of which is its own place among them
TEXT = "The+cat+sat+on+the+mat"


@cache
def hybrid(family: str) -> HuggingFaceModel:
    network = tiny.network(getattr(transformers, HYBRIDS[family]), tiny.config(family))
    return HuggingFaceModel(network, tokenizer("decoder"), "decoder", name=family)


@cache
def sparse() -> HuggingFaceModel:
    """Five layers, of which two have attention."""
    types = ["conv", "conv", "full_attention", "conv", "full_attention"]
    config = tiny.config("lfm2")
    config.num_hidden_layers, config.layer_types = len(types), types
    return HuggingFaceModel(tiny.network(transformers.Lfm2ForCausalLM, config), tokenizer("decoder"), "decoder", name="sparse")


@pytest.mark.parametrize("family", HYBRIDS)
def test_each_layer_is_the_one_of_the_network_that_its_attention_stands_in(family):
    model = hybrid(family)
    assert model.info.layers == 2 and model.info.layer_numbers == model.info.numbers() == (1, 3)
    assert model.info.numbering == "L1 and L3 are the layers of the network that have attention (counted from 0)."
    streams: list[np.ndarray] = []
    block = model.network.base_model.layers[3]
    handle = block.register_forward_hook(lambda module, args, out: streams.append((out[0] if isinstance(out, tuple) else out)[0]))
    trace = model.trace("The cat sat", remember=False)
    handle.remove()
    assert trace.numbers == trace.attention["self"].numbers == (1, 3)
    np.testing.assert_allclose(trace.hidden["self"][2], streams[-1].float().numpy(), atol=1e-5)


def test_a_model_of_one_kind_of_layer_has_the_same_numbers():
    info = models.load("writer").info
    assert info.layer_numbers == () and info.numbers() == tuple(range(info.layers)) and info.numbering == ""
    both = models.load("translator")
    every = tuple(range(both.info.decoder_layers))
    assert both.trace("The cat", "Le").attention["cross"].numbers == every == both.info.numbers(decoder=True)


def test_one_layer_and_many_are_named_in_a_sentence():
    info = models.load("writer").info
    named = [replace(info, layer_numbers=numbers).numbering for numbers in ((2,), (0, 3, 6))]
    assert named == [
        "L2 is the layer of the network that has attention (counted from 0).",
        "L0, L3 and L6 are the layers of the network that have attention (counted from 0).",
    ]


def test_the_numbers_stay_with_an_attention(tmp_path):
    trace = sparse().trace("The cat sat")
    (row,) = sparse().traces(["The cat sat"])
    trace.save(tmp_path / "sparse.safetensors")
    trace.save(tmp_path / "weights.safetensors", weights=True)
    files = [models.load_trace(tmp_path / name) for name in ("sparse.safetensors", "weights.safetensors")]
    assert [each.attention["self"].numbers for each in (trace, row, *files)] == [NUMBERS] * 4
    attention = trace.attention["self"]
    assert attention.only(1).numbers == NUMBERS[1:]
    assert attention.between(attention.queries, attention.keys).numbers == NUMBERS
    assert [step.name for step in paths(trace).steps] == ["L2", "L4"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Iterator[str]:
    root = str(tmp_path_factory.mktemp("sparse"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_MODEL_DIRS", root)
        sparse().network.save_pretrained(root)
        sparse().vocabulary.tokenizer.save_pretrained(root)
        loaded.model(root)
        yield root


@pytest.mark.parametrize(("page", "level"), [("type", "beginner"), ("layers", "intermediate"), ("change", "expert")])
def test_each_page_says_above_its_boards_which_layers_of_the_network_they_name(folder, page, level):
    app = open_link(page, f"model={folder}&level={level}&text=The+cat+sat")
    beside = [caption.value for caption in app.sidebar.caption]
    above = [caption.value for caption in app.caption if caption.value not in beside]
    assert sparse().info.numbering in above


def test_sentences_and_captions_name_the_layer_of_the_network(folder):
    model = loaded.model(str(folder))
    trace = model.trace("The cat sat")
    look = Look(model, trace, "self", level="expert", picked=(1, 0))
    assert look.head_name == "L4 H0" and look.layer_name == "L4"
    assert standins.name_of(look, look.attention.heads + 1) == "L4 H1"
    assert changed_text.name(look, "h1.0", "feed-forward") == "L4 H0: off"
    assert "L2 and L4 are the layers of the network" in size(model.info)


BOARDS = {  # what each page shows that names layers
    "type": ("", "level=beginner"),
    "attention": ("view=Head", "view=Model&order=similarity", "view=Query-key", "view=BertViz", "view=Heatmap&compare=layer"),
    "layers": ("part=Evolution", "part=Statistics", "part=Lens", "part=Evolution&level=beginner"),
    "flow": ("show=Layer+by+layer", "show=Streams"),
    "space": ("", "space=Tokens"),
    "inside": ("", "level=beginner", "stage=order&word-order=1.0.2.3.4.5"),
    "change": (
        "try-all=true&changes=h1.0,f0",
        "level=beginner",
        "experiment=What+wrote+it&wrote-cell=L4+H1",
        "experiment=Circuit",
        "experiment=Two+texts&other-text=The+dog+sat+on+the+mat",
    ),
    "heads": ("heads-by=induction", "heads-part=Stand-ins&heads-text=your+text", "heads-part=Weights"),
}
PLACES = [(page, link) for page, links in BOARDS.items() for link in links]


@pytest.mark.parametrize(("page", "more"), grid(PLACES, [*PLACES][::3]), ids=lambda part: part or "as it opens")
def test_no_board_menu_or_file_names_a_layer_without_attention(folder, monkeypatch, page, more):
    app, pictures = opened(monkeypatch, page, f"level=expert&model={folder}&text={TEXT}&layer=L4&head=H1&{more}")
    menus = [option for box in (*app.selectbox, *app.sidebar.selectbox) for option in box.options]
    texts = [words_on(app), *menus, *(button.label for button in app.button), *(str(caption(each)) for each in pictures.values())]
    for picture in pictures.values():
        if picture.key == "bertviz":
            listed = re.findall(r'include_layers"?: ?\[([\d, ]+)\]', str(picture.drawn))
            texts += [f"layer {number}" for number in re.findall(r"\d+", listed[0])]
            continue
        texts += words_in(header(picture.drawn))
        for name in {"layer", "head"} & set((rows := table(picture)).columns):
            texts += [f"layer {value}" if name == "layer" else str(value) for value in rows[name].unique()]
    assert [text[:200] for text in texts if not layers_in([text]) <= {*NUMBERS}] == []
    assert layers_in(texts), "it names layers at all"
    assert "level=beginner" in more or app.query_params["layer"] == "L4"


def words_in(value: object) -> Iterator[str]:
    """All texts in JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from words_in(each)
            if name in ("numbers", "layer"):  # what the JavaScript of a view writes as L2, L4
                yield from (f"layer {number}" for number in (each if isinstance(each, list) else [each]) if type(number) is int)
    elif isinstance(value, Iterable):
        for each in value:
            yield from words_in(each)


def layers_in(texts: Iterable[str]) -> set[int]:
    """The numbers of the layers that texts name; beginners count blocks from 1."""
    every = "\n".join(texts).replace("L2 and L4 are the layers", "")
    named = re.findall(r"\bL(\d+)\b(?! Norm)|\b[Ll]ayer (\d+)\b", every)
    blocks = re.findall(r"\b[Bb]lock (\d+)\b", every)
    return {int(a or b) for a, b in named} | {int(number) - 1 for number in blocks}


def test_thumbnails_are_named_by_the_numbers_that_are_sent():
    maps = np.full((2, 3, 4, 4), 0.25, dtype=np.float32)
    sent = json.dumps(header(model_view(maps, numbers=NUMBERS)))
    script = f"""
import {{ nameOf }} from "./views/model_view/words.js";
const header = {sent};
console.log(JSON.stringify([0, 2, 3, 5].map((head) => nameOf({{ header, heads: 3 }}, head))));"""
    assert json.loads(printed(script)) == ["L2 H0", "L2 H2", "L4 H0", "L4 H2"]
    with pytest.raises(ValueError, match="2 layers, and 3 numbers"):
        model_view(maps, numbers=(1, 2, 3))


@pytest.mark.parametrize(("asked", "shown"), [("L4", "L4"), ("2", "L2"), ("L2", "L2")])
def test_a_link_asks_for_a_layer_by_the_number_that_is_shown(folder, asked, shown):
    app = open_link("attention", f"level=expert&model={folder}&text={TEXT}&layer={asked}")
    (menu,) = (box for box in app.sidebar.selectbox if box.label == "Layer")
    assert menu.options == ["L2", "L4"] and menu.options[menu.index] == shown and not app.warned


def test_a_link_for_a_layer_without_attention_is_told(folder):
    app = open_link("attention", f"level=expert&model={folder}&text={TEXT}&layer=L1")
    (menu,) = (box for box in app.sidebar.selectbox if box.label == "Layer")
    assert any("“L1”" in words for words in app.warned) and menu.options == ["L2", "L4"]
