"""The log of a training, read back by TensorBoard itself: it says what the training says, and never stands in its way."""

from __future__ import annotations

import io
import re
import shutil
import warnings
from pathlib import Path

import matplotlib
import networkx as nx
import numpy as np
import pytest
import torch
from google.protobuf import text_format
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_multiplexer import EventMultiplexer
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.hparams.api_pb2 import Status
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

from models.attention.recorder import recording
from models.scratch.config import TransformerConfig
from models.training import tensorboard
from models.training.live import START, VOCABULARY, Budget, Training
from models.training.tasks import TASKS, Task
from models.training.tensorboard import TensorBoardLog, attention_picture

SMALL = {"vocabulary": VOCABULARY, "context": 64, "d_model": 16, "layers": 2, "heads": 2, "d_ff": 24}
BUDGET = Budget(steps=12, every=4, rows=4, seconds=1e9)
LENGTH = 22  # of a date


def nobody(training: Training) -> None:
    """Watches nothing."""


def train(watch=nobody, task: Task | None = None, budget: Budget = BUDGET, steps: int = 100, **choices) -> Training:
    training = Training(task or TASKS["dates"](), TransformerConfig(**SMALL | choices), budget, watch)
    training.advance(steps)
    assert training.snapshots, "the first one is taken when it is asked for, where no step was"
    return training


def read(log: TensorBoardLog) -> EventAccumulator:
    """Return everything that TensorBoard finds in a run, without sampling."""
    kinds = ("scalars", "histograms", "compressedHistograms", "images", "tensors")
    return EventAccumulator(str(log.folder), size_guidance=dict.fromkeys(kinds, 0)).Reload()


def says(log_events: EventAccumulator, tag: str) -> str:
    return log_events.Tensors(f"{tag}/text_summary")[0].tensor_proto.string_val[0].decode()


@pytest.fixture(scope="module")
def log(tmp_path_factory) -> TensorBoardLog:
    return TensorBoardLog(tmp_path_factory.mktemp("logs"))


@pytest.fixture(scope="module")
def training(log) -> Training:
    return train(log)


@pytest.fixture(scope="module")
def log_events(log, training) -> EventAccumulator:
    return read(log)


def test_every_step_is_there_once(training, log_events):
    for tag, values in (
        ("training/loss", training.curves.loss),
        ("training/learning rate", training.curves.rate),
        ("training/gradient norm", training.curves.norm),
    ):
        events = log_events.Scalars(tag)
        assert [event.step for event in events] == list(range(12))
        np.testing.assert_array_equal([event.value for event in events], np.float32(values))


def test_every_head_is_there_at_every_snapshot(training, log_events):
    for layer in range(2):
        for head in range(2):
            for tag, name in (("entropy", "entropy"), ("previous token", "previous"), ("induction", "induction")):
                events = log_events.Scalars(f"{tag}/L{layer} H{head}")
                assert [event.step for event in events] == [0, 4, 8, 12]
                wanted = [getattr(snapshot, name)[layer, head] for snapshot in training.snapshots]
                np.testing.assert_array_equal([event.value for event in events], wanted)
    for name in ("loss", "accuracy"):
        wanted = [np.float32(getattr(snapshot, name)) for snapshot in training.snapshots]
        np.testing.assert_array_equal([event.value for event in log_events.Scalars(f"held out/{name}")], wanted)


@pytest.mark.thorough
def test_a_score_that_is_no_number_is_left_out(tmp_path):
    def make(generator: np.random.Generator) -> tuple[str, str]:
        text = "".join(generator.permutation(list("abcdefgh")))
        return text[:4], text[4:]

    log = TensorBoardLog(tmp_path)
    train(log, Task("all different", "No letter comes again.", 8, make))
    tags = read(log).Tags()["scalars"]
    assert not [tag for tag in tags if tag.startswith("induction")]
    assert len([tag for tag in tags if tag.startswith("previous token")]) == 4


