"""The tuned lens of a shipped model: `python -m models.scratch.tuned_lens --data FOLDER` trains it, and goes on where it stopped.

Each layer has a translator, an affine map from its residual stream to what the last layer would make of it, so that the model's
own way to the vocabulary can read it.
Source: Belrose et al. 2023, "Eliciting Latent Predictions from Transformers with the Tuned Lens".
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from models.catalog import WEIGHTS, names

FILE = "tuned_lens.safetensors"


@dataclass(frozen=True)
class TunedLens:
    """matrices: float32 [layers, d_model, d_model]; offsets: float32 [layers, d_model]; one pair for each layer but the last."""

    matrices: np.ndarray
    offsets: np.ndarray

    def __call__(self, hidden: np.ndarray) -> np.ndarray:
        """h + h A + b at every layer, the last one as it is: float32 of the shape given, [layers + 1, position, d_model].

        Errors: ValueError for a stream of another model.
        """
        if hidden.ndim != 3 or (len(hidden) - 1, hidden.shape[-1]) != self.offsets.shape:
            layers, width = self.offsets.shape
            raise ValueError(f"This lens is for {layers} layers of width {width}; the stream is {list(hidden.shape)}.")
        moved = hidden[:-1] + hidden[:-1] @ self.matrices + self.offsets[:, None]
        return np.concatenate([moved, hidden[-1:]])


@lru_cache(maxsize=8)
def tuned_lens_of(name: str) -> TunedLens | None:
    """The tuned lens of a model that ships, or None where it has none."""
    file = WEIGHTS / name / FILE
    if name not in names() or not file.is_file():
        return None
    from safetensors.numpy import load_file

    weights = load_file(file)
    return TunedLens(weights["matrices"].astype(np.float32), weights["offsets"].astype(np.float32))


@dataclass(frozen=True)
class Recipe:
    """How the translators are trained. A step reads `rows` windows and learns from `positions` of their tokens."""

    steps: int = 2400
    rows: int = 4
    positions: int = 512
    rate: float = 3e-3  # AdamW (Loshchilov and Hutter 2019), falling to zero in a straight line
    seed: int = 1


def train(name: str, data: Path, work: Path, recipe: Recipe, out: Path | None = None) -> dict:
    """Train the lens of a shipped decoder on `data`/english_train.txt; checkpoints go to `work`, the weights and
    `tuned_lens.json` to `out` (beside the model's own).

    Returns the figures: for each layer the mean KL(last layer ‖ lens) in nats on held-out text, of the logit and the tuned lens.
    """
    import torch
    import torch.nn.functional as F
    from safetensors.numpy import save_file
    from tqdm import tqdm

    import models
    from models.recorder import recording
    from models.scratch.corpus import Corpus, documents

    out = out or WEIGHTS / name
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = models.load(name)
    decoder, config = model.decoder.to(device), model.decoder.config
    tokenizer = model.vocabulary.tokenizer
    generator = torch.Generator()
    matrices = torch.zeros(config.layers, config.d_model, config.d_model, device=device, requires_grad=True)
    offsets = torch.zeros(config.layers, config.d_model, device=device, requires_grad=True)
    optim = torch.optim.AdamW([matrices, offsets], lr=recipe.rate, weight_decay=0.0)

    def streams(ids: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """The residual stream at the positions whose next token is text: [layers + 1, position, d_model]."""
        found = []
        with torch.no_grad():
            for row in torch.from_numpy(ids).to(device):
                with recording() as record:
                    decoder.hidden(row[None, :-1])
                found.append(torch.stack(record.hidden["self"])[:, row[1:] != start])
        return torch.cat(found, dim=1)

    def divergence(stream: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
        """KL(last layer ‖ lens) in nats, the mean over positions. last: log-probabilities [position, vocabulary]."""
        return F.kl_div(decoder.unembed(stream).float().log_softmax(-1), last, log_target=True, reduction="batchmean")

    def translated(stream: torch.Tensor, layer: int) -> torch.Tensor:
        return stream[layer] + stream[layer] @ matrices[layer] + offsets[layer]

    work.mkdir(parents=True, exist_ok=True)
    checkpoint, step, seconds = work / "checkpoint.pt", 0, 0.0
    if checkpoint.exists():
        state = torch.load(checkpoint, map_location=device)
        with torch.no_grad():
            matrices.copy_(state["matrices"])
            offsets.copy_(state["offsets"])
        optim.load_state_dict(state["optimizer"])
        step, seconds = state["step"], state["seconds"]
    corpus = Corpus(documents(data / "english_train.txt"), tokenizer, config.context)
    start = corpus.start
    rows = corpus.rows(recipe.seed, skip=step * recipe.rows)
    began = time.monotonic()
    with tqdm(total=recipe.steps, initial=step, unit="step") as bar:
        while step < recipe.steps:
            optim.param_groups[0]["lr"] = recipe.rate * (1 - step / recipe.steps)
            stream = streams(np.stack([next(rows) for _ in range(recipe.rows)]))
            generator.manual_seed(recipe.seed * 10**6 + step)  # the same after a break
            chosen = torch.randperm(stream.shape[1], generator=generator)[: recipe.positions].to(device)
            stream = stream[:, chosen]
            with torch.no_grad():
                last = decoder.unembed(stream[-1]).float().log_softmax(-1)
            losses = []
            for layer in range(config.layers):  # one after the other: logits of all layers at once would fill the memory
                with torch.autocast(device, dtype=torch.bfloat16):
                    loss = divergence(translated(stream, layer), last)
                loss.backward()
                losses.append(loss.item())
            optim.step()
            optim.zero_grad(set_to_none=True)
            step += 1
            bar.update()
            bar.set_postfix_str(" ".join(f"{loss:.2f}" for loss in losses))
            if step % 50 == 0 or step == recipe.steps:
                state = {"matrices": matrices, "offsets": offsets, "optimizer": optim.state_dict(), "step": step}
                torch.save(state | {"seconds": seconds + time.monotonic() - began}, work / "checkpoint.new")
                (work / "checkpoint.new").rename(checkpoint)
    seconds += time.monotonic() - began

    half = {"matrices": matrices.detach().half().cpu().numpy(), "offsets": offsets.detach().half().cpu().numpy()}
    save_file(half, out / FILE)
    (out / FILE).chmod(0o644)  # safetensors writes it for one pair of eyes
    with torch.no_grad():  # what is written is what is measured
        matrices.copy_(torch.from_numpy(half["matrices"]).float())
        offsets.copy_(torch.from_numpy(half["offsets"]).float())
        windows = Corpus(documents(data / "english_valid.txt"), tokenizer, config.context).windows()[::16]
        totals, count = np.zeros((2, config.layers)), 0
        for part in np.array_split(windows, max(1, len(windows) // 2)):
            stream = streams(part)
            last = decoder.unembed(stream[-1]).log_softmax(-1)
            for layer in range(config.layers):
                totals[0, layer] += divergence(stream[layer], last).item() * len(last)
                totals[1, layer] += divergence(translated(stream, layer), last).item() * len(last)
            count += len(last)
    kl = [[round(one, 4) for one in row] for row in (totals / count).tolist()]
    figures = {"held_out_positions": count, "logit_lens_kl": kl[0], "tuned_lens_kl": kl[1], "seconds": round(seconds)}
    figures["recipe"] = recipe.__dict__
    (out / "tuned_lens.json").write_text(json.dumps(figures, indent=2) + "\n")
    tuned_lens_of.cache_clear()
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train the tuned lens of the writer; run again to go on where it stopped.")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder with english_train.txt and english_valid.txt")
    parser.add_argument("--work", type=Path, default=Path("build/train/writer-lens"), help="folder for checkpoints")
    parser.add_argument("--steps", type=int, default=Recipe.steps)
    arguments = parser.parse_args()
    print(json.dumps(train("writer", arguments.data, arguments.work, Recipe(steps=arguments.steps)), indent=2))
