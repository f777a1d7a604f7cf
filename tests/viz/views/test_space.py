"""Points in a picture and in files: what is sent, what is refused, what the files hold."""

from __future__ import annotations

import io
import json
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from analysis.projector import layer_rows, projector_files
from models.errors import Cancelled
from viz.palette import HEADS, LIGHT
from viz.views.space_view import layer_names, space_view, token_colours
from viz.views.space_view.frames import gif, pngs

TOKENS = [" dog", " cat", " dog", "<s>"]
POINTS = np.random.default_rng(0).normal(size=(3, 4, 3)).astype(np.float32)


def sent(view) -> dict:
    """What the browser gets: the header, with arrays as arrays."""
    length = struct.unpack("<I", view.data[:4])[0]
    header = json.loads(view.data[4 : 4 + length])
    start = 4 + length + -(4 + length) % 8
    for name, entry in header["arrays"].items():
        size = int(np.prod(entry["shape"]))
        values = np.frombuffer(view.data, np.dtype(entry["dtype"]).newbyteorder("<"), size, start + entry["offset"])
        header["arrays"][name] = values.reshape(entry["shape"])
    return header


def test_points_arrive_as_they_are_and_layers_have_their_names():
    header = sent(space_view(TOKENS, POINTS, near=np.zeros((3, 4, 2))))
    np.testing.assert_array_equal(header["arrays"]["points"], POINTS)
    assert header["stages"] == layer_names(3) == ["input", "after L0", "after L1"]
    assert header["names"] == ["dog", "cat", "dog", "<s>"]
    assert header["opens"] == 2 and sent(space_view(TOKENS, POINTS, opens=0))["opens"] == 0


def test_beginners_have_a_picture_of_their_own():
    assert [sent(space_view(TOKENS, POINTS, simple=simple))["simple"] for simple in (False, True)] == [False, True]


def test_numbers_have_a_scale_and_every_stage_its_own():
    values = np.array([[1, 2, 3, np.nan], [4, 5, 6, 7], [0.5, 1, 1, 1]])
    header = sent(space_view(TOKENS, POINTS, values=values, unit="nats", log=True))
    assert (header["colours"]["low"], header["colours"]["high"], header["colours"]["unit"]) == (0.5, 7, "nats")
    np.testing.assert_array_equal(header["arrays"]["values"], values.astype(np.float32))
    same = sent(space_view(TOKENS, POINTS, values=np.arange(4)))
    assert (same["arrays"]["values"] == np.arange(4)).all() and same["arrays"]["values"].shape == (3, 4)


@given(st.lists(st.sampled_from([f"name {i}" for i in range(40)] + [""]), min_size=1, max_size=60))
@settings(max_examples=60, deadline=None)
def test_names_have_colours_of_their_own_and_the_rarest_share_one(names):
    header = sent(space_view(["x"] * len(names), np.zeros((2, len(names), 2)), values=names))
    legend, on = header["colours"], header["arrays"]["values"][0]
    assert len(legend["names"]) <= 16
    for name, place in zip(names, on, strict=True):
        if not name:
            assert np.isnan(place)
        else:
            assert legend["names"][int(place)] == (name if name in legend["names"] else "other")
    most = max((names.count(name) for name in set(names) - {""}), default=0)
    assert most == 0 or names.count(legend["names"][0]) == most
    assert len(token_colours(names, len(names))) == len(names)


def test_colours_of_files_are_those_of_the_light_page():
    assert token_colours(["a", "b", "a", ""], 4) == [*HEADS[:2], HEADS[0], LIGHT["soft"]]
    first, *_, last = token_colours(np.arange(4), 4)
    assert first == "#00224e" and last != first
    assert token_colours(None, 2) == [LIGHT["accent"]] * 2
    assert token_colours(np.array([[1.0, np.nan], [2.0, np.nan]]), 2)[1] == LIGHT["soft"]


