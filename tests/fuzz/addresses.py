"""Any address: names and values that are right, nearly right, nonsense, said again, endless or badly written, on every page."""

from __future__ import annotations

from dataclasses import fields
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode

from hypothesis import strategies as st

import models
from models.generation.strategy import Strategy
from models.scratch.config import TransformerConfig
from models.training.recipe import Recipe
from tests.fuzz.texts import TEXT
from tests.fuzz.watching import refused, watched
from tests.pages.opening import PAGES, open_given, wait
from tests.pages.test_links import LINKS, WRONG
from ui import state

KEYS = {key.name: key for key in state.linked_keys()}
FAMILIES = [
    *(f"build-{field.name}" for field in fields(TransformerConfig)),
    *(f"train-{field.name}" for field in (*fields(TransformerConfig), *fields(Recipe))),
    *(f"generate-{field.name.replace('_', '-')}" for field in fields(Strategy)),
]
NAMES = [*KEYS, *FAMILIES, *{name for _, link, _ in LINKS for name, _ in parse_qsl(link)}]
STRANGE = [
    "",
    "Level",
    "level ",
    "level[]",
    "embed",
    "embed_options",
    "x" * 300,
    "\0",
    "__proto__",
    "model-following",
    "in-use",
    "job",
    "%",
]
FAVOURITES = [
    "level",
    "model",
    "text",
    "target",
    "layer",
    "head",
    "token",
    "lesson",
    "step",
    "room",
    "attention",
    "trained",
    "language",
]
RIGHT: dict[str, list[str]] = {name: [str(value) for value in key.values] for name, key in KEYS.items()}
for _, link, _ in LINKS:
    for name, value in parse_qsl(link):
        RIGHT.setdefault(name, []).append(value)
NONSENSE = [
    "",
    " ",
    "0",
    "-1",
    "1",
    "99",
    "1e999",
    "-1e999",
    "nan",
    "inf",
    "-0",
    "1.5",
    "0x10",
    "1_000",
    "²",
    "٣",
    "１",
    "½",
    "9" * 30,
    "9" * 5000,
    "L0",
    "L-1",
    "L99",
    "H99",
    "l1",
    "L",
    "LL1",
    "L1 H2",
    "L1 H",
    "true",
    "True",
    "TRUE",
    "false",
    "null",
    "None",
    "[]",
    "{}",
    "../../etc/passwd",
    "/",
    "./x",
    "~",
    "/tmp",
    "a/b",
    "a/b@c",
    "a" * 97,
    "gpt2@",
    "\0",
    "\x1b[2J",
    "<script>",
    "{a}",
    "%s",
    "%",
    "🙂",
    "\u202e",
    "x" * 20_000,
    "nothing",
    "self",
    "cross",
    "2.2.1",
    "2.2",
    "-1.2.3",
    "9.9.9.9",
    "1.1.1.1.1",
    "..",
    ".",
    ",",
    "~",
    "@",
    "0.0.0",
]
BYTES = st.one_of(
    st.binary(max_size=12),
    st.sampled_from([b"\xff\xfe", b"\xed\xa0\x80", b"%zz", b"%", b"%u0041", b"\xc0\xaf", b"a\x00b", b"\xf0\x9f"]),
)
# What some choices are written in: places, changes and ways are read sign by sign.
GRAMMAR = st.text(st.sampled_from("hmstcfbLHW0123456789.,~@-+ eself"), max_size=14)
WORDY = st.lists(
    st.sampled_from(
        [
            "logits",
            "output",
            "weights",
            "scores",
            "feed-forward",
            "embedding",
            "self",
            "cross",
            "encoder",
            "self1",
            "5",
            "7",
            "99",
            "-1",
            ".",
            "@",
            "~",
            ".5.7@self",
        ]
    ),
    max_size=6,
).map("".join)


@st.composite
def values(draw: st.DrawFn, name: str) -> Any:
    right = RIGHT.get(name) or ["1", "true", "The cat"]
    match draw(
        st.sampled_from(["right"] * 6 + ["nearly"] * 3 + ["nonsense"] * 4 + ["grammar"] * 2 + ["text", "bytes", "again", "other"])
    ):
        case "right":
            return draw(st.sampled_from(right))
        case "nearly":
            item = draw(st.sampled_from(right))
            at = draw(st.integers(0, len(item)))
            return draw(
                st.sampled_from(
                    [
                        item.upper(),
                        f" {item}",
                        f"{item} ",
                        item[:at],
                        item[:at] + draw(st.sampled_from("0 .,-~@x9²")) + item[at:],
                        item * 2,
                        item.replace("1", "99"),
                    ]
                )
            )
        case "nonsense":
            return draw(st.sampled_from(NONSENSE))
        case "grammar":
            return draw(st.one_of(GRAMMAR, WORDY))
        case "text":
            return draw(TEXT).encode("utf-8", "surrogatepass")
        case "bytes":
            return draw(BYTES)
        case "again":
            return draw(st.lists(st.sampled_from([*right, *NONSENSE[:30]]), min_size=2, max_size=3))
        case _:
            return draw(st.sampled_from(RIGHT.get(draw(st.sampled_from(NAMES))) or ["x"]))


TEXTS = [
    "The cat sat on the mat",
    "The [MASK] sat",
    "",
    "I am tired.",
    " ",
    "a",
    "The",
    "[MASK]",
    "The dog saw the cat and the dog",
]


@st.composite
def links(draw: st.DrawFn, page: str) -> dict[str, Any]:
    """An address of a page: one that is known to be right, with a few choices that are something else."""
    known = [link for on, link, _ in LINKS if on == page] + [f"{link}" for on, link in WRONG.values() if on == page]
    link: dict[str, Any] = dict(parse_qsl(draw(st.sampled_from(known or [""]))))
    link.setdefault("text", draw(st.sampled_from(TEXTS)))
    link["level"] = draw(st.sampled_from(state.LEVELS))
    if draw(st.integers(0, 2)) == 0:
        link["model"] = draw(st.sampled_from(models.names()))
    for _ in range(draw(st.integers(1, 4))):
        here = draw(st.sampled_from([[*link], [*link], [*link], NAMES, NAMES, [*FAVOURITES], STRANGE]))
        name = draw(st.sampled_from(here))
        link[name] = draw(values(name))
    return link


def inputs() -> st.SearchStrategy[tuple]:
    """A page, and one address after the other that a visitor's browser goes to there."""
    return st.sampled_from(PAGES).flatmap(lambda page: st.tuples(st.just(page), st.lists(links(page), min_size=1, max_size=2)))


def tried(case: tuple[str, list[dict[str, Any]]]) -> bool:
    """Whether a page told of something that an address asks for in vain."""
    page, (first, *others) = case
    with watched():
        app = wait(open_given(page, first, tuple(dict.fromkeys(name for link in (first, *others) for name in named(link)))))
        notices = bool(app.warned) or refused(app)
        for link in others:  # as the browser's way back has it
            app.query_params.clear()
            for name, value in link.items():
                app.query_params[name] = value
            notices = refused(wait(app.run())) or notices
    return notices


def named(link: dict[str, Any]) -> list[str]:
    """The models that an address names, as a server reads them."""
    asked = parse_qs(urlencode(link, doseq=True), errors="replace")
    return [name for key in ("model", "other-model", "other-tokenizer") for name in asked.get(key, [])]
