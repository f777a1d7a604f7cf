"""Teaches a model a few sentences, one step at a time, and measures what it has learned and what else has changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from models.adapting.changes import Change, measure_changes
from models.adapting.measuring import Measured, Texts, mean_loss, measure, measure_at
from models.adapting.network import at_strength, learning_network, merged_weights
from models.adapting.recipe import TITLES, Recipe
from models.adapting.sentences import continuation, exchanged, other_texts, read_sentences
from models.numbers import sizes
from models.training.optimisation import DivergedError, adamw, update
from models.training.paced import Paced

if TYPE_CHECKING:
    from models.language_model import LanguageModel

AT_ONCE = 8  # sentences of a step
WRITTEN = 8  # sentences after whose beginnings it is seen what the model writes
LARGEST = {"lora": 2_000_000_000, "ia3": 2_000_000_000, "full": 60_000_000}  # parameters of a model that is adapted here


class Teaching(Paced):
    """One adaptation beside the pages. The first turn measures the model as it is.

    model: a decoder whose weights are here, which stays as it is. text: the sentences, one a line.
    Errors: ValueError, a sentence, for a model or a text that cannot be taught.
    """

    def __init__(self, model: LanguageModel, text: str, recipe: Recipe):
        super().__init__()
        check_model(model, recipe)
        self.model, self.text, self.recipe = model, text, recipe
        self.sentences = read_sentences(model, text)
        self.texts = Texts(self.sentences, exchanged(model, self.sentences), other_texts(model))
        self.measured: list[Measured] = []
        self.losses: list[float] = []  # of each step, nats
        self.trainable = 0  # numbers that learn
        self._generator = torch.Generator().manual_seed(recipe.seed)
        self._network: nn.Module | None = None
        self._still = threading.RLock()  # held while the weights change or are read

    @property
    def subject(self) -> str:
        """Its name in the messages of a server, and in the names of its models: what is taught, how, and how many sentences."""
        count = len(self.sentences)
        return f"taught {self.base} with {TITLES[self.recipe.method]} on {count} sentence{'s'[: count != 1]}"

    @property
    def base(self) -> str:
        """The short name of the model that is taught."""
        return Path(self.model.info.name).name

    @property
    def has_begun(self) -> bool:
        """Whether the model has been measured as it was before."""
        return bool(self.measured)

    @property
    def learned(self) -> int:
        """The number of steps in which it has learned."""
        return self.step

    @property
    def memory(self) -> int:
        """About how many bytes it holds between two steps: what learns, with its gradient and what the optimizer remembers."""
        own = self.trainable or (self.model.info.parameters if self.recipe.method == "full" else self.model.info.parameters // 20)
        return 4 * own * (4 if self.state in ("paused", "running") else 1)

    def stop(self) -> None:
        """End it now; what was learned stays."""
        with self.lock:
            self.pause()
            if self.state == "paused":
                if self.has_begun and self.step != self.measured[-1].step:
                    self._measure()
                self.end("stopped", f"Stopped after {self.step} steps.")

    def _run_step(self) -> bool:
        """Measure, or run one step; return whether there is more to do."""
        began = time.monotonic()
        if not self.has_begun:
            self._measure()
        elif self.step >= self.recipe.steps or self.seconds > self.recipe.seconds:
            if self.step != self.measured[-1].step:
                self._measure()
            return self.end("done", f"Done: {self.step} steps in {self.seconds:.0f} seconds.")
        elif self.step % self.recipe.every == 0 and self.step != self.measured[-1].step:
            self._measure()
        else:
            try:
                self._learn()
            except DivergedError as error:
                return self.end("diverged", f"It diverged at step {self.step}: {error}")
        self.seconds += time.monotonic() - began
        return True

    @property
    def network(self) -> nn.Module:
        """The network that learns, made when it is first needed."""
        if self._network is None:
            self._network = learning_network(self.model, self.recipe)
            self.trainable = sum(weight.numel() for weight in self._network.parameters() if weight.requires_grad)
        return self._network

    @cached_property
    def _optimizer(self) -> Any:
        return adamw(self.network, decay=0.0)

    def _learn(self) -> None:
        """Run one step of learning. Errors: DivergedError, with the weights left as they are."""
        order = torch.randperm(len(self.sentences), generator=self._generator)[:AT_ONCE]
        rate = self.recipe.highest_rate * min(1.0, (self.step + 1) / self.recipe.warmup)
        batch = [self.sentences[at].ids for at in order]
        with self._still, torch.enable_grad():
            loss = mean_loss(self.network, batch)
            update(self.network, [(self._optimizer, rate)], loss)
        self.losses.append(float(loss.detach()))
        self.step += 1

    def _measure(self) -> None:
        with self._still:
            self.measured.append(measure(self.network, self.texts, self.step))

    # What it has learned

    def weights(self) -> dict[str, Tensor]:
        """Return the weights that have changed, as they are now, by the names of the model's parameters."""
        with self._still:
            if self.recipe.method != "full":
                return merged_weights(self.network)
            return {name: weight.detach().clone() for name, weight in self.network.named_parameters()}

    def changes(self) -> list[Change]:
        """Return how much of each matrix has changed by now."""
        return measure_changes(self.model, self.weights())

    def at_strengths(self, strengths: Sequence[float]) -> list[Measured]:
        """Return the measurements of the model with what it has learned by now, at each strength (see `at_strength`)."""
        return measure_at(self.model.copy_network(), self.weights(), self.texts, strengths)

    def continuations(self) -> list[tuple[str, str]]:
        """Return what the model writes, before it learned and now, after the words before the last word of each sentence; of the
        first `WRITTEN` sentences, as each token is a pass of its own."""
        return self._written([list(sentence.ids[: sentence.begins]) for sentence in self.sentences[:WRITTEN]])

    def continue_text(self, beginning: str) -> tuple[str, str]:
        """Return what the model writes after the beginning of a sentence, before it learned and now."""
        return self._written([beginning])[0]

    def _written(self, beginnings: Sequence[str | list[int]]) -> list[tuple[str, str]]:
        taught = self.adapted()
        return [(continuation(self.model, beginning), continuation(taught, beginning)) for beginning in beginnings]

    def adapted(self, strength: float = 1.0, name: str = "") -> LanguageModel:
        """Return the model with what it has learned, at a strength (see `at_strength`)."""
        return at_strength(self.model, self.weights(), strength, name or self.subject)

    def write(self, path: Path) -> None:
        """Write what was learned to a folder: the adapter as peft writes it; with "full", the whole model."""
        path.mkdir(parents=True, exist_ok=True)
        if self.recipe.method == "full":
            self.adapted().save(path)
            return
        with self._still:
            network: Any = self.network
            network.save_pretrained(str(path), save_embedding_layers=False)  # else it asks the Hub for the vocabulary
        (path / "README.md").unlink(missing_ok=True)  # a form of peft's that nobody has filled in


def check_model(model: LanguageModel, recipe: Recipe) -> None:
    """Errors: ValueError, a sentence, for a model that cannot be taught here."""
    info = model.info
    if info.kind != "decoder" or not info.predicts:
        raise ValueError(f"{info.name} does not continue a text, and only such models are taught here. Choose the writer.")
    if info.dtype != "float32":
        raise ValueError(f"{info.name} calculates in {info.dtype}, which is too coarse for small steps. Open it in float32.")
    if info.parameters > LARGEST[recipe.method]:
        few = " LoRA changes fewer numbers: choose it." if recipe.method == "full" else ""
        raise ValueError(
            f"{info.name} has {sizes.count(info.parameters)} parameters, more than are taught here with this method.{few}"
        )
