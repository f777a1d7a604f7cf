"""A network of transformers that reads images, followed: its inputs are pixels, and its tokens the patches of a grid."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel

from models.attention.recorder import Record, recording
from models.errors import ModelError
from models.huggingface.followed import FollowedNetwork
from models.huggingface.image_classes import CHOOSE
from models.huggingface.passes import Inputs
from models.images.grid import LEADING, Grid, ImageVocabulary
from models.tokens import Token

PARAMETERS = {
    "cls_token": "[CLS]",
    "class_embedding": "[CLS]",
    "distillation_token": "[distillation]",
    "register_tokens": "[register {}]",
}


class FollowedImages(FollowedNetwork):
    """A network whose input is an image: `inputs` puts it together from its patches."""

    vocabulary: ImageVocabulary

    @staticmethod
    def config_of(network: PreTrainedModel, kind: str) -> PreTrainedConfig:
        return getattr(network.config, "vision_config", None) or network.config

    @property
    def grid(self) -> Grid:
        return self.vocabulary.grid

    def _find_embedding(self) -> None:
        self.takes_token_types, self.positions, self.embedding_rows, self.longest_full = False, None, None, None

    def inputs(self, texts: Sequence[Sequence[Token]], decoder_ids: Sequence[Sequence[int]] = ()) -> Inputs:
        """Return the inputs for images as tokens."""
        return {"pixel_values": self.numbers(np.stack([self.grid.pixels(tokens) for tokens in texts]))}

    def probe(self, source: int, target: int = 0) -> Inputs:
        """Return an image of noise; another one for each number."""
        return {"pixel_values": self.numbers(self.noise(source)[None])}

    def noise(self, seed: int) -> np.ndarray:
        """Return an image of noise as the model reads it: float32 [channels, height, width]."""
        shape = len(self.grid.mean), self.grid.height, self.grid.width
        return np.random.default_rng(seed).normal(size=shape).astype(np.float32)

    def probe_length(self, record: Record) -> int:
        if not record.calls:  # the softmax is tapped, from now on
            with recording() as record, torch.inference_mode():
                self.network(**self.probe(0))
        return record.calls[0].shape[1] if record.calls else 0

    @property
    def base(self) -> nn.Module:
        base = self.network.base_model
        return base if "pixel_values" in inspect.signature(base.forward).parameters else self.network

    def blank(self, texts: int, positions: int) -> Inputs:
        """Return one image: with all layers skipped, what it becomes does not matter, and neither does how many there are."""
        return {"pixel_values": self.numbers(self.noise(0)[None])}

    def complete(self, inputs: Inputs, past: int = 0) -> int:
        return len(inputs["pixel_values"])

    def find_leading(self) -> tuple[str, ...]:
        """Find the tokens before the patches, and check that each patch is a position of the stream, row by row: a few patches
        are changed, one at a time, and exactly their positions must change after the embedding. Errors: ModelError."""
        title, grid = type(self.network).__name__, self.grid
        before = self._embedded(self.noise(0))
        leading = len(before) - grid.rows * grid.columns
        if not 0 <= leading < LEADING:
            raise ModelError(
                f"{title} makes {len(before)} tokens of {grid.rows} × {grid.columns} patches: it joins patches, or lets them "
                f"look at each other in windows, and Headlight could not name its tokens. {CHOOSE}"
            )
        for row, column in {(0, 0), (0, grid.columns - 1), (grid.rows - 1, 0), (grid.rows // 2, grid.columns // 2)}:
            pixels = self.noise(0)
            pixels[grid.part(row, column)] += 1
            changed = np.abs(self._embedded(pixels) - before).max(1) > 0
            if np.flatnonzero(changed).tolist() != [leading + row * grid.columns + column]:
                raise ModelError(
                    f"{title} mixes the patches of an image before its first layer, or puts them in another order, so Headlight "
                    f"could not say which token stands for which patch. {CHOOSE}"
                )
        return self._names(leading)

    def _embedded(self, pixels: np.ndarray) -> np.ndarray:
        """Return the stream after the embedding: float32 [position, d_model]."""
        with torch.inference_mode():
            record, _ = self.forward(self.base, recording(), pixel_values=self.numbers(pixels[None]))
        return record.hidden["self"][0].float().cpu().numpy()

    def _names(self, count: int) -> tuple[str, ...]:
        """Name the tokens before the patches by the parameters that they come from."""
        parameters: dict[str, Tensor] = {}
        for path, parameter in self.network.named_parameters():
            parameters.setdefault(path.rpartition(".")[2], parameter)
        names: list[str] = []
        for name, token in PARAMETERS.items():
            if name in parameters:
                several = parameters[name].shape[-2] if "{}" in token else 1
                names += [token.format(number + 1) for number in range(several)]
        return tuple(names) if len(names) == count else tuple(f"[extra {number + 1}]" for number in range(count))


def with_names(followed: FollowedImages) -> Grid:
    """Return the grid with the names of the tokens before the patches, and let the network know it. Errors: ModelError."""
    grid = replace(followed.grid, leading=followed.find_leading())
    followed.vocabulary.grid = grid
    return grid
