"""The choices of page "Space"."""

from __future__ import annotations

from typing import Any

from ui.state import Key, link

SPACE = link("space", "One word", "Tokens", "Vocabulary")
PROJECTION, DIMENSIONS = link("projection", "PCA", "t-SNE", "UMAP"), link("dimensions", "3-D", "2-D")
MEASURE = link("measure", "Cosine", "Scaled", "Raw")
COLOUR = link("colour", "Position", "Token", "Part of word", "Norm", "Row", "Column")
STACK = link("stack")
PERPLEXITY, PROJECTION_SEED, EVERY_TOKEN = Key("perplexity", 30), Key("projection-seed", 0), Key("every-token", False)
OWN_WORD = Key("own-word", "")  # of the visitor's text, as chosen in the menu
CONTEXT_WORD, CONTEXTS, CONTEXT_ALL = Key("context-word", ""), Key("contexts", ""), Key("context-all", False)
VOCABULARY, CENTRED, WORD_PARTS = Key("vocabulary", ""), Key("centred", False), Key("word-parts", False)
NEAREST_TO, ANALOGY, GIF = Key("nearest-to", ""), Key[Any]("analogy", None), Key[Any]("gif", None)
FOLLOWED: Key[dict[str, int | None]] = Key("followed", {}, led=True)  # the point that is followed, by the view of it