@pytest.mark.parametrize(
    ("points", "options", "complaint"),
    [
        (POINTS[:, :3], {}, "4 tokens"),
        (np.zeros((3, 4, 5)), {}, "2 or 3 dimensions"),
        (np.full((1, 4, 2), np.nan), {}, "not numbers"),
        (POINTS, {"stages": ["one"]}, "3 stages, and 1"),
        (POINTS, {"axes": ["x"]}, "3 axes, and 1"),
        (POINTS, {"notes": ["x"]}, "4 tokens, and 1"),
        (POINTS, {"values": [1, 2]}, "Values of shape"),
        (POINTS, {"near": np.zeros((3, 3, 1))}, "Neighbours of shape"),
        (POINTS, {"values": [0, 1, 2, 3], "log": True}, "above zero"),
    ],
)
def test_what_does_not_fit_is_said(points, options, complaint):
    with pytest.raises(ValueError, match=complaint):
        space_view(TOKENS, points, **options)


def test_a_token_cannot_leave_its_place():
    nasty = "</script><script>document.title='caught'</script>"
    assert nasty not in space_view([nasty], POINTS[:, :1]).to_html()


# Files


@pytest.mark.parametrize("dimensions", [2, 3])
def test_a_gif_plays_through_all_stages_for_ever(dimensions):
    shares = []
    points = np.zeros((3, 2, dimensions))
    points[:, 0, 0], points[:, 1, 0] = [-1, 0, 1], [1, 0.9, 0.8]
    image_bytes = gif(
        ["dog", "猫"],
        points,
        colours=["#ff0000", "#0000ff"],
        provenance='{"headlight": 1}',
        report=lambda share, words: shares.append(share),
    )
    image = Image.open(io.BytesIO(image_bytes))
    assert json.loads(image.info["comment"]) == {"headlight": 1}
    assert image.n_frames == 21 and image.info["loop"] == 0
    middles = []
    for frame in (0, 10, 20):
        image.seek(frame)
        red, green, blue = np.moveaxis(np.asarray(image.convert("RGB")).astype(int), -1, 0)
        middles.append(np.nonzero((red > 200) & (green < 80) & (blue < 80))[1].mean())
        assert image.info["duration"] >= 500
    assert np.all(np.diff(middles) * (1 if dimensions == 2 else np.sign(middles[-1] - middles[0])) > 20)
    assert shares[0] == 0 and max(shares) < 1

    def stop(share, words):
        raise Cancelled

    with pytest.raises(Cancelled):
        gif(["dog", "cat"], points, report=stop)


def test_there_is_a_picture_for_each_layer():
    with zipfile.ZipFile(io.BytesIO(pngs(TOKENS, POINTS, axes=["a", "b", "c"], provenance='{"headlight": 1}'))) as archive:
        assert archive.namelist() == ["00-input.png", "01-after-L0.png", "02-after-L1.png"]
        assert all(
            Image.open(io.BytesIO(archive.read(name))).text["Provenance"] == '{"headlight": 1}' for name in archive.namelist()
        )
        images = [np.asarray(Image.open(io.BytesIO(archive.read(name)))) for name in archive.namelist()]
    assert all(image.shape == (540, 760, 3) for image in images) and (images[0] != images[2]).any()
    with pytest.raises(ValueError, match="4 tokens"):
        pngs(TOKENS, POINTS[:, :2])


def test_tensorboard_reads_what_was_written():
    """One row a line in both files, columns apart by tabs, a first line of names only where there are several columns."""
    hidden = np.random.default_rng(1).normal(size=(2, 3, 5)).astype(np.float32)
    nasty = ["a\tb", "line\nbreak\r\u2028", ""]
    files = projector_files(*layer_rows(hidden, {"token": nasty, "position": [0, 1, 2]}))
    vectors = np.loadtxt(io.BytesIO(files["vectors.tsv"]), delimiter="\t")
    np.testing.assert_allclose(vectors, hidden.reshape(6, 5), rtol=1e-5)
    lines = files["metadata.tsv"].decode().splitlines()
    assert lines[0].split("\t") == ["token", "position", "layer", "norm"] and len(lines) == 7
    assert all(len(line.split("\t")) == 4 for line in lines)
    assert [line.split("\t")[2] for line in lines[1:]] == ["input"] * 3 + ["L0"] * 3
    assert float(lines[5].split("\t")[3]) == pytest.approx(np.linalg.norm(hidden[1, 1]), rel=1e-5)
    assert projector_files(vectors, {"word": list("abcdef")})["metadata.tsv"] == b"a\nb\nc\nd\ne\nf\n"
    with pytest.raises(ValueError, match="6 vectors"):
        projector_files(vectors, {"word": ["a"]})
