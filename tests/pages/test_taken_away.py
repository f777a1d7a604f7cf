"""Each picture of each page can be taken away: its notebook makes it again, and its files hold what is on screen."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.pages.taking import arrays, assert_made_again, offered, table
from ui.picture.caption import caption
from ui.picture.take_away import page

TEXT = "text=The+dog+saw+the+dog"
GERMAN = "model=translator&text=The+cat+sat&target=Die+Katze"
ORDER = (
    "inside-strip, inside-words, end with positions, end without positions, map-before with positions, "
    "map-after with positions, map-before without positions, map-after without positions, "
    "vectors with positions, vectors without positions"
)
LINKS = {  # each with the parts or keys of its pictures
    ("layers", f"part=Evolution&level=expert&{TEXT}"): "movie weights ranks from to",
    ("layers", f"part=Evolution&level=intermediate&movie=one+head&{TEXT}"): "movie weights ranks from to",
    ("layers", f"part=Statistics&level=expert&{TEXT}"): (
        "evenness entropy distance first previous itself specialisation diversity head-map alike"
    ),
    ("layers", f"part=Lens&level=expert&{TEXT}"): "lens layers answer",
    ("layers", f"part=Lens&level=beginner&{TEXT}"): "lens layers answer",
    ("layers", "part=Lens&level=intermediate&lens=logit+lens&model=filler&text=The+[MASK]+sat"): "lens layers answer",
    ("flow", f"level=expert&fusion=max&{TEXT}"): (
        "raw attention, rollout, value-weighted rollout, attention flow, attention × gradient, gradient rollout"
    ),
    ("flow", f"level=beginner&{TEXT}"): "gradient rollout, rollout, raw attention",
    ("flow", "level=expert&model=translator&text=The+cat+sat&target=Die+Katze"): (
        "raw attention, rollout, value-weighted rollout, attention flow, attention × gradient, gradient rollout"
    ),
    ("flow", f"level=expert&whole-words=true&show=Layer+by+layer&{TEXT}"): "flow-layers",
    ("flow", "level=intermediate&show=Layer+by+layer&model=digits&text=digit+8"): ", ".join(
        f"{method} {layer}" for layer in range(3) for method in ("gradient rollout", "rollout")
    ),
    ("flow", f"level=expert&show=Streams&{TEXT}"): "streams",
    ("flow", f"level=expert&show=Which+to+believe&{TEXT}"): "deletion insertion",
    ("overview", f"level=expert&layer=L4&head=H2&{TEXT}"): "overview",
    ("overview", "level=beginner&model=translator&text=The+cat+sat&target=Le+chat"): "overview",
    ("overview", "level=intermediate&model=digits&text=digit+8"): "overview",
    ("type", f"level=expert&{TEXT}"): "chips bars reading heads",
    ("type", f"level=intermediate&special=false&whole-words=true&renormalised=true&{TEXT}"): "chips bars reading heads",
    ("type", f"level=beginner&{TEXT}"): "chips bars reading",
    ("type", "level=expert&model=digits&token=6&text=digit+3+without+2.2"): "picture bars heads",
    ("type", "level=beginner&model=digits&text=digit+7"): "picture bars",
    ("attention", "level=intermediate&model=digits&layer=L1&text=digit+7"): "h0 h1 h2 h3 mean",
    ("layers", "level=expert&model=digits&text=digit+7"): "l0 l1 l2",
    ("type", "level=beginner&text=My+name+is+M%C3%BCller"): "chips bars reading",
    ("type", "level=expert&model=filler&text=The+[MASK]+saw+[MASK]"): "chips, bars 0, bars 1, reading, heads",
    ("type", "level=expert&model=translator&text=The+cat+sat&target=Die+Katze"): "chips target bars reading heads",
    ("space", f"level=expert&space=Tokens&colour=Norm&measure=Raw&{TEXT}"): "space-view",
    ("space", f"level=beginner&space=Tokens&{TEXT}"): "space-view",
    ("space", f"level=intermediate&space=Tokens&dimensions=2-D&colour=Token&projection=t-SNE&special=false&{TEXT}"): "space-view",
    ("space", f"level=expert&space=Tokens&stack=Decoder&colour=Part+of+word&{GERMAN}"): "space-view",
    ("space", f"level=expert&space=One+word&{TEXT}"): "context-view",
    ("space", f"level=beginner&space=One+word&model=filler&{TEXT}"): "context-view",
    ("space", f"level=expert&space=Vocabulary&{TEXT}"): "vocabulary-view nearest-words analogy",
    ("space", f"level=beginner&space=Vocabulary&model=filler&{TEXT}"): "vocabulary-view nearest-words analogy",
    ("inside", f"level=expert&stage=weights&{TEXT}"): "inside-strip matrix row cell",
    ("inside", f"level=beginner&stage=logits&cell=2.9&{TEXT}"): "inside-strip strip matrix row cell",
    ("inside", f"level=beginner&stage=blocks&{TEXT}"): "inside-strip strip",
    ("inside", f"level=beginner&stage=weights&{TEXT}"): "inside-strip matrix",
    ("inside", f"level=intermediate&stage=choice&{TEXT}"): "inside-strip bars cell",
    ("inside", f"level=intermediate&stage=ids&{TEXT}"): "inside-strip chips",
    ("inside", "level=expert&stage=cross+weights&model=translator&text=The+cat+sat&target=Le"): "inside-strip matrix row cell",
    ("inside", f"level=expert&stage=order&word-order=0.2.1.3.4&{TEXT}"): ORDER,
    ("inside", "level=beginner&stage=order&word-order=0.2.1&model=filler&text=The+[MASK]+sat"): (
        "inside-strip, inside-words, token with positions, token without positions"
    ),
    ("inside", "level=intermediate&stage=order&word-order=0.2.1&model=translator&text=The+cat+sat&target=Le"): ORDER,
    ("explain", f"level=expert&explain-by=Integrated+gradients&{TEXT}"): "explain-text",
    ("explain", f"level=beginner&{TEXT}"): "explain-text",
    ("explain", "level=beginner&model=digits&text=digit+8"): "explain-text",
    ("explain", "level=expert&explain-by=SHAP&model=digits&text=digit+8"): "explain-text",
    ("explain", "level=intermediate&explain-by=SHAP&whole-words=true&model=filler&text=The+[MASK]+sat+down"): "explain-text",
    ("explain", "level=expert&explain-by=LIME&model=translator&text=The+cat+sat&target=Le"): "explain-text",
    ("explain", f"level=expert&explain=Methods&{TEXT}"): "agreement",
    ("explain", f"level=expert&explain=Which+to+believe&{TEXT}"): "deletion insertion",
    ("change", f"level=expert&changes=h2.3,m1.0,c3.1.4.2,f4&layer=L3&head=H1&{TEXT}"): "parts bars after before",
    ("change", f"level=intermediate&try-all=true&{TEXT}"): "parts bars after",
    ("change", "level=beginner&model=filler&changes=b2&text=The+[MASK]+saw"): "parts bars after",
    (
        "change",
        "level=expert&model=translator&try-all=true&changes=h1.2@cross,t0.1~0.5@encoder&text=The+cat+sat&target=Die+Katze",
    ): "parts bars after before",
    ("change", f"level=expert&changes=r2.3,e1.1.3,o3.0.4.2,x4.1&resample=true&change-other=A+cat+saw+a+cat&{TEXT}"): (
        "parts bars after before"
    ),
    ("change", f"level=expert&try-lines=true&layer=L2&head=H3&{TEXT}"): "parts bars after edges",
    ("change", "level=intermediate&try-lines=true&all-heads=true&model=translator&text=The+cat&target=Le"): (
        "parts bars after edges"
    ),
    ("change", f"level=expert&experiment=Steer&steer-strength=-3&steer-method=Draw+by+dice&{TEXT}"): "bars texts",
    ("change", "level=beginner&experiment=Steer&model=filler&text=The+[MASK]+saw+the+[MASK]"): "bars texts",
    ("change", "level=intermediate&experiment=Steer&steer=not&model=translator&text=The+cat+sat&target=Le"): "bars texts",
    ("change", f"level=expert&experiment=What+wrote+it&changes=h5.2&change-against=cat&{TEXT}"): "board list sources",
    ("change", "level=intermediate&experiment=What+wrote+it&model=filler&text=The+[MASK]+sat"): "board list sources",
    ("change", "level=expert&experiment=What+wrote+it&model=translator&text=The+cat+sat&target=Le"): "board list sources",
    ("change", f"level=intermediate&experiment=Circuit&circuit-keep=60&{TEXT}"): "circuit-graph circuit-lost",
    (
        "change",
        "level=expert&experiment=Two+texts&texts-part=heads&texts-into=second+into+first&texts-cell=3.4",
    ): "map base source",
    ("change", "level=intermediate&experiment=Two+texts&model=filler&texts-cell=2.3"): "map base source",
    (
        "change",
        "level=intermediate&experiment=Two+texts&model=translator&texts-kind=cross&texts-part=attention&texts-cell=2.1&texts-measure=KL"
        "&text=The+cat+is+here.&target=Le&other-text=The+dog+is+here.",
    ): "map base source",
    ("heads", f"level=expert&heads-by=induction&layer=L4&head=H5&{TEXT}"): (
        "heads-board, heads-scores, L4 H5 example 1, L4 H5 example 2, L4 H5 example 3"
    ),
    ("heads", f"level=expert&heads-part=Importance&heads-text=your+text&layer=L4&head=H5&{TEXT}"): (
        "heads-importance-bars, heads-importance-table, heads-importance, heads-pruned"
    ),
    ("heads", f"level=expert&heads-part=Stand-ins&heads-text=your+text&{TEXT}"): "heads-square",
    (
        "heads",
        "level=intermediate&heads-part=Stand-ins&heads-alike=what+is+lost+without+both&model=translator&attention=Decoder&"
        "heads-text=your+text&text=The+cat+sat&target=Le+chat",
    ): "heads-square",
    ("heads", f"level=expert&heads-part=Weights&heads-way=values&{TEXT}"): "heads-composed heads-weights",
    ("heads", "level=intermediate&model=translator&text=The+cat+sat&target=Le&layer=L1&head=H0"): (
        "heads-board, L1 H0 example 1, L1 H0 example 2, L1 H0 example 3"
    ),
    ("build", "level=expert&build=Architecture"): "architecture",
    ("build", "level=beginner&build=Architecture&build-kind=encoder-decoder"): "architecture",
    ("build", "level=expert&build=Cost"): "crossing",
    ("build", "level=expert&build=Masks&build-pattern=local"): "mask",
    ("build", "level=expert&build=Positions&build-positions=rotary"): "by-distance encoding wavelengths",
    ("build", "level=intermediate&build=Positions&build-positions=sinusoidal"): "by-distance encoding wavelengths",
    ("build", "level=expert&build=Why+√d"): (
        "Largest weight of the softmax, Spread of q·k, Entropy of the softmax, Slope of the softmax"
    ),
}


LONG = {f"level=expert&heads-{more}&layer=L4&head=H5&{TEXT}" for more in ("by=induction", "part=Importance&heads-text=your+text")}


def links() -> list[Any]:
    """Return the links, of which `make test` has the first of each page that needs no reading of the whole sample."""
    count: Counter[str] = Counter()
    each = []
    for where, names in LINKS.items():
        count[where[0]] += where[1] not in LONG
        each.append(pytest.param(where, names, marks=pytest.mark.thorough if count[where[0]] > 1 or where[1] in LONG else ()))
    return each


@pytest.mark.parametrize(("where", "names"), links(), ids=lambda value: "-".join(value) if isinstance(value, tuple) else "of")
def test_each_picture_is_made_again_by_its_notebook_and_its_files_are_read_back(monkeypatch, where, names):
    pictures = offered(monkeypatch, *where)
    assert [picture.part or picture.key for picture in pictures.values()] == (
        names.split(", ") if "," in names else names.split()
    )
    assert len({picture.title for picture in pictures.values()}) == len(pictures), "a menu tells them apart"
    for made in pictures.values():
        assert_made_again(made)
        assert len(table(made)) > 0 and set(made.numbers()) <= set(arrays(made).files)
        caption_text = caption(made)
        assert caption_text.picture and str(caption_text) in page(made, caption_text).replace("&#x27;", "'")


@pytest.mark.parametrize("part", ["Architecture", "Masks"])
def test_shapes_as_long_as_a_text_come_from_it(monkeypatch, part):
    (made,) = offered(monkeypatch, "build", f"level=expert&build={part}&text=The+cat").values()
    where = caption(made).where
    assert [text["text"] for text in where["texts"]] == ["The cat"] and [model["name"] for model in where["models"]] == ["writer"]
