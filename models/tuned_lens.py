"""The tuned lens of any model that predicts: a translator for each layer, from its residual stream to what the last layer would
make of it, so that the model's own way to the vocabulary can read it.

Source: Belrose et al. 2023, "Eliciting Latent Predictions from Transformers with the Tuned Lens". Each translator begins as the
best linear guess (Din et al. 2023, "Jump to Conclusions") and goes on by gradient.
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

from models.answer import answers
from models.catalog import WEIGHTS, names
from models.readonly import read_only

if TYPE_CHECKING:
    import torch

    from models.language_model import LanguageModel
    from models.trace import Trace

FILE = "tuned_lens.safetensors"
SAMPLE = Path(__file__).parent / "sample.txt"  # Lewis Carroll, Alice's Adventures in Wonderland (1865), in the public domain
LEAST = 200  # positions: from fewer, no translator is learned
LARGEST = 2**29  # numbers in all matrices: a gigabyte on disk
CHUNK, SENTENCE = 900, 150  # characters that are read at a time, and that an encoder-decoder answers at a time
ANSWER = 24  # tokens of an encoder-decoder's own answer to a sentence
COVERED = 5  # of an encoder's words one in so many is covered
Report = Callable[[float, str], None]


@dataclass(frozen=True)
class TunedLens:
    """matrices: float32 [layers, d_model, d_model]; offsets: float32 [layers, d_model]; one pair for each layer but the last."""

    matrices: np.ndarray
    offsets: np.ndarray

    def __post_init__(self) -> None:  # it is remembered for as long as its file stays as it is
        object.__setattr__(self, "matrices", read_only(self.matrices))
        object.__setattr__(self, "offsets", read_only(self.offsets))

    def __call__(self, hidden: np.ndarray) -> np.ndarray:
        """h + h A + b at every layer, the last one as it is: float32 of the shape given, [layers + 1, position, d_model].

        Errors: ValueError for a stream of another model.
        """
        if hidden.ndim != 3 or (len(hidden) - 1, hidden.shape[-1]) != self.offsets.shape:
            layers, width = self.offsets.shape
            raise ValueError(f"This lens is for {layers} layers of width {width}; the stream is {list(hidden.shape)}.")
        moved = hidden[:-1] + hidden[:-1] @ self.matrices + self.offsets[:, None]
        return np.concatenate([moved, hidden[-1:]])


@dataclass(frozen=True)
class LensRecipe:
    """How translators are trained. positions: that are read, at most; held_out: of ten parts of them, those that are only
    measured on; operations: floating-point operations for all gradient steps, at most `steps` a layer, on `batch` positions each.
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
    """The tuned lens of a model, learned from what it makes of texts, and its figures.

    The model stays as it is. report(share, words) is told how far it is, and may raise to stop it. Figures: for each layer the
    mean KL(last layer ‖ lens) in nats on the part of the positions that was held out, of the logit and the tuned lens. A layer
    keeps the better of its translators on these: none, the linear one, or the one after the steps.
    Errors: ValueError without a language-model head, for too little text, and for a model that is too large.
    """
    import torch
    import torch.nn.functional as F

    if not model.info.predicts:
        raise ValueError(f"{model.info.name} has no language-model head, so there is nothing to look at its layers through.")
    stream = streams(model, texts, recipe.positions, lambda share, words: report(0.4 * share, words))
    layers, count, width = len(stream) - 1, stream.shape[1], stream.shape[2]
    every = np.arange(count) * 10 // count  # whole stretches of text, so that no sentence is in both
    learn, held = stream[:, every >= recipe.held_out], stream[:, every < recipe.held_out][:, :1024]
    cost = 6.0 * recipe.batch * width * model.info.vocabulary * layers
    steps = int(min(recipe.steps, recipe.operations // cost))
    generator = torch.Generator().manual_seed(recipe.seed)
    matrices, offsets = np.zeros((layers, width, width), np.float16), np.zeros((layers, width), np.float16)
    with torch.no_grad():
        goal = model.way_out(torch.from_numpy(held[-1].astype(np.float32))).float().log_softmax(-1)

    def divergence(rows: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
        """KL(last layer ‖ lens) in nats, the mean over positions. last: log-probabilities [position, vocabulary]."""
        return F.kl_div(model.way_out(rows).float().log_softmax(-1), last, log_target=True, reduction="batchmean")

    kl = np.zeros((2, layers))
    for layer in range(layers):
        seen, test = (torch.from_numpy(part[layer].astype(np.float32)) for part in (learn, held))

        def measured(a: np.ndarray, b: np.ndarray, test: torch.Tensor = test) -> float:
            with torch.no_grad():
                moved = test + test @ torch.from_numpy(a.astype(np.float32)) + torch.from_numpy(b.astype(np.float32))
                return divergence(moved, goal).item()

        kl[0, layer] = kl[1, layer] = measured(matrices[layer], offsets[layer])
        best = [torch.from_numpy(one) for one in linear(learn[layer], learn[-1], recipe.ridge)]
        a, b = (one.clone().requires_grad_() for one in best)
        optim = torch.optim.AdamW([a, b], lr=recipe.rate, weight_decay=0.0)
        for step in range(steps + 1):
            if step in (0, steps):
                half = [one.detach().numpy().astype(np.float16) for one in (a, b)]  # what is kept is what is measured
                if all(np.isfinite(one).all() for one in half) and (now := measured(half[0], half[1])) < kl[1, layer]:
                    (matrices[layer], offsets[layer]), kl[1, layer] = half, now
            if step == steps:
                break
            report(0.4 + 0.6 * (layer + step / steps) / layers, f"Layer {layer} of {layers}")
            optim.param_groups[0]["lr"] = recipe.rate * (1 - step / steps)
            rows = torch.randint(len(seen), (recipe.batch,), generator=generator)
            with torch.no_grad():
                last = model.way_out(torch.from_numpy(learn[-1][rows].astype(np.float32))).float().log_softmax(-1)
            with torch.enable_grad():
                divergence(seen[rows] + seen[rows] @ a + b, last).backward()
            optim.step()
            optim.zero_grad(set_to_none=True)
    lens = TunedLens(matrices.astype(np.float32), offsets.astype(np.float32))
    figures = {"positions": learn.shape[1], "held_out_positions": held.shape[1], "steps": steps}
    plain, tuned = ([round(one, 4) for one in row] for row in kl.tolist())
    return lens, figures | {"logit_lens_kl": plain, "tuned_lens_kl": tuned, "recipe": asdict(recipe)}


def linear(here: np.ndarray, last: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """A and b for which h + h A + b is nearest to the last layer: float32 [d, d], [d]; least squares with a ridge on A.

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
    """The residual stream at positions where the model predicts, of texts: float16 (float32 beyond its range) [layers + 1,
    position, d_model].

    A decoder's are all positions; of an encoder some words are covered by its mask; an encoder-decoder answers each stretch
    first. Errors: ValueError for too little text, and for a model that is too large.
    """
    if (width := model.info.d_model) ** 2 * max(model.info.layers, model.info.decoder_layers) > LARGEST:
        raise ValueError(f"{model.info.name} is too large for a tuned lens: its layers are {width:,} numbers wide.")
    found, count = [], 0
    size = min(CHUNK, 3 * (model.room or CHUNK)) if model.info.kind != "encoder-decoder" else SENTENCE
    for text in pieces(texts, size):
        trace = read(model, text)
        places = model.places(trace) if model.info.kind == "encoder" else slice(None)
        part = trace.stream[:, places]
        found.append(part.astype(np.float16 if np.abs(part).max(initial=0) < 6e4 else np.float32))
        count += part.shape[1]
        report(min(1.0, count / most), f"Reading: {count:,} positions")
        if count >= most:
            break
    if count < LEAST:
        raise ValueError(f"This text has {count:,} positions to learn from, and {LEAST} are the least. Bring a longer text.")
    return np.concatenate(found, axis=1)[:, :most]


def pieces(texts: Iterable[str], size: int) -> Iterator[str]:
    """The texts in stretches of about so many characters, cut at spaces."""
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
    """A text as its lens is used: an encoder's with words covered, an encoder-decoder's with its own answer."""
    if model.info.kind == "encoder":
        words = text.split()
        return model.trace(" ".join(model.info.mask if i % COVERED == COVERED // 2 else word for i, word in enumerate(words)))
    if model.info.kind != "encoder-decoder":
        return model.trace(text)
    said = ["", *answers(model, text, most=ANSWER)][-1]
    trace = model.trace(text, said)
    return trace if len(trace.target) > len(trace.tokens) // 4 else model.trace(text, text)  # it may have nothing to say


# ---------------------------------------------------------------- where lenses are kept


def tuned_lens_of(model: LanguageModel) -> TunedLens | None:
    """The tuned lens of a model as it is now, its weights included: the one that ships with it or one that was trained here;
    None where there is none."""
    if not model.info.predicts:
        return None
    own = fingerprint(model)
    files = [WEIGHTS / model.info.name / FILE] if model.info.name in names() else []
    for file in (*files, folder() / f"{own}.safetensors"):
        if file.is_file() and (known := _read(file, file.stat().st_mtime_ns)) and known[1].get("weights") == own:
            return known[0]
    return None


def figures_of(model: LanguageModel) -> dict:
    """What was measured of the lens that was trained here; {} where it was not."""
    file = folder() / f"{fingerprint(model)}.safetensors"
    known = _read(file, file.stat().st_mtime_ns) if file.is_file() else None
    return json.loads(known[1].get("figures", "{}")) if known else {}


def keep(lens: TunedLens, model: LanguageModel, figures: dict, file: Path | None = None) -> Path:
    """Write a lens with the fingerprint of the weights that it belongs to, and its figures; gives its file."""
    from safetensors.numpy import save_file

    own = fingerprint(model)
    file = file or folder() / f"{own}.safetensors"
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(f".{os.getpid()}.new")
    arrays = {"matrices": lens.matrices.astype(np.float16), "offsets": lens.offsets.astype(np.float16)}
    try:
        save_file(arrays, new, {"weights": own, "figures": json.dumps(figures)})
        new.chmod(0o644)  # safetensors writes it for one pair of eyes
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)  # where there was no room for all of it
    return file


def folder() -> Path:
    """Where lenses that were trained here are kept: beside the cache of the Hub."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE).parent / "headlight" / "tuned_lens"


_fingerprints: WeakKeyDictionary[LanguageModel, tuple[tuple, str]] = WeakKeyDictionary()


def fingerprint(model: LanguageModel) -> str:
    """A hash of a model's weights: names, shapes, types and every number. Computed again once a weight was edited."""
    import torch

    weights = sorted(model.network.state_dict(keep_vars=True).items())
    state = tuple((one.data_ptr(), one._version) for _, one in weights if not one.is_inference())
    known = _fingerprints.get(model)
    if known is None or known[0] != state:
        found = hashlib.blake2b(digest_size=16)
        for name, one in weights:
            found.update(f"{name} {tuple(one.shape)} {one.dtype}".encode())
            found.update(one.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
        known = _fingerprints[model] = state, found.hexdigest()
    return known[1]


@lru_cache(maxsize=8)
def _read(file: Path, changed: int) -> tuple[TunedLens, dict[str, str]] | None:
    """A lens and what is written beside it; None where the file is none. changed: when, so that another is read again."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, "np") as kept:
            lens = TunedLens(*(kept.get_tensor(name).astype(np.float32) for name in ("matrices", "offsets")))
            return lens, kept.metadata() or {}
    except (SafetensorError, OSError):
        return None
