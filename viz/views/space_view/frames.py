"""Points that move, as pictures in files: a GIF that plays, or a PNG for each stage."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from PIL.PngImagePlugin import PngInfo

from viz.palette import LIGHT
from viz.views.space_view import layer_names, short

SIZE = (760, 540)
FINE = 2  # drawn so many times larger, then reduced: smooth edges
BETWEEN = 10  # pictures between two stages of a GIF
REST, MOVE = 700, 50  # ms that a stage stands, and that a picture between stands
YAW, PITCH, EYE = -0.6, 0.32, 3.4  # where one looks from, as in places.js
MOST = 60  # labels
SIDES = ((1, 0), (-1, 0), (0, -1), (0, 1))


def gif(
    tokens: Sequence[str],
    points: np.ndarray,
    *,
    stages: Sequence[str] | None = None,
    colours: Sequence[str] | None = None,
    axes: Sequence[str] | None = None,
    provenance: str = "",
    report: Callable[[float, str], None] = lambda share, doing: None,
) -> bytes:
    """Return points [stage, token, 2 or 3] as an endless animated GIF. colours: "#rrggbb" for each token; provenance: of the
    points, in ASCII, for the file's comment.

    report(share, words): called with the progress, and may raise to stop the work.
    """
    drawing = _Drawing(tokens, points, stages, colours, axes)
    moments = (
        [drawing.stages - 1.0]
        if drawing.stages == 1
        else list(np.linspace(0, drawing.stages - 1, (drawing.stages - 1) * BETWEEN + 1))
    )
    frames = []
    for i, at in enumerate(moments):
        report(i / len(moments), f"Drawing picture {i + 1} of {len(moments)}")
        frames.append(drawing.at(_ease(at)))
    palette = frames[-1].quantize(128, method=Image.Quantize.MEDIANCUT)
    small = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    durations = [REST if i % BETWEEN == 0 else MOVE for i in range(len(small))]
    file = io.BytesIO()
    small[0].save(
        file,
        "GIF",
        save_all=True,
        append_images=small[1:],
        duration=durations,
        loop=0,
        optimize=False,
        comment=provenance.encode("ascii"),
    )
    return file.getvalue()


def pngs(
    tokens: Sequence[str],
    points: np.ndarray,
    *,
    stages: Sequence[str] | None = None,
    colours: Sequence[str] | None = None,
    axes: Sequence[str] | None = None,
    provenance: str = "",
) -> bytes:
    """Return a zip with a PNG for each stage: 00-after-the-embedding.png, 01-after-L0.png, …, with its provenance as text."""
    drawing = _Drawing(tokens, points, stages, colours, axes)
    file, notes = io.BytesIO(), PngInfo()
    if provenance:
        notes.add_text("Provenance", provenance)
    with zipfile.ZipFile(file, "w") as archive:
        for stage in range(drawing.stages):
            picture = io.BytesIO()
            drawing.at(stage).save(picture, "PNG", pnginfo=notes)
            archive.writestr(f"{stage:02}-{drawing.names[stage].replace(' ', '-')}.png", picture.getvalue())
    return file.getvalue()


class _Drawing:
    def __init__(
        self,
        tokens: Sequence[Any],
        points: np.ndarray,
        stages: Sequence[str] | None,
        colours: Sequence[str] | None,
        axes: Sequence[str] | None,
    ) -> None:
        self.points = np.asarray(points, dtype=np.float64)
        if self.points.ndim != 3 or self.points.shape[1] != len(tokens) or self.points.shape[2] not in (2, 3):
            raise ValueError(f"Points of shape {list(self.points.shape)}: give [stage, {len(tokens)} tokens, 2 or 3 dimensions].")
        self.labels = [short(token) for token in tokens]
        self.stages = len(self.points)
        self.names = list(stages) if stages is not None else layer_names(self.stages)
        self.colours = list(colours) if colours is not None else [LIGHT["accent"]] * len(tokens)
        self.axes = axes
        flat = self.points.reshape(-1, self.points.shape[2])
        low, high = flat.min(0), flat.max(0)
        middle = (low + high) / 2
        spread = (
            np.where(high > low, (high - low) / 2, 1) if flat.shape[1] == 2 else np.linalg.norm(flat - middle, axis=1).max() or 1
        )
        self.places = self._seen((self.points - middle) / spread)
        self.font, self.large, self.small = (_font(size * FINE) for size in (13, 21, 12))

    def _seen(self, unit: np.ndarray) -> np.ndarray:
        """Return the points' places in the picture, and how near they are: [..., 3]."""
        wide, high = (side * FINE for side in SIZE)
        if unit.shape[-1] == 2:
            x, y = wide / 2 + unit[..., 0] * (wide / 2 - 60 * FINE), high / 2 - unit[..., 1] * (high / 2 - 46 * FINE)
            return np.stack([x, y, np.zeros_like(x)], axis=-1)
        across = unit[..., 0] * math.cos(YAW) + unit[..., 2] * math.sin(YAW)
        deep = unit[..., 2] * math.cos(YAW) - unit[..., 0] * math.sin(YAW)
        up = unit[..., 1] * math.cos(PITCH) - deep * math.sin(PITCH)
        near = unit[..., 1] * math.sin(PITCH) + deep * math.cos(PITCH)
        size = (min(wide, high) / 2 - 22 * FINE) * EYE / (EYE - near)
        return np.stack([wide / 2 + across * size, high / 2 + 8 * FINE - up * size, near], axis=-1)

    def at(self, at: float) -> Image.Image:
        """Return the picture at a stage, or between two."""
        before = min(int(at), self.stages - 1)
        after, part = min(before + 1, self.stages - 1), at - before
        here = self.places[before] + (self.places[after] - self.places[before]) * part
        image = Image.new("RGB", (SIZE[0] * FINE, SIZE[1] * FINE), LIGHT["card"])
        draw = ImageDraw.Draw(image)
        self._ground(draw)
        for i, colour in enumerate(self.colours):
            way = [tuple(place[:2]) for place in [*self.places[: before + 1, i], here[i]]]
            if len(way) > 1:
                draw.line(way, fill=_mix(colour, LIGHT["card"], 0.4), width=FINE, joint="curve")
        order = np.argsort(here[:, 2])
        for i in order:
            x, y, near = here[i]
            radius = FINE * 4.6 * (1 + 0.35 * near)
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=self.colours[i], outline=LIGHT["soft"], width=1)
        self._label(draw, here, order[::-1])
        draw.text((16 * FINE, 10 * FINE), self.names[before] + (" →" if part > 0.01 else ""), fill=LIGHT["ink"], font=self.large)
        return image.resize(SIZE, Image.Resampling.LANCZOS)

    def _ground(self, draw: ImageDraw.ImageDraw) -> None:
        wide, high = (side * FINE for side in SIZE)
        if self.points.shape[2] == 2:
            draw.line((wide / 2, 0, wide / 2, high), fill=LIGHT["line"], width=FINE)
            draw.line((0, high / 2, wide, high / 2), fill=LIGHT["line"], width=FINE)
            if self.axes:
                draw.text((wide - 10 * FINE, high / 2 - 4 * FINE), self.axes[0], fill=LIGHT["soft"], font=self.small, anchor="rd")
                draw.text((wide / 2, 8 * FINE), self.axes[1], fill=LIGHT["soft"], font=self.small, anchor="ma")
            return
        steps = np.linspace(-0.8, 0.8, 5)
        lines = [((s, -0.8, -0.8), (s, -0.8, 0.8)) for s in steps] + [((-0.8, -0.8, s), (0.8, -0.8, s)) for s in steps]
        for line in lines:
            draw.line([tuple(point[:2]) for point in self._seen(np.array(line))], fill=LIGHT["line"], width=FINE)
        for name, end in zip(self.axes or (), ((0.8, -0.8, -0.8), (-0.8, 0.8, -0.8), (-0.8, -0.8, 0.8)), strict=False):
            start, stop = self._seen(np.array([(-0.8, -0.8, -0.8), end]))
            draw.line([tuple(start[:2]), tuple(stop[:2])], fill=LIGHT["soft"], width=FINE)
            half = draw.textlength(name, font=self.small) / 2 + 4 * FINE
            x = min(wide - half, max(half, stop[0]))
            draw.text((x, min(high - 12 * FINE, max(12 * FINE, stop[1]))), name, fill=LIGHT["soft"], font=self.small, anchor="mm")

    def _label(self, draw: ImageDraw.ImageDraw, here: np.ndarray, order: np.ndarray) -> None:
        """Draw labels where there is a free place, those of the nearest points first."""
        radius = 7 * FINE
        taken = [(0, 0, 190 * FINE, 40 * FINE)]
        dots = [(x - radius / 2, y - radius / 2, x + radius / 2, y + radius / 2) for x, y, _ in here]
        for i in order:
            x, y, _ = here[i]
            half, line = draw.textlength(self.labels[i], font=self.font) / 2, 8 * FINE
            for across, down in SIDES:
                mx, my = x + across * (half + radius), y + down * (line + radius / 2)
                box = (mx - half, my - line, mx + half, my + line)
                inside = box[0] > 0 and box[1] > 0 and box[2] < SIZE[0] * FINE and box[3] < SIZE[1] * FINE
                if inside and not any(o[0] < box[2] and o[2] > box[0] and o[1] < box[3] and o[3] > box[1] for o in taken + dots):
                    draw.text((mx, my), self.labels[i], fill=LIGHT["ink"], font=self.font, anchor="mm")
                    taken.append(box)
                    break
            if len(taken) > MOST:
                return


def _ease(at: float) -> float:
    part = at - math.floor(at)
    return math.floor(at) + part * part * (3 - 2 * part)


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return a font with many scripts if the machine has one, else the one that comes with Pillow."""
    for name in ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "Arial Unicode.ttf", "Arial.ttf"):
        try:
            return ImageFont.truetype(name, size)
        except OSError:
            continue
    return ImageFont.load_default(size)


def _mix(a: str, b: str, part: float) -> str:
    """Mix two colours, with a share `part` of the first."""
    first, second = ([int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in (a, b))
    return "#" + "".join(f"{round(y + (x - y) * part):02x}" for x, y in zip(first, second, strict=True))