@pytest.mark.thorough
def test_charts_show_each_head_once(tmp_path):
    log = TensorBoardLog(tmp_path)
    train(log, steps=1, budget=Budget(steps=1, rows=1), layers=11)
    log_events = read(log)
    layout = layout_pb2.Layout.FromString(log_events.Tensors("custom_scalars__config__")[0].tensor_proto.string_val[0])
    parts = {category.title: [list(chart.multiline.tag) for chart in category.chart] for category in layout.category}
    tags = log_events.Tags()["scalars"]
    for name in ("entropy", "previous token", "induction"):
        charts = [[tag for tag in tags if any(re.match(pattern, tag) for pattern in chart)] for chart in parts[name]]
        assert charts == [[f"{name}/L{layer} H0", f"{name}/L{layer} H1"] for layer in range(11)]
    assert {tag for chart in parts["learning"] for tag in chart} <= set(tags)


def test_histograms_count_what_may_be_seen(training, log_events):
    for layer in range(2):
        for head in range(2):
            for event, snapshot in zip(log_events.Histograms(f"attention/L{layer} H{head}"), training.snapshots, strict=True):
                assert event.step == snapshot.step
                value = event.histogram_value
                assert value.num == sum(value.bucket) == LENGTH * (LENGTH + 1) / 2, "keys up to the query"
                assert value.sum == pytest.approx(LENGTH, abs=0.1), "each query gives 1 in all"


def test_a_pattern_hides_its_keys_from_the_histogram(tmp_path):
    log = TensorBoardLog(tmp_path)
    train(log, steps=0, pattern="window", window=2)
    value = read(log).Histograms("attention/L0 H0")[0].histogram_value
    assert value.num == 2 * LENGTH - 1 and value.sum == pytest.approx(LENGTH, abs=0.1)


def test_histograms_are_of_every_matrix(training, log_events):
    tags = log_events.Tags()["histograms"]
    matrices = [parameter.detach().numpy() for parameter in training.network.parameters() if parameter.dim() > 1]
    for kind in ("weights", "gradients"):
        assert len([tag for tag in tags if tag.startswith(f"{kind}/")]) == len(matrices)
    assert "gradients/L1 attention.query" in tags
    for name, matrix in (
        ("embedding", training.network.embedding.weight),
        ("L1 attention.query", training.network.blocks[1].attention.query.weight),
    ):
        last = log_events.Histograms(f"weights/{name}")[-1]
        assert last.step == 12
        value, matrix = last.histogram_value, matrix.detach().numpy().astype(float)
        assert (value.min, value.max, value.num) == (matrix.min(), matrix.max(), matrix.size)
        counts, edges = np.histogram(matrix, bins=len(value.bucket) - 1)
        np.testing.assert_array_equal(value.bucket[1:], counts)
        np.testing.assert_allclose(value.bucket_limit, edges)
        assert [event.step for event in log_events.Histograms(f"gradients/{name}")] == [4, 8, 12], "there is none before a step"


def test_gradients_are_those_of_the_step(tmp_path):
    log, squares = TensorBoardLog(tmp_path), []

    def watch(training: Training) -> None:
        log(training)
        if training.step:
            squares.append(training.network.embedding.weight.grad.double().square().sum().item())

    train(watch, steps=4)
    events = read(log).Histograms("gradients/embedding")
    assert [event.step for event in events] == [4]
    assert [event.histogram_value.sum_squares for event in events] == pytest.approx(squares)
    total = sum(
        event.histogram_value.sum_squares
        for tag in read(log).Tags()["histograms"]
        if tag.startswith("gradients/")
        for event in read(log).Histograms(tag)
    )
    assert 0 < total <= 1.001, "they are clipped to a norm of 1 in all"


