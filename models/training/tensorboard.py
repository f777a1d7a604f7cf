"""The log of a live training for TensorBoard, which can read it during the training and later: `tensorboard --logdir FOLDER`.

TensorBoard itself, which takes a second to import, is imported when a log begins.
"""

from __future__ import annotations

import contextlib
import contextvars
import itertools
import re
import threading
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFont
from torch.overrides import TorchFunctionMode

from models.scratch import masks
from models.scratch.config import TransformerConfig
from models.training.live import START, VOCABULARY, Snapshot, Training

if TYPE_CHECKING:
    from tensorboard.compat.proto.graph_pb2 import GraphDef
    from torch.utils.tensorboard import SummaryWriter

PICTURES = 24 * 2**20  # bytes of log that leave room for images and histograms; curves are always written
CURVES = {"training/loss": "loss", "training/learning rate": "rate", "training/gradient norm": "norm"}
COMPARED = (  # choices that distinguish runs, besides the task
    *("layers", "heads", "kv_heads", "d_model", "d_ff", "positions", "norm", "norm_place", "feedforward", "experts", "score"),
    *("computed", "pattern", "dropout", "optimizer", "rate", "rows", "steps", "seed"),
)
HEADS = {"entropy": "entropy", "previous token": "previous", "induction": "induction"}
CIVIDIS = np.array(  # eleven even steps of the scale, from 0 to 1 (Nuñez, Anderton and Renslow 2018)
    [
        *[(0, 34, 78), (8, 51, 112), (53, 69, 108), (79, 87, 108), (102, 105, 112), (125, 124, 120)],
        *[(148, 142, 119), (174, 163, 113), (200, 184, 102), (229, 207, 82), (254, 232, 56)],
    ]
)
ABOUT = """\
**{task.name}**: {task.says}

The attention here is that of the example

{example}

| what | how it is counted |
|---|---|
| training/loss, gradient norm | of the rows learned from at that step, in nats a byte; the norm is from before clipping |
| held out/loss, accuracy | on examples not learned from; accuracy is the share of the answers’ bytes held likeliest |
| entropy | of a head’s weights, in nats, the mean over the queries after the first, which has no choice |
| previous token, induction | mean weight on the token before, and on what followed earlier copies of the token, all of them |
| attention | weights of each query on the keys that it may see; in the images rows are “from”, columns “to” |
| weights, gradients | of the matrices; the gradients are those of the step before, after clipping |
| embedding | of each token, before the training and at its end |

| choice | value |
|---|---|
| parameters | {parameters:,} |
{choices}
"""

_tracing = threading.Lock()  # PyTorch traces one network at a time


