"""The training loop: `python -m models.scratch.training --data FOLDER` trains the writer, and goes on where it stopped."""

from __future__ import annotations

import argparse
import csv
import json
import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor
from tqdm import tqdm

from models.scratch.corpus import Corpus, documents, repeated_row, train_tokenizer
from models.scratch.transformer import Decoder, TransformerConfig

WEIGHTS = Path(__file__).parent.parent / "weights"


@dataclass(frozen=True)
class Recipe:
    """How a model is trained. Learning rates are per step, the horizon in tokens."""

    tokens: int = 45_000_000
    batch: int = 24  # rows a step
    matrix_rate: float = 0.02  # Muon (Jordan et al. 2024), for the matrices inside the blocks
    rate: float = 3e-3  # AdamW (Loshchilov and Hutter 2019), for embeddings and norms
    matrix_decay: float = 0.05
    warmup: int = 600_000  # tokens
    decay: float = 0.45  # share of the horizon over which the rate falls to zero
    clip: float = 1.0
    repeats: float = 0.05  # share of rows that repeat themselves, until the decay begins
    twice_under: int = 1500
    seed: int = 0


def rate_factor(tokens: float, recipe: Recipe) -> float:
    """Share of the full learning rate after so many tokens: linear warm-up, a plateau, linear decay to zero."""
    left = (recipe.tokens - tokens) / (recipe.decay * recipe.tokens)
    return max(0.0, min(1.0, tokens / recipe.warmup, left))


def loss_of(model: Decoder, ids: Tensor, known: Tensor) -> Tensor:
    """Mean next-token loss in nats over the positions that `known` [batch, context + 1] marks as predictable."""
    with torch.autocast(ids.device.type, dtype=torch.bfloat16):
        logits = model(ids[:, :-1])  # [batch, context, vocabulary]
    targets = ids[:, 1:].masked_fill(~known[:, 1:], -100)
    return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), ignore_index=-100)