def test_images_show_the_attention_of_the_snapshots(training, log_events):
    for layer in range(2):
        events = log_events.Images(f"attention/L{layer}")
        assert [event.step for event in events] == [0, 4, 8, 12]
        image = np.asarray(Image.open(io.BytesIO(events[-1].encoded_image_string)))
        seen = np.stack([cells(part) for part in np.split(image[:, : image.shape[1] // 2 * 2], 2, axis=1)])
        wanted = matplotlib.colormaps["cividis"](training.snapshots[-1].attention[layer].astype(float))[..., :3] * 255
        assert np.abs(seen - wanted).max() < 10


def cells(image: np.ndarray, size: int = LENGTH) -> np.ndarray:
    """Return the middle of each cell of the only picture in an image, [query, key, 3]: pixels that are not black, white or
    grey."""
    coloured = np.ptp(image.astype(int), axis=-1) > 8
    rows, columns = (np.flatnonzero(coloured.mean(axis) > 0.5 * coloured.mean(axis).max()) for axis in (1, 0))
    log_events = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    height, width = log_events.shape[0] / size, log_events.shape[1] / size
    return log_events[((np.arange(size) + 0.5) * height).astype(int)][:, ((np.arange(size) + 0.5) * width).astype(int)].astype(
        int
    )


@pytest.mark.parametrize("size", [3, 22, 50, 64, 300])
def test_a_picture_has_a_cell_for_each_pair(size):
    attention = np.zeros((1, size, size))
    attention[0, np.arange(size), np.maximum(np.arange(size) - 1, 0)] = 1
    seen = cells(attention_picture(attention, ["L0 H0"], "x" * size), size)
    np.testing.assert_array_equal(seen[..., 0] > 200, attention[0] == 1)


def test_the_scale_is_cividis():
    values = np.linspace(0, 1, 64).reshape(1, 8, 8)
    wanted = matplotlib.colormaps["cividis"](values[0])[..., :3] * 255
    assert np.abs(cells(attention_picture(values, ["L0 H0"], "a\n\0é bcd"), 8) - wanted).max() < 9


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"positions": "alibi", "kv_heads": 1, "tied": False},
        {"positions": "relative", "pattern": "bigbird", "norm": "layer"},
        {"positions": "learned", "score": "additive", "norm_place": "after"},
        {"experts": 3, "bias": True},
        {"computed": "performer"},
        {"dropout": 0.1, "checkpointing": True, "head_transform": True},
    ],
    ids=str,
)
def test_the_graph_is_the_network(tmp_path, choices):
    log = TensorBoardLog(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        training = train(log, steps=0, **choices)
    nodes = read(log).Graph().node
    names = {node.name for node in nodes}
    assert len(names) == len(nodes) and all(source in names for node in nodes for source in node.input)
    graph = nx.DiGraph([(source, node.name) for node in nodes for source in node.input])
    assert nx.is_directed_acyclic_graph(graph)
    (end,) = [node.name for node in nodes if node.name.startswith("output/")]
    (start,) = [node.name for node in nodes if node.name.startswith("input/")]
    leads = nx.ancestors(graph, end)
    assert start in leads
    for layer in range(2):
        attention = f"Decoder/Block[{layer}]/MultiHeadAttention[attention]/"
        for part in ("query", "key", "value", "output"):
            (weight,) = [node.name for node in nodes if node.name.startswith(f"{attention}Linear[{part}]/weight/")]
            assert weight in leads
            (linear,) = [node for node in nodes if node.name.startswith(f"{attention}Linear[{part}]/linear.")]
            assert len(linear.input) == 2 + choices.get("bias", False), "what it maps, its weight, its bias"
            if layer == 0:
                assert any(name.startswith("Decoder/Block[1]/") for name in nx.descendants(graph, weight))
    paths = {".".join(re.findall(r"\[(\w+)\]", name) + name.split("/")[-2:-1]) for name in leads}
    parameters = {re.sub(r"\b(blocks|experts)\.", "", name) for name, _ in training.network.named_parameters()}
    assert parameters <= paths, "every parameter leads to the output"
    first, second = (f"Decoder/Block[{layer}]/" for layer in range(2))
    assert len({source for source, to in graph.edges if source.startswith(first) and to.startswith(second)}) == 1, (
        "the stream alone"
    )
    exact = sum(node.op == "aten::scaled_dot_product_attention" for node in nodes)
    assert exact == (0 if {"score", "computed"} & set(choices) else 2)


def test_tracing_leaves_no_trace(tmp_path):
    seen = []
    for watch in (nobody, TensorBoardLog(tmp_path)):
        with recording() as record:
            training = train(watch, steps=2, dropout=0.1)
        assert training.network.training
        seen.append((len(record.calls), training.curves.loss, torch.get_rng_state().tolist()))
    assert seen[0] == seen[1], "the same is recorded, learned and drawn with a log and without"


def test_the_projector_finds_the_embedding_before_and_after(log, training):
    config = text_format.Parse((log.folder / "projector_config.pbtxt").read_text(), ProjectorConfig())
    assert [embedding.tensor_name for embedding in config.embeddings] == ["embedding:00000", "embedding:00012"]
    for embedding, trained in zip(config.embeddings, (train(steps=0), training), strict=True):
        vectors = np.loadtxt(log.folder / embedding.tensor_path, delimiter="\t", dtype=np.float32)
        np.testing.assert_array_equal(vectors, trained.network.embedding.weight.detach().numpy())
        lines = (log.folder / embedding.metadata_path).read_bytes().decode().split("\n")
        header, *rows = [line.split("\t") for line in lines[:-1]]
        assert header == ["token", "kind", "in the task"] and len(rows) == len(vectors)


def test_each_token_has_a_name_of_its_own(log, training):
    text = (log.folder / "00012" / "embedding" / "metadata.tsv").read_bytes().decode()
    assert len(text.splitlines()) == VOCABULARY + 1, "no name breaks a line"
    names, kinds, used = zip(*(line.split("\t") for line in text.splitlines()[1:]), strict=True)
    assert len(set(names)) == VOCABULARY and all(name.strip() == name and name.isprintable() for name in names)
    assert (names[START], names[ord("a")], names[ord("7")]) == ("start", "a", "7")
    assert (kinds[ord("a")], kinds[ord("7")], kinds[ord("-")], kinds[ord(" ")], kinds[0]) == (
        *("letter", "digit", "sign", "space", "control"),
    )
    assert {names[code] for code in training.read} <= {name for name, yes in zip(names, used, strict=True) if yes == "yes"}
    assert used[ord("?")] == used[200] == "no"


def test_it_says_what_was_chosen_and_how_it_ended(training, log_events):
    about = says(log_events, "about/this run")
    assert training.task.says in about and "".join(training.probe) in about
    assert "| d_ff | 24 |" in about and "| rows | 4 |" in about and f"| parameters | {training.parameters:,} |" in about
    assert says(log_events, "about/its end") == training.says
    summaries = log_events.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
    chosen = HParamsPluginData.FromString(summaries).session_start_info.hparams
    assert (chosen["layers"].number_value, chosen["rate"].number_value) == (2, training.budget.rate)
    ending = HParamsPluginData.FromString(log_events.SummaryMetadata("_hparams_/session_end_info").plugin_data.content)
    assert Status.Name(ending.session_end_info.status) == "STATUS_SUCCESS"
    assert (chosen["positions"].string_value, chosen["task"].string_value) == ("rotary", "dates")


@pytest.mark.thorough
def test_runs_in_one_folder_are_kept_apart(tmp_path):
    first, second, other = TensorBoardLog(tmp_path), TensorBoardLog(tmp_path), TensorBoardLog(tmp_path / "deep" / "er", "copy")
    train(first), train(second, steps=4)
    other.close()
    runs = EventMultiplexer().AddRunsFromDirectory(str(tmp_path)).Reload()
    assert set(runs.Runs()) == {"run-1", "run-2", "deep/er/copy-1"}
    assert [len(runs.Scalars(run, "training/loss")) for run in ("run-1", "run-2")] == [12, 4]


def test_folders_that_cannot_be_are_a_sentence_before_it_begins(tmp_path):
    (tmp_path / "file").write_text("here already")
    for folder in (tmp_path / "file", tmp_path / "file" / "logs", Path("/proc/logs")):
        with pytest.raises(ValueError, match=r"cannot be written to .* Choose a folder"):
            TensorBoardLog(folder)
    for name in ("", "a/b", "../up"):
        with pytest.raises(ValueError, match="without slashes"):
            TensorBoardLog(tmp_path, name)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_it_is_read_while_it_is_written(tmp_path):
    log = TensorBoardLog(tmp_path)
    training = train(log, steps=9)
    assert [event.step for event in read(log).Scalars("training/loss")] == list(range(8)), "up to the last snapshot"
    training.advance(100)
    assert [event.step for event in read(log).Scalars("training/loss")] == list(range(12))


def test_closing_keeps_what_was_noted_and_ends_it(tmp_path):
    log = TensorBoardLog(tmp_path)
    training = train(log, steps=5)
    log.close()
    log.close()
    before = {path: path.read_bytes() for path in log.folder.rglob("*") if path.is_file()}
    assert len(read(log).Scalars("training/loss")) == 4
    training.advance(100)
    assert training.state == "done"
    assert {path: path.read_bytes() for path in log.folder.rglob("*") if path.is_file()} == before


def test_a_training_that_is_stopped_is_all_there(tmp_path):
    log = TensorBoardLog(tmp_path)
    training = train(log, steps=6)
    training.stop()
    log_events = read(log)
    assert [event.step for event in log_events.Scalars("training/loss")] == list(range(6))
    assert [event.step for event in log_events.Images("attention/L0")] == [0, 4, 6]
    assert says(log_events, "about/its end") == training.says == "Stopped after 6 steps."
    assert "embedding:00006" in (log.folder / "projector_config.pbtxt").read_text()
    before = {path: path.read_bytes() for path in log.folder.rglob("*") if path.is_file()}
    log(training)
    assert {path: path.read_bytes() for path in log.folder.rglob("*") if path.is_file()} == before, "an end is an end"


def test_a_training_that_diverges_is_told_of(tmp_path):
    log = TensorBoardLog(tmp_path)
    training = train(log, steps=5)
    with torch.no_grad():
        training.network.blocks[0].attention.query.weight.fill_(float("nan"))
    training.advance(100)
    log_events = read(log)
    assert training.state == "diverged" and says(log_events, "about/its end") == training.says
    assert [event.value for event in log_events.Scalars("training/loss")] == training.curves.loss and len(
        training.curves.loss
    ) == 5
    assert [event.step for event in log_events.Histograms("weights/embedding")] == [0, 4]
    vectors = np.loadtxt(log.folder / "00004" / "embedding" / "tensors.tsv", dtype=np.float32)
    np.testing.assert_array_equal(vectors, training.network.embedding.weight.detach().numpy())


@pytest.mark.thorough
def test_weights_that_are_no_numbers_leave_the_others(tmp_path):
    log = TensorBoardLog(tmp_path)
    training = train(log, steps=3, tied=False)
    with torch.no_grad():
        training.network.embedding.weight[ord("?")] = float("inf")  # a token that dates do not have
    training.advance(100)
    assert training.state == "done" and not log.says
    assert {event.histogram_value.num for event in read(log).Histograms("weights/embedding")[1:]} == {(VOCABULARY - 1) * 16}


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # TensorBoard's writer dies of it
def test_a_log_that_breaks_off_does_not_stop_the_training(tmp_path):
    log = TensorBoardLog(tmp_path)
    training = train(log, steps=5)
    shutil.rmtree(tmp_path)
    tmp_path.write_text("somebody put a file here")
    training.advance(100)
    assert training.state == "done" and len(training.curves.loss) == 12
    assert "cannot be written to any more" in log.says and "step 8" in log.says
    assert training.curves.loss == train().curves.loss


@pytest.mark.thorough
def test_a_log_is_of_one_training(tmp_path):
    log = TensorBoardLog(tmp_path)
    train(log)
    with pytest.raises(ValueError, match="Begin a new log"):
        train(log)


@pytest.mark.thorough
def test_pictures_are_left_out_where_they_would_be_too_many(tmp_path, monkeypatch):
    monkeypatch.setattr(tensorboard, "PICTURES", 500_000)
    log = TensorBoardLog(tmp_path)
    train(log, budget=Budget(steps=60, every=1, rows=1))
    log_events = read(log)
    size = sum(path.stat().st_size for path in log.folder.rglob("*") if path.is_file())
    assert size < 700_000
    assert len(log_events.Scalars("training/loss")) == 60 and len(log_events.Scalars("entropy/L0 H0")) == 61
    steps = [event.step for event in log_events.Images("attention/L0")]
    assert steps[0] == 0 and steps[-1] == 60 and 3 < len(steps) < 61
    assert [event.step for event in log_events.Histograms("weights/embedding")] == steps
