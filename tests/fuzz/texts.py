"""Any text: through the shipped models and what is computed and drawn of them, and typed on pages."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

import analysis
import models
from analysis.statistics import entropy
from models.language_model import LanguageModel
from models.trace import Trace
from tests.fuzz.watching import is_refusal, refused, watched
from tests.pages.opening import PAGES, open_given, wait
from ui.escaping import plain
from ui.memory import loaded
from ui.state import LEVELS
from viz import head_view, heatmap, model_view
from viz.tokens import named

SIGNS = [  # what some model or page reads as more than letters
    "[MASK]",
    "<mask>",
    "[CLS]",
    "[SEP]",
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "</s>",
    "<s>",
    "<pad>",
    "<unk>",
    "MASK",
    "<extra_id_0>",
    "##ing",
    "Ġ",
    "▁",
    "<0xF0>",
    "↵",
    "<script>alert(1)</script>",
    "</script>",
    "<!--",
    "$x^2$",
    ":material/x:",
    "{x}",
    "%s",
    "**",
    "`",
    "[a](javascript:x)",
    "[a](#w-token)",
    ":red[x]",
    "\\",
    "&amp;",
    "|",
    "~~",
    "'''",
    '"""',
    "=1+1",
    "../../etc/passwd",
]
SEQUENCES = [  # of signs that stand together, or change how others stand
    "\0",
    "\x1b[31m",
    "\r\n",
    "\t",
    "\x7f",
    "\x85",
    "\u2028",
    "\u2029",
    "\ufeff",
    "\u200b",
    "\u200d",
    "\u00ad",
    "\u202eabc\u202c",
    "\u2066",
    "שלום",
    "مرحبا",
    "e\u0301\u0301\u0301",
    "a" + "\u0300" * 40,
    "👩‍👩‍👧‍👦",
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "🇫🇷🇫",
    "👍🏽",
    "✌️",
    "नमस्ते",
    "ไทย",
    "日本語",
    "한국어",
    "각",
    "ﷺ",
    "ﬁ",
    "İ",
    "ß",
    "ẞ",
    "Ω",
    "\ud800",
    "\udc00",
    "\udfff\ud83d",
    "\uffff",
    "\ufffe",
    "\U0010ffff",
    "\ue000",
    "𝔘𝔫𝔦",
    "\u3000",
    "ｆｕｌｌ",
    "\u1680",
    "\u034f",
    "\U000e0041",
]
WORDS = st.sampled_from(["The", " cat", " sat", " dog", "dog", ".", " ", "  ", "\n", "I am tired.", " the", "12345", "don't"])
ANY = st.text(st.characters(), max_size=30)  # lone surrogates too
PIECE = st.one_of(st.sampled_from(SIGNS), st.sampled_from(SEQUENCES), WORDS, ANY)
LONG = st.builds(lambda piece, count: piece * count, PIECE, st.sampled_from([50, 400, 3000]))
TEXT = st.builds("".join, st.lists(PIECE, max_size=6))
TEXTS = st.one_of(*[TEXT] * 30, LONG)

Reading = Callable[[LanguageModel, Trace, str, str], object]


def tokens(model: LanguageModel, trace: Trace, text: str, target: str) -> None:
    for token in trace.tokens:
        assert 0 <= token.start <= token.end <= len(text) + (0 if token.segment == 0 else len(target)), token
        token.text.encode()
    for read_token in model.tokenize(text):
        model.token_text(read_token.id).encode()
    analysis.as_written(trace.tokens, text, target)
    groups = analysis.words(trace.tokens)
    assert sorted(at for group in groups for at in group) == list(range(len(trace.tokens)))
    analysis.merged_tokens(trace.tokens, groups)
    assert model.pieces(text[:2000])


def predictions(model: LanguageModel, trace: Trace, text: str, target: str) -> None:
    if model.info.kind == "encoder-decoder":
        loaded.go_on(model.info.name, text[:300], target[:300])
    for prediction in model.predict(text[:2000], target[:2000], top=5):
        assert 0 <= prediction.probability <= 1 and plain(named(prediction.text)).isprintable()  # as pages name it


def attention(model: LanguageModel, trace: Trace, text: str, target: str) -> None:
    for of in trace.attention.values():
        rows = of[of.layers - 1].sum(-1)
        assert np.allclose(rows, 1, atol=1e-4) and np.isfinite(entropy(of)).all()


def pictures(model: LanguageModel, trace: Trace, text: str, target: str) -> None:
    for of in trace.attention.values():
        queries, keys = of.queries[:40], of.keys[:40]
        weights = of[0][:, : len(queries), : len(keys)]
        for drawn in (head_view(queries, keys, weights), model_view([weights])):
            drawn.to_html().encode()
        json.loads(heatmap(queries, keys, weights[0]).to_json())


def layers(model: LanguageModel, trace: Trace, text: str, target: str) -> None:
    for of in trace.attention.values():
        if len(of.keys) > 200:
            return
        analysis.patterns(of)
        if len(of.queries) == len(of.keys):
            assert np.allclose(analysis.rollout(of)[-1].sum(-1), 1, atol=1e-4)
    if trace.logits is not None:
        analysis.logit_lens(model, trace, top=2)
        analysis.surprise(trace)
    for stream in trace.hidden.values():
        analysis.project(stream[:, :100])


def growing(model: LanguageModel, trace: Trace, text: str, target: str) -> None:
    for at, step in enumerate(model.generate(text[:500], max_new_tokens=3, target=target[:500])):
        assert at < 3 and np.isfinite(step.probabilities).all()
        model.spell([step.token.id]).encode("utf-8")


READINGS: tuple[Reading, ...] = (tokens, predictions, attention, pictures, layers, growing)


def inputs() -> st.SearchStrategy[tuple]:
    return st.tuples(st.sampled_from(models.names()), TEXTS, TEXT, st.sampled_from(READINGS))


def tried(case: tuple[str, str, str, Reading]) -> bool:
    """Whether a text was refused: a model may not predict, or not go on with a text, and says so."""
    name, text, target, reading = case
    with watched():
        model = loaded.model(name)
        target = target if model.info.kind == "encoder-decoder" else ""
        trace = loaded.read(name, text, target)
        try:
            reading(model, trace, text, target)
        except ValueError as error:
            if is_refusal(error):
                return True
            raise
    return False


READING_PAGES = tuple(page for page in PAGES if page not in ("build", "train", "lessons", "room"))


def typed_inputs() -> st.SearchStrategy[tuple]:
    return st.tuples(
        st.sampled_from(READING_PAGES),
        st.sampled_from(LEVELS),
        st.sampled_from(models.names()),
        TEXTS,
        st.booleans(),
        st.booleans(),
    )


def typed(case: tuple[str, str, str, str, bool, bool]) -> bool:
    """A text on a page: in its address, or typed into its box; and in the second box where there is one."""
    page, level, model, text, linked, beside = case
    given = {"level": level, "model": model, "text": "The cat", "target": ""}
    if linked:
        given["text"] = text[:6000].encode("utf-8", "surrogatepass")  # type: ignore[assignment]  # bytes, as they are sent
    with watched():
        app = wait(open_given(page, given))
        for box in app.text_input:
            if not linked and box.key in ({"text", "target"} if beside else {"text"}):
                box.set_value(text.encode("utf-8", "replace").decode())  # the line to a server carries no half of a sign
        if not linked:
            app = wait(app.run())
        return refused(app)
