"""The objective of digits: to name the handwritten digit in an image of 8 × 8 pixels (`models.images.digits`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor

from models.images.digits import split
from models.scratch.config import TransformerConfig
from models.scratch.transformer import Encoder
from models.training.objectives import Batch, Objective, cross_entropy, device_of, sum_losses
from models.training.recipe import Recipe, Schedule

LABELS = tuple("0123456789")
TURN, ZOOM, SHIFT = 12.0, 0.12, 0.6  # of an image in training, at most: degrees, a share of its size, pixels
COVERED = 0.3  # share of the images with some patches covered, of which there are up to MOST_COVERED
MOST_COVERED = 5


def cut(pixels: Tensor, config: TransformerConfig) -> Tensor:
    """Cut images [image, height, width] of 0..1 into patches, row by row, as the encoder reads them: [image, position, pixels
    of a patch]. The first position is that of [CLS], where zeros stand."""
    normal = (pixels - config.pixel_mean) / config.pixel_spread
    patches = F.unfold(normal[:, None], config.patch, stride=config.patch).transpose(1, 2)  # [image, patch, pixels]
    return F.pad(patches, (0, 0, 1, 0))


def moved(pixels: Tensor, generator: torch.Generator) -> Tensor:
    """Turn, zoom and shift each image [image, height, width] a little, at random; what comes in from outside is 0."""
    count, size = len(pixels), pixels.shape[-1]
    turn, zoom, right, down = (2 * torch.rand(4, count, generator=generator) - 1).unbind()
    angle, scale = turn * TURN * torch.pi / 180, 1 + zoom * ZOOM
    cos, sin = angle.cos() * scale, angle.sin() * scale
    shift = 2 * SHIFT / size
    rows = torch.stack([torch.stack([cos, -sin, right * shift], 1), torch.stack([sin, cos, down * shift], 1)], 1)
    grid = F.affine_grid(rows, [count, 1, size, size], align_corners=False)
    return F.grid_sample(pixels[:, None], grid, align_corners=False)[:, 0]


def some_covered(patches: Tensor, generator: torch.Generator) -> Tensor:
    """Cover some patches of some images [image, position, pixels], so that the encoder has seen covered patches."""
    count, positions, _ = patches.shape
    number = torch.randint(1, MOST_COVERED + 1, (count, 1), generator=generator)
    number[torch.rand(count, 1, generator=generator) >= COVERED] = 0
    places = torch.rand(count, positions, generator=generator).argsort(1).argsort(1)
    return patches.masked_fill((places < number)[..., None], 0)


class Digits(Objective[Encoder]):
    """An encoder names the digit in an image, at [CLS] (Dosovitskiy et al. 2021)."""

    unit = "image"

    def __init__(self, data: Path, tokenizer: Tokenizer | None, config: TransformerConfig, recipe: Recipe):
        self.config, self.recipe = config, recipe
        self.pixels, self.labels, self.valid, self.valid_labels = map(torch.tensor, split())

    @classmethod
    def tokenizer(cls, data: Path, vocabulary: int, weights: Path) -> None:
        """Return no tokenizer: an image is cut into patches without one."""
        return None

    def batches(self, step: int, schedule: Schedule) -> Iterator[Batch]:
        """Yield patches [image, position, pixels] and labels [image]."""
        passed, size = 0, self.recipe.batch
        for epoch in range(2**31):
            generator = torch.Generator().manual_seed(1000 * self.recipe.seed + epoch)
            order = torch.randperm(len(self.labels), generator=generator)
            for at in range(0, len(order) - size + 1, size):
                rows = order[at : at + size]
                patches = some_covered(cut(moved(self.pixels[rows], generator), self.config), generator)
                if passed >= step:
                    yield patches, self.labels[rows]
                passed += 1

    def tokens(self, batch: Batch) -> int:
        return batch[0].shape[0] * batch[0].shape[1]

    def loss(self, model: Encoder, batch: Batch) -> Tensor:
        patches, labels = batch
        return cross_entropy(self.scores(model, patches), labels, self.recipe.smoothing)

    def scores(self, model: Encoder, patches: Tensor) -> Tensor:
        """Return the scores of the labels: [image, label]."""
        return model.unembed(model.hidden(patches)[:, 0])

    def held_out(self, model: Encoder, every: int = 1) -> tuple[float, int]:
        device = device_of(model)
        patches, labels = cut(self.valid[::every], self.config), self.valid_labels[::every]
        return sum_losses(iter([(self.scores(model, patches.to(device)), labels.to(device))]))
