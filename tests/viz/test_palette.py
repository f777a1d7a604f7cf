"""The colours are told apart by every kind of eye, on both pages, and the scale is even."""

from __future__ import annotations

import json
import re
from itertools import combinations

import numpy as np
import pytest

from viz import modules
from viz.palette import DARK, GROUND, HEADS, LIGHT, ON_ANY_PAGE, SHADE_EXPONENT, sequential, shade, standalone_css

# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
EYES = {
    "ordinary": np.eye(3),
    "red-blind": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "green-blind": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "blue-blind": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(colour: str) -> np.ndarray:
    values = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def oklab(rgb: np.ndarray) -> np.ndarray:
    cone = [[0.4122215, 0.5363325, 0.0514460], [0.2119035, 0.6806995, 0.1073970], [0.0883025, 0.2817188, 0.6299787]]
    lab = [[0.2104543, 0.7936178, -0.0040720], [1.9779985, -2.4285922, 0.4505937], [0.0259040, 0.7827718, -0.8086758]]
    return np.array(lab) @ np.cbrt(np.array(cone) @ np.clip(rgb, 0, 1))


def contrast(first: str, second: str) -> float:
    low, high = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (first, second))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("eye", EYES)
def test_every_two_head_colours_are_apart_to_every_eye(eye):
    seen = [oklab(np.array(EYES[eye]) @ linear(colour)) for colour in HEADS]
    assert len(HEADS) >= 16
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen[:8], 2)) > 0.105, "as many as most models here have"
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 0.079


@pytest.mark.parametrize("colour", HEADS)
def test_every_head_colour_stands_out_on_both_pages(colour):
    assert min(contrast(colour, page[ground]) for page in (LIGHT, DARK) for ground in ("paper", "card")) > 2


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_words_read_well_on_their_page(theme):
    for ground in ("paper", "card", "chip"):
        assert contrast(theme["ink"], theme[ground]) > 7
        assert contrast(theme["soft"], theme[ground]) >= 4.2
    assert contrast(theme["accent"], theme["card"]) > 3


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_equal_steps_of_opacity_are_nearly_equal_steps_of_lightness(theme):
    paper, accent = (np.array([int(theme[name][i : i + 2], 16) for i in (1, 3, 5)]) for name in ("card", "accent"))
    blend = [np.rint(paper + (accent - paper) * t).astype(int) for t in np.linspace(0, 1, 11)]
    steps = np.diff([oklab(linear("#" + "".join(f"{v:02x}" for v in rgb)))[0] for rgb in blend])
    assert np.abs(steps).min() > 0.5 * np.abs(steps).mean()
    assert len(set(np.sign(steps))) == 1


def test_more_attention_is_never_drawn_lighter():
    weights = np.linspace(-0.1, 1.1, 200)
    shades = [shade(w) for w in weights]
    assert shades == sorted(shades)
    assert (shade(0), shade(1)) == (0, 1)
    assert shade(0.05) > 0.1


def test_python_and_javascript_shade_alike():
    script = modules.sources()["shared/colours.js"]
    assert re.search(r"SHADE_EXPONENT = ([\d.]+)", script)[1] == str(SHADE_EXPONENT)
    assert json.loads(re.search(r"GROUND = (\[.*?\]);", script)[1]) == list(GROUND)


def over(paper: str, colour: str) -> np.ndarray:
    """What a see-through colour, "rgba(…)", looks like on a page."""
    *rgb, opacity = (float(part) for part in re.findall(r"[\d.]+", colour))
    under = np.array([int(paper[i : i + 2], 16) for i in (1, 3, 5)])
    return under + (rgb - under) * opacity


@pytest.mark.parametrize(("theme", "darker"), [(LIGHT, True), (DARK, False)], ids=["light", "dark"])
def test_more_is_darker_on_a_light_page_and_brighter_on_a_dark_one_and_nothing_is_not_a_blank(theme, darker):
    for accent in (theme["accent"], ON_ANY_PAGE):
        seen = [over(theme["paper"], colour) for _, colour in sequential(accent)]
        steps = np.diff([oklab(linear("#" + "".join(f"{round(v):02x}" for v in rgb)))[0] for rgb in seen])
        assert (steps < 0 if darker else steps > 0).all()
        np.testing.assert_allclose(seen[-1], [int(accent[i : i + 2], 16) for i in (1, 3, 5)], atol=1)
        grey = over(theme["paper"], "rgba({},{},{},{})".format(*GROUND))
        np.testing.assert_allclose(seen[0], grey, atol=1)
        assert np.abs(seen[0] - over(theme["paper"], "rgba(0,0,0,0)")).max() > 5, "0 % can be told from what is masked"


def test_the_standalone_page_has_both_themes():
    css = standalone_css()
    assert f"--own-accent:{LIGHT['accent']}" in css.split("@media")[0]
    assert f"--own-accent:{DARK['accent']}" in css.split("@media")[1]
