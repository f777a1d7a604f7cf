"""Pages through a model whose layers have not all the same number of heads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.grids import grid
from tests.models.huggingface.test_head_counts import laguna
from tests.pages.opening import open_link, words_on
from ui.memory import loaded


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("laguna")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_MODEL_DIRS", str(root))
        laguna().network.save_pretrained(root)
        laguna().vocabulary.tokenizer.save_pretrained(root)
        loaded.model(str(root))
        yield str(root)


LINKS = {
    "heads, labels": ("heads", "heads-part=Labels", "of 24 heads got a label"),
    "heads, importance": ("heads", "heads-part=Importance", "of 24 heads go before"),
    "heads, weights": ("heads", "heads-part=Weights", "could not be found"),
    "model view": ("attention", "view=Model", ""),
    "BertViz": ("attention", "view=BertViz&layer=L1", "L1, L3 have 8"),
    "a head that the layer has not": ("change", "layer=L0&head=H7", ""),
    "layers": ("layers", "", ""),
}


@pytest.mark.parametrize("name", grid(LINKS, LINKS.keys() - {"heads, importance", "heads, labels"}))
def test_a_page_stands_and_what_a_layer_has_not_is_left_out(folder, name):
    page, more, words = LINKS[name]
    app = open_link(page, f"model={folder}&level=expert&text=The+cat+sat+on+the+mat&{more}")
    page_words = words_on(app) + "".join(app.warned)
    assert words in page_words