def held_out(model: Decoder, rows: np.ndarray, start: int, device: str, batch: int = 32) -> tuple[float, int]:
    """Summed nats and number of predicted tokens over rows [n, context + 1], in float32; the start token is not predicted."""
    nats, count = 0.0, 0
    with torch.inference_mode():
        for part in np.array_split(rows, max(1, len(rows) // batch)):
            ids = torch.from_numpy(part).to(device)
            targets = ids[:, 1:].masked_fill(ids[:, 1:] == start, -100)
            nats += F.cross_entropy(
                model(ids[:, :-1]).flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum"
            ).item()
            count += int((targets >= 0).sum())
    return nats, count


def batches(corpus: Corpus, recipe: Recipe, config: TransformerConfig, step: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Endless pairs of ids and known-mask [batch, context + 1], from the given step on; the same step gives the same batch."""
    rows = corpus.rows(recipe.seed, skip=step * recipe.batch)
    while True:
        ids = np.stack([next(rows) for _ in range(recipe.batch)])
        known = ids != corpus.start
        generator = np.random.default_rng([recipe.seed, step])
        if rate_factor(step * recipe.batch * corpus.context, recipe) >= 1 or step * recipe.batch * corpus.context < recipe.warmup:
            for row in np.flatnonzero(generator.random(recipe.batch) < recipe.repeats):
                ids[row], known[row] = repeated_row(generator, corpus.start, config.vocabulary, corpus.context)
        yield torch.from_numpy(ids), torch.from_numpy(known)
        step += 1


def optimizers(model: Decoder, recipe: Recipe) -> list[torch.optim.Optimizer]:
    inside = [p for p in model.blocks.parameters() if p.dim() == 2]
    others = [p for p in model.parameters() if all(p is not q for q in inside)]
    return [
        torch.optim.Muon(inside, lr=recipe.matrix_rate, weight_decay=recipe.matrix_decay),
        torch.optim.AdamW(others, lr=recipe.rate, betas=(0.9, 0.95), weight_decay=0.0, fused=True),
    ]


def train(data: Path, out: Path, work: Path, recipe: Recipe, config: TransformerConfig, minutes: float = math.inf) -> Decoder:
    """Train the writer on `data`/english_train.txt; checkpoints go to `work`, weights, tokenizer and loss log to `out`.

    Stops at the recipe's horizon, or after so many minutes (then the next call goes on from there).
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(recipe.seed)
    out.mkdir(parents=True, exist_ok=True)
    work.mkdir(parents=True, exist_ok=True)
    texts = documents(data / "english_train.txt")
    if not (out / "tokenizer.json").exists():
        train_tokenizer(texts, config.vocabulary).save(str(out / "tokenizer.json"))
    tokenizer = Tokenizer.from_file(str(out / "tokenizer.json"))
    corpus = Corpus(texts, tokenizer, config.context, recipe.twice_under)
    valid = Corpus(documents(data / "english_valid.txt"), tokenizer, config.context)
    valid_rows = valid.windows()

    model = Decoder(config).to(device)
    optims = optimizers(model, recipe)
    step, seconds = 0, 0.0
    if (work / "checkpoint.pt").exists():
        state = torch.load(work / "checkpoint.pt", map_location=device)
        model.load_state_dict(state["model"])
        for optim, saved in zip(optims, state["optimizers"], strict=True):
            optim.load_state_dict(saved)
        step, seconds = state["step"], state["seconds"]
    rates = [recipe.matrix_rate, recipe.rate]
    compiled = torch.compile(loss_of)
    tokens_a_step = recipe.batch * config.context
    steps = recipe.tokens // tokens_a_step
    log_path = out / "loss.csv"
    began = time.monotonic()
    started_at = seconds

    def save() -> None:
        state = {"model": model.state_dict(), "optimizers": [o.state_dict() for o in optims], "step": step, "seconds": seconds}
        torch.save(state, work / "checkpoint.new")
        (work / "checkpoint.new").rename(work / "checkpoint.pt")

    with log_path.open("a", newline="") as log, tqdm(total=steps, initial=step, unit="step", smoothing=0.05) as bar:
        writer = csv.writer(log)
        if log.tell() == 0:
            writer.writerow(["step", "tokens", "seconds", "rate", "train_nats", "gradient_norm", "valid_nats"])
        recent: list[float] = []
        for ids, known in batches(corpus, recipe, config, step):
            if step >= steps or time.monotonic() - began > 60 * minutes:
                break
            factor = rate_factor(step * tokens_a_step, recipe) if step else 1 / max(1, recipe.warmup // tokens_a_step)
            for optim, rate in zip(optims, rates, strict=True):
                optim.param_groups[0]["lr"] = rate * factor
            loss = compiled(model, ids.to(device), known.to(device))
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
            for optim in optims:
                optim.step()
                optim.zero_grad(set_to_none=True)
            step += 1
            recent.append(loss.item())
            seconds = started_at + time.monotonic() - began
            bar.update()
            bar.set_postfix(nats=f"{np.mean(recent[-50:]):.3f}", rate=f"{factor:.2f}")
            if step % 100 == 0 or step == steps:
                nats = ""
                if step % 500 == 0 or step == steps:
                    total, count = held_out(model, valid_rows[:: 1 if step == steps else 8], corpus.start, device)
                    nats = f"{total / count:.4f}"
                    save()
                row = [
                    step,
                    step * tokens_a_step,
                    f"{seconds:.0f}",
                    f"{factor:.4f}",
                    f"{np.mean(recent):.4f}",
                    f"{norm:.3f}",
                    nats,
                ]
                writer.writerow(row)
                log.flush()
                recent.clear()
    save()
    write_weights(model, config, out)
    total, count = held_out(model, valid_rows, corpus.start, device)
    figures = {
        "nats_per_token": total / count,
        "bits_per_byte": total / math.log(2) / valid.bytes,
        "tokens": step * tokens_a_step,
        "seconds": round(seconds),
        "recipe": asdict(recipe),
    }
    (out / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")
    print(json.dumps(figures, indent=2))
    return model


def write_weights(model: Decoder, config: TransformerConfig, out: Path) -> None:
    """The weights as float16 safetensors, and the config beside them."""
    weights = {name: p.detach().half().cpu().contiguous() for name, p in model.state_dict().items()}
    save_file(weights, out / "model.safetensors")
    (out / "config.json").write_text(json.dumps(config.changed(), indent=2) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Train the writer; run again to go on where it stopped.")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder with english_train.txt and english_valid.txt")
    parser.add_argument("--work", type=Path, default=Path("build/train/writer"), help="folder for checkpoints")
    parser.add_argument("--out", type=Path, default=WEIGHTS / "writer", help="folder for weights, tokenizer and loss log")
    parser.add_argument("--tokens", type=int, default=Recipe.tokens, help="the horizon; may be changed until the decay begins")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so long, to go on another time")
    arguments = parser.parse_args()
    train(arguments.data, arguments.out, arguments.work, Recipe(tokens=arguments.tokens), TransformerConfig(), arguments.minutes)
