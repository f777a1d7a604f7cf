"""A network of transformers that reads images, with its processor, as a LanguageModel: an image in, Trace out."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from transformers import BaseImageProcessor, PreTrainedModel

from models.attention.undo_rotary import Rotary
from models.class_labels import Labels
from models.editing.set_weights import set_weights
from models.editing.shuffle import shuffle
from models.errors import ModelError
from models.files.weights_digest import WeightsFile
from models.huggingface import layout
from models.huggingface.facts import facts_of
from models.huggingface.followed_images import FollowedImages, with_names
from models.huggingface.following import follow
from models.huggingface.image_classes import CHOOSE
from models.huggingface.image_processor import grid_of, pixels_of
from models.huggingface.model import HuggingFaceModel
from models.huggingface.names import short
from models.images.grid import ImageVocabulary
from models.images.model import ImageModel
from models.trace import Trace

if TYPE_CHECKING:
    from PIL.Image import Image
    from torch import Tensor


class HuggingFaceImageModel(ImageModel, HuggingFaceModel):
    """Any model of transformers that cuts images into patches and reads them as tokens. Safe to share between threads.

    labels: of a classifier, None for a bare network. Errors: ModelError when its attention or its layers cannot be followed, or
    its tokens are no patches.
    """

    vocabulary: Any

    def __init__(
        self,
        network: PreTrainedModel,
        tokenizer: BaseImageProcessor,
        kind: str = "encoder",
        predicts: bool = False,
        name: str = "model",
        source: str = "",
        notes: Sequence[str] = (),
        files: tuple[WeightsFile, ...] = (),
        revision: str = "",
        labels: Labels | None = None,
    ):
        """tokenizer: the processor of the images."""
        self.network = network.eval().requires_grad_(False)
        self.files, self.revision, self.processor = files, revision, tokenizer
        self.bytes = sum(parameter.numel() * parameter.element_size() for parameter in network.parameters())
        config = FollowedImages.config_of(network, kind)
        self.vocabulary = ImageVocabulary(grid_of(tokenizer, config, type(network).__name__))
        try:
            followed, self.way, new_notes = follow(network, self.vocabulary, "encoder", False, labels, name, FollowedImages)
        except ModelError as error:
            raise ModelError(str(error).replace(layout.CHOOSE, CHOOSE)) from error
        assert isinstance(followed, FollowedImages), "it was asked for"
        self.followed, self.grid = followed, with_names(followed)
        self.kind, self.predicts, self.labels = "encoder", False, self.way.labels
        facts = facts_of(self.followed, self.way, source, [*notes, *new_notes])
        self.info = replace(facts, context=self.grid.length, reads=("image",))
        self.recent, self.tail = self.followed.recent, self.way.tail

    def pixels_of(self, image: Image) -> np.ndarray:
        try:
            pixels = pixels_of(self.processor, image)
        except Exception as error:  # each family raises its own error
            raise ValueError(f"The image processor of {self.info.name} does not read this image: {short(error, 120)}") from error
        if pixels.shape != (len(self.grid.mean), self.grid.height, self.grid.width):
            raise ValueError(f"The image processor of {self.info.name} makes another number of patches of this image.")
        return pixels

    def _read(self, text: str, target: str, remember: bool) -> Trace:
        return self.trace_tokens(text, self.tokens_of(text), 0, None)

    def _rotary(self, layer: int) -> Rotary | None:
        return None

    def with_random_weights(self, seed: int) -> HuggingFaceImageModel:
        try:
            network: Any = type(self.network)(copy.deepcopy(self.network.config))
            network.to(self.network.device, self.network.dtype)
            network.load_state_dict(self.network.state_dict(), strict=False)
            shuffle(network, seed)
            return HuggingFaceImageModel(
                network, self.processor, name=self.info.name, source=self.info.source, labels=self.labels
            )
        except Exception as error:
            raise ValueError(f"{self.info.name} could not be made again with random weights: {short(error, 120)}.") from error

    def with_weights(self, weights: Mapping[str, Tensor], name: str = "", source: str = "") -> HuggingFaceImageModel:
        network = self.copy_network()
        set_weights(network, weights)
        name, source = name or self.info.name, source or self.info.source
        return HuggingFaceImageModel(network, self.processor, name=name, source=source, labels=self.labels)

    def save(self, folder: Path) -> None:
        self.copy_network().save_pretrained(str(folder))
        self.processor.save_pretrained(str(folder))
