"""The tuned lens of any model that predicts: a translator for each layer, from its residual stream to that of the last layer, so
that the model's own unembedding can read it.

Source: Belrose et al. 2023, "Eliciting Latent Predictions from Transformers with the Tuned Lens". Each translator begins as the
best linear map (Din et al. 2023, "Jump to Conclusions") and is then trained by gradient descent.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from models.catalog import WEIGHTS, names
from models.generation.answer import answers
from models.numbers.readonly import read_only

if TYPE_CHECKING:
    import torch

    from models.language_model import LanguageModel
    from models.trace import Trace

FILE = "tuned_lens.safetensors"
SAMPLE = Path(__file__).parent / "sample.txt"  # Lewis Carroll, Alice's Adventures in Wonderland (1865), in the public domain
LEAST = 200  # positions: fewer are too few to train a translator
LARGEST = 2**29  # numbers in all matrices: a gigabyte on disk
CHUNK, SENTENCE = 900, 150  # characters that are read at a time, and that an encoder-decoder answers at a time
ANSWER = 24  # tokens of an encoder-decoder's own answer to a sentence
COVERED = 5  # of an encoder's words one in so many is masked
Report = Callable[[float, str], None]


@dataclass(frozen=True)
class TunedLens:
    """Linear translators of all layers but the last. matrices: float32 [layers, d_model, d_model]; offsets [layers, d_model]."""

    matrices: np.ndarray
    offsets: np.ndarray

    def __post_init__(self) -> None:  # it is remembered for as long as its file stays as it is
        object.__setattr__(self, "matrices", read_only(self.matrices))
        object.__setattr__(self, "offsets", read_only(self.offsets))

    def __call__(self, hidden: np.ndarray) -> np.ndarray:
        """Return h + h A + b at every layer, the last one unchanged: float32 [layers + 1, position, d_model], as `hidden`.

        Errors: ValueError for a stream of another model.
        """
        if hidden.ndim != 3 or (len(hidden) - 1, hidden.shape[-1]) != self.offsets.shape:
            layers, width = self.offsets.shape
            raise ValueError(f"This lens is for {layers} layers of width {width}; the stream is {list(hidden.shape)}.")
        moved = hidden[:-1] + hidden[:-1] @ self.matrices + self.offsets[:, None]
        return np.concatenate([moved, hidden[-1:]])


@dataclass(frozen=True)
class LensRecipe:
    """The settings for training translators. positions: the most that are read; held_out: how many tenths of them are held out
    for measuring; operations: floating-point operations for all gradient steps, at most `steps` a layer, on `batch` positions
    each.
    """

    positions: int = 12_000
    held_out: int = 1
    ridge: float = 1e-2  # of the mean square of the stream
    steps: int = 300
    batch: int = 128
    rate: float = 1e-3  # AdamW (Loshchilov and Hutter 2019), falling to zero in a straight line
    operations: float = 4e12
    seed: int = 1


def train(
    model: LanguageModel, texts: Iterable[str], recipe: LensRecipe = LensRecipe(), report: Report = lambda share, words: None
) -> tuple[TunedLens, dict]:
    """Train the tuned lens of a model on texts; return it with its figures.

    The model is not changed. report(share, words) is called with the progress, and may raise to stop the training. Figures: for
    each layer the mean KL(last layer ‖ lens) in nats on the positions that were held out, of the logit lens and the tuned lens. A
    layer keeps the best of three translators on these: none, the linear one, and the one after the steps.
    Errors: ValueError without a language-model head, for too little text, and for a model that is too large.
    """
    import torch
    import torch.nn.functional as F

    from models.training.optimizers import AdamW

    if not model.info.predicts:
        raise ValueError(f"{model.info.name} has no language-model head, so there is nothing to look at its layers through.")
    stream = streams(model, texts, recipe.positions, lambda share, words: report(0.4 * share, words))
    layers, count, width = len(stream) - 1, stream.shape[1], stream.shape[2]
    tenth = np.arange(count) * 10 // count  # whole stretches of text, so that no sentence is in both
    learn, held_out = stream[:, tenth >= recipe.held_out], stream[:, tenth < recipe.held_out][:, :1024]
    cost = 6.0 * recipe.batch * width * model.info.vocabulary * layers
    steps = int(min(recipe.steps, recipe.operations // cost))
    generator = torch.Generator().manual_seed(recipe.seed)
    matrices, offsets = np.zeros((layers, width, width), np.float16), np.zeros((layers, width), np.float16)
    with torch.no_grad():
        goal = model.way_out(torch.from_numpy(held_out[-1].astype(np.float32))).float().log_softmax(-1)

    def divergence(rows: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
        """Return KL(last layer ‖ lens) in nats, the mean over positions. last: log-probabilities [position, vocabulary]."""
        return F.kl_div(model.way_out(rows).float().log_softmax(-1), last, log_target=True, reduction="batchmean")

    kl = np.zeros((2, layers))
    for layer in range(layers):
        inputs, test = (torch.from_numpy(part[layer].astype(np.float32)) for part in (learn, held_out))

        def measure(a: np.ndarray, b: np.ndarray, test: torch.Tensor = test) -> float:
            with torch.no_grad():
                moved = test + test @ torch.from_numpy(a.astype(np.float32)) + torch.from_numpy(b.astype(np.float32))
                return divergence(moved, goal).item()

        kl[0, layer] = kl[1, layer] = measure(matrices[layer], offsets[layer])
        best = [torch.from_numpy(array) for array in linear(learn[layer], learn[-1], recipe.ridge)]
        a, b = (tensor.clone().requires_grad_() for tensor in best)
        optimizer = AdamW([(a, 0.0), (b, 0.0)], betas=(0.9, 0.999))
        for step in range(steps + 1):
            if step in (0, steps):
                half = [tensor.detach().numpy().astype(np.float16) for tensor in (a, b)]  # measured as it is stored
                if all(np.isfinite(array).all() for array in half) and (now := measure(half[0], half[1])) < kl[1, layer]:
                    (matrices[layer], offsets[layer]), kl[1, layer] = half, now
            if step == steps:
                break
            report(0.4 + 0.6 * (layer + step / steps) / layers, f"Layer {layer} of {layers}")
            rows = torch.randint(len(inputs), (recipe.batch,), generator=generator)
            with torch.no_grad():
                last = model.way_out(torch.from_numpy(learn[-1][rows].astype(np.float32))).float().log_softmax(-1)
            with torch.enable_grad():
                divergence(inputs[rows] + inputs[rows] @ a + b, last).backward()
            optimizer.step(recipe.rate * (1 - step / steps))
            a.grad = b.grad = None
    lens = TunedLens(matrices.astype(np.float32), offsets.astype(np.float32))
    figures = {"positions": learn.shape[1], "held_out_positions": held_out.shape[1], "steps": steps}
    plain, tuned = ([round(value, 4) for value in row] for row in kl.tolist())
    return lens, figures | {"logit_lens_kl": plain, "tuned_lens_kl": tuned, "recipe": asdict(recipe)}


def linear(here: np.ndarray, last: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """Return A and b for which h + h A + b is nearest to the last layer: float32 [d, d], [d]; least squares with a ridge on A.

    here, last: [position, d]. A position counts by the inverse square of the length of its last stream: the norm before the
    vocabulary looks at directions, and a few positions are a hundred times as long as the others.
    """
    x, y = here.astype(np.float64), last.astype(np.float64)
    weight = 1 / np.maximum((y**2).sum(-1, keepdims=True), 1e-12)
    weight /= weight.sum()
    middle, gap = (weight * x).sum(0), (weight * (y - x)).sum(0)
    x, y = x - middle, y - x - gap
    square = (weight * x).T @ x
    square[np.diag_indices_from(square)] += ridge * np.trace(square) / len(square) + 1e-12
    a = np.linalg.solve(square, (weight * x).T @ y)
    return a.astype(np.float32), (gap - middle @ a).astype(np.float32)


def streams(model: LanguageModel, texts: Iterable[str], most: int, report: Report) -> np.ndarray:
    """Return the residual stream of texts at positions where the model predicts: float16 (float32 beyond its range) [layers + 1,
    position, d_model].

    A decoder predicts at all positions; for an encoder some words are masked; an encoder-decoder answers each chunk first.
    Errors: ValueError for too little text, and for a model that is too large.
    """
    if (width := model.info.d_model) ** 2 * max(model.info.layers, model.info.decoder_layers) > LARGEST:
        raise ValueError(f"{model.info.name} is too large for a tuned lens: its layers are {width:,} numbers wide.")
    chunks, count = [], 0
    size = min(CHUNK, 3 * (model.room or CHUNK)) if model.info.kind != "encoder-decoder" else SENTENCE
    for text in pieces(texts, size):
        trace = read(model, text)
        places = model.places(trace) if model.info.kind == "encoder" else slice(None)
        part = trace.stream[:, places]
        chunks.append(part.astype(np.float16 if np.abs(part).max(initial=0) < 6e4 else np.float32))
        count += part.shape[1]
        report(min(1.0, count / most), f"Reading: {count:,} positions")
        if count >= most:
            break
    if count < LEAST:
        raise ValueError(f"This text has {count:,} positions to learn from, and {LEAST} are the least. Bring a longer text.")
    return np.concatenate(chunks, axis=1)[:, :most]


def pieces(texts: Iterable[str], size: int) -> Iterator[str]:
    """Yield the texts in chunks of about `size` characters, cut at spaces."""
    for text in texts:
        words, length = [], 0
        for word in text.split():
            words.append(word)
            length += len(word) + 1
            if length >= size:
                yield " ".join(words)
                words, length = [], 0
        if words:
            yield " ".join(words)


def read(model: LanguageModel, text: str) -> Trace:
    """Read a text as the lens will be used: for an encoder with masked words, for an encoder-decoder with its own answer."""
    if model.info.kind == "encoder":
        words = text.split()
        return model.trace(" ".join(model.info.mask if i % COVERED == COVERED // 2 else word for i, word in enumerate(words)))
    if model.info.kind != "encoder-decoder":
        return model.trace(text)
    answer = ["", *answers(model, text, most=ANSWER)][-1]
    trace = model.trace(text, answer)
    return trace if len(trace.target) > len(trace.tokens) // 4 else model.trace(text, text)  # it may have nothing to say


# ---------------------------------------------------------------- where lenses are kept


def tuned_lens_of(model: LanguageModel) -> TunedLens | None:
    """Return the tuned lens for a model with its present weights: the one that ships with it or one trained here; None where
    there is none."""
    if not model.info.predicts:
        return None
    own = fingerprint(model)
    files = [WEIGHTS / model.info.name / FILE] if model.info.name in names() else []
    for file in (*files, folder() / f"{own}.safetensors"):
        if file.is_file() and (known := _read(file, file.stat().st_mtime_ns)) and known[1].get("weights") == own:
            return known[0]
    return None


def figures_of(model: LanguageModel) -> dict:
    """Return the figures of the lens that was trained here; {} where there is none."""
    file = folder() / f"{fingerprint(model)}.safetensors"
    known = _read(file, file.stat().st_mtime_ns) if file.is_file() else None
    return json.loads(known[1].get("figures", "{}")) if known else {}


def keep(lens: TunedLens, model: LanguageModel, figures: dict, file: Path | None = None) -> Path:
    """Write a lens with its figures and the fingerprint of its model's weights; return its file."""
    from safetensors.numpy import save_file

    own = fingerprint(model)
    file = file or folder() / f"{own}.safetensors"
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(f".{os.getpid()}.new")
    arrays = {"matrices": lens.matrices.astype(np.float16), "offsets": lens.offsets.astype(np.float16)}
    try:
        save_file(arrays, new, {"weights": own, "figures": json.dumps(figures)})
        new.chmod(0o644)  # safetensors makes it readable for its owner only
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)  # where there was no room for all of it
    return file


