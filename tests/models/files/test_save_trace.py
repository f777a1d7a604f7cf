"""A trace that is saved and opened again is the same trace, needs no model, and a file that is none is refused in a sentence."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file

import models
from analysis import (
    entropy,
    flow,
    head_statistics,
    head_summary,
    logit_lens,
    project,
    query_key,
    rollout,
    scope,
    surprise,
    words,
)
from models import edits as E
from tests.models.edited import NAMES, TEXT, model, read, stack, target
from tests.serving import ROOT
from viz import head_view, heatmap, model_view, query_key_view, reading_view


def again(trace, path, **choices):
    trace.save(path / "trace.safetensors", **choices)
    return models.load_trace(path / "trace.safetensors")


@pytest.mark.parametrize("name", NAMES)
def test_what_comes_out_is_what_went_in(name, tmp_path):
    kind = stack(name)
    edits = [
        E.Head(0, 1, scale=0.5, kind=kind),
        E.Temperature(1, 0, 2.0, kind=kind),
        E.Stream(1, -1, add=np.ones(model(name).info.d_model), kind=kind),
    ]
    for trace in (model(name).trace(TEXT, target(name)), read(name, *edits)):
        opened = again(trace, tmp_path)
        assert opened.tokens == trace.tokens and opened.target == trace.target and opened.edits == trace.edits
        assert (opened.text, opened.cut, opened.info) == (trace.text, trace.cut, model(name).info)
        assert all(np.array_equal(opened.hidden[part], trace.hidden[part]) for part in trace.hidden)
        assert (opened.logits is None) == (trace.logits is None)
        assert trace.logits is None or np.array_equal(opened.logits_at([-1]), trace.logits[[-1]])
        for kind, attention in trace.attention.items():
            other = opened.attention[kind]
            assert other.chooses == attention.chooses and other.rows == attention.rows
            for layer in range(attention.layers):
                np.testing.assert_allclose(other[layer], attention[layer], atol=1e-6)
                assert other.formula(layer) == attention.formula(layer)
                if model(name).info.queries:
                    for part in ("q", "k", "v", "out"):
                        np.testing.assert_array_equal(getattr(other, part)(layer), getattr(attention, part)(layer))
                    np.testing.assert_allclose(other.scores(layer), attention.scores(layer), rtol=1e-5, atol=1e-5)


def test_every_analysis_and_picture_that_asks_no_model_takes_it(tmp_path):
    trace = model("writer").trace(TEXT)
    opened = again(trace, tmp_path)
    ours, theirs = opened.attention["self"], trace.attention["self"]
    for find in (
        entropy,
        rollout,
        flow,
        lambda attention: head_statistics(attention).to_numpy(),
        lambda attention: scope(attention, whole_words=True)[2],
    ):
        np.testing.assert_allclose(find(ours), find(theirs), atol=1e-5)
    np.testing.assert_array_equal(surprise(opened), surprise(trace))
    np.testing.assert_array_equal(project(opened.hidden["self"]), project(trace.hidden["self"]))
    ours_at_query, expected = (query_key(attention, 3, 4, -1) for attention in (ours, theirs))
    for name in ("q", "k", "raw", "score", "unturned", "pairs"):
        np.testing.assert_allclose(getattr(ours_at_query, name), getattr(expected, name), rtol=1e-4, atol=1e-4)
    assert head_summary(ours[3][4]).first == pytest.approx(head_summary(theirs[3][4]).first, abs=1e-6)
    assert words(ours.keys) == words(theirs.keys)
    views = [
        reading_view(opened.tokens, ours[3][4]),
        heatmap(ours.queries, ours.keys, ours[3][4]),
        head_view(ours.queries, ours.keys, ours[3]),
        model_view(ours[layer] for layer in range(ours.layers)),
        query_key_view(ours.queries[-1], ours.keys, **vars(ours_at_query)),
    ]
    assert all("<html" in view.to_html() for view in views)
    with pytest.raises(ValueError, match="opened from a file, and this needs the model"):
        logit_lens(model("writer"), opened)


def test_weights_in_the_place_of_what_was_recorded_and_parts_only_when_asked_for(tmp_path):
    trace = model("translator").trace(TEXT, target("translator"))
    opened = again(trace, tmp_path, weights=True, logits=False, parts=True)
    for kind, attention in trace.attention.items():
        np.testing.assert_array_equal(opened.attention[kind][1], attention[1])
        with pytest.raises(ValueError, match="computed elsewhere"):
            opened.attention[kind].q(1)
    assert {stack: set(some) for stack, some in opened.parts.items()} == {stack: set(some) for stack, some in trace.parts.items()}
    np.testing.assert_array_equal(opened.parts["decoder"]["cross"], trace.parts["decoder"]["cross"])
    with pytest.raises(ValueError, match="needs the model"):
        opened.logits  # noqa: B018
    with pytest.raises(ValueError, match="holds no parts of blocks"):
        again(trace, tmp_path).parts  # noqa: B018
    assert again(opened, tmp_path, weights=True, logits=False).tokens == trace.tokens, "and it is saved again"


def test_a_trace_holds_what_the_parts_of_its_blocks_add_and_they_sum_to_the_stream():
    trace = model("writer").trace(TEXT)
    added = trace.parts["self"]
    np.testing.assert_allclose(
        trace.hidden["self"][:-1] + added["attention"] + added["feedforward"], trace.hidden["self"][1:], atol=1e-4
    )
    assert trace.parts is trace.parts, "read once"
    with pytest.raises(ValueError, match="of no model"):
        models.Trace("", [], {}, {}).parts  # noqa: B018
    with pytest.raises(ValueError, match="of no model"):
        models.Trace("", [], {}, {}).save("x")


def test_what_weighs_is_said_of_the_model_and_names_the_versions(tmp_path):
    trace = model("writer").trace(TEXT)
    opened = again(trace, tmp_path)
    assert opened.model.weights == model("writer").weights and opened.model.weights.startswith("SHA-256 ")
    with safe_open(tmp_path / "trace.safetensors", "np") as file:
        metadata = file.metadata()
    assert metadata["headlight_trace"] == "1" and json.loads(metadata["trace"])["version"]
    assert [file.name for file in tmp_path.iterdir()] == ["trace.safetensors"], "nothing is left beside it"


def rewrite(trace, path, change=lambda description: None, drop=(), mark="1"):
    trace.save(path / "whole")
    with safe_open(path / "whole", "np") as file:
        description, tensors = json.loads(file.metadata()["trace"]), {name: file.get_tensor(name) for name in list(file.keys())}
    change(description)
    for name in drop:
        del tensors[name]
    save_file(tensors, path / "changed", {"headlight_trace": mark, "trace": json.dumps(description)})
    return path / "changed"


def test_what_is_no_whole_trace_is_refused_in_a_sentence(tmp_path, monkeypatch):
    trace = model("writer").trace(TEXT)
    (tmp_path / "pickled").write_bytes(pickle.dumps(trace.text))
    (tmp_path / "empty").write_bytes(b"")
    for name in ("pickled", "empty"):
        with pytest.raises(ValueError, match=f"“{name}” is no safetensors file, or not a whole one"):
            models.load_trace(tmp_path / name)
    with pytest.raises(ValueError, match=r"holds no trace of Headlight\. Weights of a model are opened by models\.load"):
        models.load_trace(ROOT / "models" / "weights" / "writer" / "model.safetensors")
    with pytest.raises(ValueError, match="written by another version, in format '2'"):
        models.load_trace(rewrite(trace, tmp_path, mark="2"))
    with pytest.raises(FileNotFoundError):
        models.load_trace(tmp_path / "nowhere")
    changes = (
        lambda description: description["tokens"].pop(),
        lambda description: description["tokens"][0].append(1),
        lambda description: description["tokens"][1].__setitem__(0, "a"),
        lambda description: description.pop("info"),
        lambda description: description["info"].update(d_model=7),
        lambda description: description["info"].update(strange=7),
        lambda description: description["attention"].pop("self"),
        lambda description: description["attention"]["self"]["calls"].pop(),
        lambda description: description["attention"]["self"]["calls"][2].update(query="self.0.sinks"),
        lambda description: description["attention"]["self"]["calls"][2].update(key="self.2.out"),
        lambda description: description["attention"]["self"]["calls"][2].pop("query"),
        lambda description: description.update(edits=[{"edit": "Popen", "args": "ls"}]),
        lambda description: description.update(attention=[]),
    )
    for change in changes:
        with pytest.raises(ValueError, match="“changed” is damaged: what it says of itself does not fit what it holds"):
            models.load_trace(rewrite(trace, tmp_path, change))
    with pytest.raises(ValueError, match="is damaged"):
        models.load_trace(rewrite(trace, tmp_path, drop=["hidden.self"]))
    monkeypatch.setattr("models.huggingface.memory.free_memory", lambda: 1000)
    with pytest.raises(ValueError, match="of memory are free"):
        models.load_trace(tmp_path / "whole")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 6000), byte=st.integers(0, 255), end=st.none() | st.integers(0, 20_000))
def test_a_file_with_any_byte_changed_or_cut_short_opens_or_is_refused(tmp_path, at, byte, end):
    whole = tmp_path / "whole"
    if not whole.exists():
        model("writer").trace("The cat").save(whole, logits=False)
    held = bytearray(whole.read_bytes())
    held[at] = byte
    (tmp_path / "changed").write_bytes(bytes(held[:end]))
    try:
        models.load_trace(tmp_path / "changed")
    except ValueError as error:
        assert str(error).startswith("“changed” ")


def test_opening_reads_no_network_of_transformers(tmp_path):
    model("writer").trace(TEXT).save(tmp_path / "trace")
    check = "import sys, models; models.load_trace(sys.argv[1]); print(*sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", check, tmp_path / "trace"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "safetensors" in process.stdout.split() and "transformers" not in process.stdout.split()