class TensorBoardLog:
    """A log of a `Training`, written by `Training(task, config, budget, watch=TensorBoardLog(folder))`.

    Each run has a folder of its own in `folder`, the first free one of name-1, name-2, …, so that TensorBoard shows them side by
    side. Scalars: loss, learning rate and gradient norm of every step; loss and accuracy held out, and entropy, previous-token
    and induction score of every head, at every snapshot. Histograms: attention of each head, weights and gradients of each
    matrix. Images: attention, a picture a layer. Also: the graph, the token embedding for the projector before and after
    training, and the choices as text and as hyperparameters. Images and histograms are left out of some snapshots where they
    would be more than their share of 24 MB; a number of a curve takes about 60 bytes.

    folder: of this run. says: why the log ended before the training did, in a sentence; the training goes on without it.

    Errors: ValueError when the folder cannot be written to or the name is not that of a folder, and for a second training.
    """

    def __init__(self, folder: Path, name: str = "run"):
        from torch.utils.tensorboard import SummaryWriter

        if not name or Path(name).name != name:
            raise ValueError(f"The name of a run is that of a folder, without slashes; it is {name!r}.")
        try:
            self.folder = _new_folder(Path(folder), name)
            self._writer: SummaryWriter | None = SummaryWriter(str(self.folder))
        except OSError as error:
            raise ValueError(
                f"The log cannot be written to {folder}: {error.strerror or error}. Choose a folder that you may write to."
            ) from error
        self.says = ""
        self._training: Training | None = None
        self._steps, self._snapshot = 0, -1  # how far the curves are written, and the step of the last snapshot that is

    def __call__(self, training: Training) -> None:
        """Write everything new; when the training has ended, its end too, and close the log."""
        if self._training not in (None, training):
            raise ValueError("A log is that of one training. Begin a new log for this one.")
        self._training = training
        if self._writer is None:
            return
        try:
            if self._snapshot < 0:
                self._begin(self._writer, training)
            self._go_on(self._writer, training)
            if training.state not in ("paused", "running"):
                self._end(self._writer, training)
                self.close()
        except OSError as error:
            self.says = (
                f"The TensorBoard log ends at step {training.step}, as {self.folder} cannot be written to any more: "
                f"{error.strerror or error}. The training goes on without it."
            )
            with contextlib.suppress(OSError):
                self.close()

    def close(self) -> None:
        """Flush everything to the files; nothing more is written after that."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def _begin(self, writer: SummaryWriter, training: Training) -> None:
        from torch.utils.tensorboard.summary import hparams

        settings = asdict(training.config) | asdict(training.budget)
        writer.add_text("about/this run", _about(training, settings))
        compared = {"task": training.task.name, "parameters": training.parameters} | {name: settings[name] for name in COMPARED}
        for summary in hparams(compared, dict.fromkeys(["held out/accuracy", "held out/loss"]))[:2]:
            _events(writer).add_summary(summary)
        writer.add_custom_scalars(_charts(training.config.layers))
        _add_graph(writer, training)

    def _go_on(self, writer: SummaryWriter, training: Training) -> None:
        """Write the curves up to now, the new snapshots, and pictures of the newest."""
        steps = len(training.curves.loss)
        for tag, name in CURVES.items():
            for step, value in enumerate(getattr(training.curves, name)[self._steps : steps], self._steps):
                writer.add_scalar(tag, value, step)
        self._steps = steps
        new = [snapshot for snapshot in training.snapshots if snapshot.step > self._snapshot]
        for snapshot in new:
            _add_scores(writer, snapshot)
        if new:
            self._snapshot = new[-1].step
            if new[-1].step == 0:
                _add_embedding(writer, training, 0)
            if self._room(training):
                _add_attention(writer, training, new[-1])
                _add_matrices(writer, training, new[-1].step)
        writer.flush()

    def _end(self, writer: SummaryWriter, training: Training) -> None:
        from torch.utils.tensorboard.summary import hparams

        if self._snapshot > 0:  # the weights are those of the last snapshot, whatever the end
            _add_embedding(writer, training, self._snapshot)
        writer.add_text("about/its end", training.says, training.step)
        if training.state in ("done", "stopped"):
            _events(writer).add_summary(hparams({}, {})[2])  # marks the run as successful

    def _room(self, training: Training) -> bool:
        """Return whether the log has not yet taken more than its share at this step."""
        log_bytes = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
        return training.step in (0, training.budget.steps) or log_bytes <= PICTURES * training.step / training.budget.steps


def _events(writer: SummaryWriter) -> Any:
    """Return the writer of events of an open log."""
    return writer.file_writer


def _new_folder(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        with contextlib.suppress(FileExistsError):
            (folder / f"{name}-{number}").mkdir()
            return folder / f"{name}-{number}"
    raise AssertionError("there is always one number more")


def _about(training: Training, settings: dict[str, object]) -> str:
    example = "".join(f"    {line}\n" for line in "".join(training.probe).splitlines())  # indented: Markdown leaves it as it is
    choices = "\n".join(f"| {name} | {value} |" for name, value in settings.items())
    return ABOUT.format(task=training.task, example=example, parameters=training.parameters, choices=choices)


def _charts(layers: int) -> dict[str, dict[str, list]]:
    """Return charts of several lines for the page “Custom scalars”: each layer's heads in one."""
    learning = {
        "loss": ["Multiline", ["training/loss", "held out/loss"]],
        "accuracy": ["Multiline", ["held out/accuracy"]],
        "gradient norm": ["Multiline", ["training/gradient norm"]],
    }
    return {"learning": learning} | {
        tag: {f"L{layer}": ["Multiline", [f"{tag}/L{layer} H"]] for layer in range(layers)} for tag in HEADS
    }


