"""The colours of the app: one accent for attention, one even scale, one diverging scale, and sixteen colours for heads."""

from __future__ import annotations

LIGHT = {
    "paper": "#fbfaf7",
    "card": "#ffffff",
    "ink": "#1d2430",
    "soft": "#667085",
    "line": "#e6e2d8",
    "accent": "#b04a08",
    "accent-soft": "#fdebdc",
    "chip": "#f1eee6",
}
DARK = {
    "paper": "#12151b",
    "card": "#1a1f28",
    "ink": "#e9ecf1",
    "soft": "#98a2b3",
    "line": "#2b3240",
    "accent": "#f5a35c",
    "accent-soft": "#3a2818",
    "chip": "#242b37",
}

DEPTH = "cividis"  # Plotly's name, for layers as colours; even in lightness, the same to red-green colour-blind eyes
DIVERGING = "RdBu_r"  # red above zero, blue below, white at zero: red and blue stay apart for colour-blind eyes

# Sixteen colours for heads, the same on a light and on a dark page, so that a class can speak of "the red head". The first eight
# have names that people use: red, blue, green, orange, purple, light blue, pink, brown. A search of ours over sRGB kept each at a
# contrast of at least 2 with both pages, every two of the first eight at least 0.105 apart in OKLab (Ottosson 2020) and every two
# of all at least 0.079, to ordinary, red-blind, green-blind and blue-blind eyes (Machado, Oliveira and Fernandes 2009).
# tests/viz/test_palette.py measures it again.
HEADS = (
    "#fc240c",
    "#0c18fc",
    "#249054",
    "#e4a818",
    "#6c30a8",
    "#00c0fc",
    "#fc60b4",
    "#843c30",
    "#8460fc",
    "#cc309c",
    "#24546c",
    "#90c084",
    "#606c6c",
    "#54a86c",
    "#b43ccc",
    "#9c84fc",
)

# What a head does in a text keeps its colour, whatever the text (the names are those of `analysis.patterns`).
PATTERNS = dict(
    zip(
        ("previous", "current", "next", "first", "duplicate", "induction", "special", "broad", "mixed"),
        (HEADS[0], HEADS[1], HEADS[2], HEADS[3], HEADS[4], HEADS[11], HEADS[6], HEADS[8], HEADS[9]),
        strict=True,
    )
)

SHADE_EXPONENT = 0.7  # see `shade`; shared/colours.js has the same number, and a test holds them together
GROUND = (128, 136, 150, 0.1)  # under every number that is there, so that 0 can be told from a blank; in shared/colours.js too


def shade(weight: float) -> float:
    """Return the opacity of the accent colour for an attention weight in [0, 1]: 0 is clear, 1 is the full accent.

    The blend itself is nearly even in lightness; the exponent lifts small weights, so that 5 % and 0 % look different.
    """
    return min(1.0, max(0.0, weight)) ** SHADE_EXPONENT


def sequential(accent: str) -> tuple[tuple[float, str], ...]:
    """Return a Plotly colour scale from near the page's background to the accent, "#rrggbb": the scale of attention and of all
    other amounts. It is transparent, so large values are dark on a light page and bright on a dark one."""
    full, scale = [int(accent[at : at + 2], 16) for at in (1, 3, 5)], []
    for step in range(21):
        over = shade(step / 20)
        under = GROUND[3] * (1 - over)  # what the accent lets through of the ground
        mixed = [round((grey * under + colour * over) / (under + over)) for grey, colour in zip(GROUND, full, strict=False)]
        scale.append((step / 20, f"rgba({mixed[0]},{mixed[1]},{mixed[2]},{under + over:.3f})"))
    return tuple(scale)


ON_ANY_PAGE = "#d0661a"  # an accent in sight on a light and on a dark page, where a picture does not know which it is on
SEQUENTIAL = sequential(ON_ANY_PAGE)


def standalone_css() -> str:
    """Return the style for a page outside Streamlit: the `--own-*` variables that shared/view.css falls back to."""

    def block(colours: dict[str, str]) -> str:
        return ":root{" + "".join(f"--own-{name}:{value};" for name, value in colours.items()) + "}"

    return f":root{{color-scheme:light dark}}{block(LIGHT)}@media(prefers-color-scheme:dark){{{block(DARK)}}}"


# A few lines in one picture: in sight on a light and on a dark page, and told apart by their dashes too.
LINES = (ON_ANY_PAGE, "#3d7fc4", "#6b9a3a", "#a15fb8", "#8a8f99")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
