"""Choices of the transformers class for a config of a model of images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from models.errors import ModelError
from models.huggingface.classes import Candidate, candidate
from models.huggingface.names import quoted, short

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

CHOOSE = "Choose a model such as ViT, DeiT, DINOv2 or CLIP."
JOINS = "joins patches from stage to stage, so no token stays one patch"
WINDOWS = "lets patches look at each other only in windows, and joins them from stage to stage, so no token stays one patch"
WHY_NOT = {  # by type
    "swin": WINDOWS,
    "swinv2": WINDOWS,
    "donut-swin": WINDOWS,
    **dict.fromkeys(("hiera", "cvt", "levit", "pvt", "pvt_v2", "segformer", "mobilevit", "mobilevitv2"), JOINS),
    "vit_mae": "leaves three quarters of the patches out at random, so no two readings of an image are alike",
    "siglip2": "makes another number of patches of each image",
    "siglip2_vision_model": "makes another number of patches of each image",
}


def image_candidates(config: PreTrainedConfig, architectures: object, name: str) -> list[Candidate]:
    """Return the classes to try, the best first: with the head for labels of images, if config.json names it, then bare.

    Of a model of texts and images, the half for images. Errors: ModelError where transformers has no such class, and for types
    whose tokens are no patches, with the reason.
    """
    if why := WHY_NOT.get(config.model_type):
        title = type(config).__name__.removesuffix("Config")
        raise ModelError(f"{quoted(name)} ({title}) {why}; Headlight shows images whose tokens are patches. {CHOOSE}")
    from transformers.models.auto import modeling_auto as auto

    named = auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES.get(config.model_type) or ()
    labelled = (named,) if isinstance(named, str) else tuple(named)
    architecture = architectures[0] if isinstance(architectures, list) and architectures else ""
    half = getattr(config, "vision_config", None)
    bare = auto.MODEL_MAPPING_NAMES.get(config.model_type if half is None else half.model_type)
    choices = [candidate(architecture, "encoder", False, "image")] if architecture in labelled else []
    choices.append(candidate(bare if isinstance(bare, str) else None, "encoder", False))
    known = [choice for choice in choices if choice]
    if not known:
        raise ModelError(f"{quoted(name)} ({short(config.model_type)}) is not a kind of model that Headlight can open.")
    return known