def _add_scores(writer: SummaryWriter, snapshot: Snapshot) -> None:
    writer.add_scalar("held out/loss", snapshot.loss, snapshot.step)
    writer.add_scalar("held out/accuracy", snapshot.accuracy, snapshot.step)
    for tag, name in HEADS.items():
        for (layer, head), value in np.ndenumerate(getattr(snapshot, name)):
            if np.isfinite(value):  # the induction score is no number where no token comes again
                writer.add_scalar(f"{tag}/L{layer} H{head}", value, snapshot.step)


def _add_attention(writer: SummaryWriter, training: Training, snapshot: Snapshot) -> None:
    """Add histograms of each head's weights on visible keys, and a picture of each layer."""
    assert isinstance(training.config, TransformerConfig), "a log is kept of networks with heads"
    mask = masks.mask(training.config, *snapshot.attention.shape[2:])
    assert mask is not None, "a decoder has one"
    visible = mask.numpy()  # [query, key]
    for layer, heads in enumerate(snapshot.attention.astype(np.float32).clip(0, 1)):
        for head, weights in enumerate(heads):
            bins = np.linspace(0, 1, 41)
            writer.add_histogram(f"attention/L{layer} H{head}", weights[visible], snapshot.step, bins=bins)
        titles = [f"L{layer} H{head}" for head in range(len(heads))]
        picture = attention_picture(heads, titles, "".join(chr(code) if code < START else " " for code in training.read))
        writer.add_image(f"attention/L{layer}", picture, snapshot.step, dataformats="HWC")


def _add_matrices(writer: SummaryWriter, training: Training, step: int) -> None:
    for name, parameter in training.network.named_parameters():
        if parameter.dim() < 2:
            continue
        short = re.sub(r"^blocks\.(\d+)\.", r"L\1 ", name).removesuffix(".weight")
        for tag, values in (("weights", parameter), ("gradients", parameter.grad)):
            if values is not None and len(finite := values.detach()[values.isfinite()]):
                writer.add_histogram(f"{tag}/{short}", finite.numpy(), step, bins=64)


def _add_embedding(writer: SummaryWriter, training: Training, step: int) -> None:
    """Add the token embedding, with a name and kind for each token, and whether the task uses it."""
    used = {START, *np.unique(training.task.batch(np.random.default_rng(0), 256)[0]).tolist()}
    rows = [[*_label(code), "yes" if code in used else "no"] for code in range(VOCABULARY)]
    vectors = training.network.get_parameter("embedding.weight").detach()[:VOCABULARY]
    writer.add_embedding(vectors, rows, global_step=step, tag="embedding", metadata_header=["token", "kind", "in the task"])


def _label(code: int) -> tuple[str, str]:
    """Return a token's name, without tabs and line breaks, and its kind."""
    if code == START:
        return "start", "start"
    character = chr(code)
    if code >= 0x80:
        return f"byte {code:02x}", "byte"
    if code <= 0x20 or code == 0x7F:
        return chr(0x2421 if code == 0x7F else 0x2400 + code), "space" if character.isspace() else "control"
    return character, "letter" if character.isalpha() else "digit" if character.isdigit() else "sign"


SIZE: Any = torch.Tensor.shape  # the descriptor, which has no type in torch