def folder() -> Path:
    """Return the folder of lenses trained here: beside the cache of the Hub."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE).parent / "headlight" / "tuned_lens"


_fingerprints: WeakKeyDictionary[LanguageModel, tuple[tuple, str]] = WeakKeyDictionary()


def fingerprint(model: LanguageModel) -> str:
    """Return a hash of a model's weights: names, shapes, types and every number. It is computed again after a weight changes."""
    import torch

    weights = sorted(model.network.state_dict(keep_vars=True).items())
    state = tuple((weight.data_ptr(), weight._version) for _, weight in weights if not weight.is_inference())
    known = _fingerprints.get(model)
    if known is None or known[0] != state:
        digest = hashlib.blake2b(digest_size=16)
        for name, weight in weights:
            digest.update(f"{name} {tuple(weight.shape)} {weight.dtype}".encode())
            digest.update(weight.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
        known = _fingerprints[model] = state, digest.hexdigest()
    return known[1]


@lru_cache(maxsize=8)
def _read(file: Path, changed: int) -> tuple[TunedLens, dict[str, str]] | None:
    """Read a lens and its metadata; None for a file that holds none. changed: its time of change, so that a new file is read."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, "np") as archive:
            lens = TunedLens(*(archive.get_tensor(name).astype(np.float32) for name in ("matrices", "offsets")))
            return lens, archive.metadata() or {}
    except (SafetensorError, OSError):
        return None
