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

# Sixteen colours for heads, the first ones furthest apart. A search of ours over sRGB kept every two at least 0.09 apart in
# OKLab (Ottosson 2020) to ordinary, red-blind, green-blind and blue-blind eyes (Machado, Oliveira and Fernandes 2009), and
# each in sight on the light and on the dark page. tests/viz/test_palette.py measures it again.
HEADS = (
    "#b43c00",
    "#24d8fc",
    "#0000fc",
    "#fcc000",
    "#601884",
    "#c090a8",
    "#0c4848",
    "#84000c",
    "#b4cca8",
    "#6c6060",
    "#fc4824",
    "#3c9c60",
    "#9c60fc",
    "#909cfc",
    "#c054a8",
    "#9c18b4",
)

# What a head does in a text keeps its colour, whatever the text (the names are those of `analysis.patterns`).
PATTERNS = dict(
    zip(
        ("previous", "current", "next", "first", "duplicate", "induction", "special", "broad", "mixed"),
        (HEADS[0], HEADS[1], HEADS[2], HEADS[3], HEADS[4], HEADS[11], HEADS[6], HEADS[8], HEADS[9]),
        strict=True,
    )
)

# Sixteen for thin lines on one page only: as far apart as those above to every kind of eye, and each at a contrast of at least
# 2.4 with its own page. tests/viz/views/test_head_view.py measures it.
HEADS_ON_LIGHT = (
    "#1200fc",
    "#ea0012",
    "#d87efc",
    "#5a2412",
    "#12365a",
    "#fc7e12",
    "#7e7e6c",
    "#a2a2b4",
    "#a236b4",
    "#486cfc",
    "#5a00a2",
    "#127e00",
    "#b46cb4",
    "#6c487e",
    "#7e3636",
    "#5ab46c",
)
HEADS_ON_DARK = (
    "#00eaea",
    "#d8b400",
    "#a200fc",
    "#c60000",
    "#0090b4",
    "#c67e12",
    "#7e7e6c",
    "#a2b490",
    "#a200b4",
    "#6cb4fc",
    "#b46cfc",
    "#ead824",
    "#fc24b4",
    "#6c5a7e",
    "#b4d8a2",
    "#006c36",
)

SHADE_EXPONENT = 0.7  # see `shade`; shared/colours.js has the same number, and a test holds them together
GROUND = (128, 136, 150, 0.1)  # under every number that is there, so that 0 can be told from a blank; in shared/colours.js too


def shade(weight: float) -> float:
    """How opaque the accent colour is drawn for an attention weight in [0, 1]: 0 is clear, 1 is the full accent.

    The blend itself is close to even in lightness; the exponent lifts small weights, so that 5 % can be told from 0 %.
    """
    return min(1.0, max(0.0, weight)) ** SHADE_EXPONENT


def sequential(accent: str) -> tuple[tuple[float, str], ...]:
    """From near the page's ground to the accent, "#rrggbb", as a Plotly colour scale: the one scale of attention and of all that
    is more or less. It is see-through, so dark is much on a light page, and bright is much on a dark one."""
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
    """The look for a page outside Streamlit: sets the `--own-*` variables that shared/view.css falls back to, light and dark."""

    def block(colours: dict[str, str]) -> str:
        return ":root{" + "".join(f"--own-{name}:{value};" for name, value in colours.items()) + "}"

    return f":root{{color-scheme:light dark}}{block(LIGHT)}@media(prefers-color-scheme:dark){{{block(DARK)}}}"


# A few lines in one picture: in sight on a light and on a dark page, and told apart by their dashes too.
LINES = (ON_ANY_PAGE, "#3d7fc4", "#6b9a3a", "#a15fb8", "#8a8f99")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