class _PlainSizes(TorchFunctionMode):
    """Keeps sizes plain numbers while a network is traced; torch would make them tensors, which attention does not take."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None) -> Any:
        result = func(*args, **(kwargs or {}))
        return tuple(int(length) for length in result) if func == SIZE.__get__ else result


def _add_graph(writer: SummaryWriter, training: Training) -> None:
    """Add the graph of the network reading one example."""
    from torch.utils.tensorboard._pytorch_graph import graph  # what `SummaryWriter.add_graph` writes as it is

    def trace() -> None:
        with _tracing, torch.no_grad(), _PlainSizes(), warnings.catch_warnings():
            # A graph of one size is what is drawn. PyTorch would rather export networks today, but draws what it traces.
            warnings.simplefilter("ignore", torch.jit.TracerWarning)
            warnings.filterwarnings("ignore", r"`torch\.jit\.", DeprecationWarning)
            traced, statistics = graph(training.network, torch.full((1, training.task.length), START))
        _events(writer).add_graph((_tidy(traced), statistics))

    contextvars.Context().run(trace)  # an empty context has no recorder that could record the trace


def _tidy(graph: GraphDef) -> GraphDef:
    """Simplify the graph: operations by their names, weights in the block that they belong to, and data only.

    Constants are placed at their first use, and would connect parts that share a number; tuples and changes of type only pass on
    their inputs. A weight has no source; PyTorch gives our linear map `output` the network's own output as
    its source.
    """
    names: dict[str, str] = {}  # of the nodes that stay
    parts: dict[str, Iterator[str]] = {}  # of each tuple, again and again
    source_of: dict[str, str] = {}  # by the name of a node that passes it on
    tidy = type(graph)(versions=graph.versions)
    end = [node for node in graph.node if node.name.startswith("output/")]
    for node in [*(node for node in graph.node if node not in end), *end]:  # each after its inputs
        sources = [source_of.get(name, name) for name in node.input if source_of.get(name, name) in names or name in parts]
        if node.op == "prim::TupleConstruct":
            parts[node.name] = itertools.cycle(sources)
        elif node.op in ("prim::TupleUnpack", "aten::to") and sources:
            source_of[node.name] = next(parts[sources[0]]) if sources[0] in parts else sources[0]
        elif node.op != "prim::Constant" and (sources or node.op != "prim::ListConstruct"):  # without sources: a list of sizes
            scope, _, leaf = re.sub(r"ModuleList\[\w+\]/", "", node.name).rpartition("/")
            operation = "" if node.op in ("IO Node", "prim::GetAttr") else node.op.rpartition("::")[2] + "."
            names[node.name] = f"{scope}/{operation}{leaf}"
            sources = [] if node.op == "prim::GetAttr" else [names[name] for name in sources]
            tidy.node.add(name=names[node.name], op=node.op, input=sources, device=node.device, attr=node.attr)
    return tidy


def attention_picture(attention: np.ndarray, titles: Iterable[str], characters: str) -> np.ndarray:
    """Draw heads side by side on one scale, dark 0 and yellow 1: uint8 [height, width, 3]. Rows are “from”, columns “to”.

    attention: [heads, query, key], from 0 to 1; characters: one a position.
    """
    size = attention.shape[-1]
    cell = max(1, min(8, 400 // size))  # pixels
    columns = int(np.ceil(len(attention) ** 0.5))
    left, top = 20, 42
    width, height = left + size * cell, top + size * cell
    frame = Image.new("RGB", (width, height), "white")  # the frame around each head
    draw = ImageDraw.Draw(frame)
    draw.text((left + 64, top - 18), "rows: from, columns: to", "black", ImageFont.load_default(10), anchor="ls")
    if cell == 8:
        font = ImageFont.load_default(9)
        for place, character in enumerate(characters):
            symbol = character if character.isascii() and character.isprintable() else "·"
            draw.text((left - 8, top + place * cell + 4), symbol, "black", font, anchor="mm")
            draw.text((left + place * cell + 4, top - 8), symbol, "black", font, anchor="mm")
    canvas = Image.new("RGB", (columns * width + 16, -(-len(attention) // columns) * height + 16), "white")
    draw, font = ImageDraw.Draw(canvas), ImageFont.load_default(18)
    scale = np.linspace(0, 1, len(CIVIDIS))
    colours = np.stack([np.interp(attention, scale, channel) for channel in CIVIDIS.T], axis=-1).round().astype(np.uint8)
    for head, (picture, title) in enumerate(zip(colours, titles, strict=True)):
        x, y = head % columns * width, head // columns * height
        canvas.paste(frame, (x, y))
        large = Image.fromarray(picture).resize((size * cell, size * cell), Image.Resampling.NEAREST)
        canvas.paste(large, (x + left, y + top))
        draw.text((x + left, y + top - 18), title, "black", font, anchor="ls")
    return np.asarray(canvas)
