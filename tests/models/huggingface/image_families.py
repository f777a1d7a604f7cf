"""Small models of images, one of each architecture, with their processors, in folders as the Hub has them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import transformers as T

SIDE, PATCH = 24, 8
SIZE = {"height": SIDE, "width": SIDE}
SMALL = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}
SMALL |= {"image_size": SIDE, "patch_size": PATCH}
TEXT = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 48, "vocab_size": 50}
TEXT |= {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
NAMES = ("cat", "dog", "owl")
LABELS = {"id2label": dict(enumerate(NAMES)), "label2id": {name: i for i, name in enumerate(NAMES)}}
STAGES = {"embed_dim": 16, "depths": [1, 1], "num_heads": [2, 2], "window_size": 3, "image_size": SIDE, "patch_size": 4}
VIT = T.ViTImageProcessorPil(size=SIZE)
CLIP = T.CLIPImageProcessorPil(size={"shortest_edge": SIDE}, crop_size=SIZE)
SIGLIP = T.SiglipImageProcessorPil(size=SIZE)
DINO = T.BitImageProcessorPil(size={"shortest_edge": 28}, crop_size=SIZE, do_center_crop=True)
DEIT = T.DeiTImageProcessorPil(size={"height": 28, "width": 28}, crop_size=SIZE)
BEIT = T.BeitImageProcessorPil(size=SIZE, do_center_crop=False)
Built = tuple[Callable[[], T.PreTrainedModel], T.BaseImageProcessor, tuple[str, ...]]  # and the names of its first tokens

ONE = ("[CLS]",)
REGISTERS = tuple(f"[register {number}]" for number in (1, 2, 3, 4))
BOTH = {"text_config": TEXT, "vision_config": SMALL}
FAMILIES: dict[str, Built] = {
    "ViT": (lambda: T.ViTForImageClassification(T.ViTConfig(**SMALL, **LABELS)), VIT, ONE),
    "ViT, bare": (lambda: T.ViTModel(T.ViTConfig(**SMALL)), VIT, ONE),
    "DeiT": (lambda: T.DeiTForImageClassification(T.DeiTConfig(**SMALL, **LABELS)), DEIT, (*ONE, "[distillation]")),
    "DeiT, distilled": (
        lambda: T.DeiTForImageClassificationWithTeacher(T.DeiTConfig(**SMALL, **LABELS)),
        DEIT,
        (*ONE, "[distillation]"),
    ),
    "DINOv2": (lambda: T.Dinov2ForImageClassification(T.Dinov2Config(**SMALL, **LABELS)), DINO, ONE),
    "DINOv2, bare": (lambda: T.Dinov2Model(T.Dinov2Config(**SMALL)), DINO, ONE),
    "DINOv2 with registers": (
        lambda: T.Dinov2WithRegistersForImageClassification(
            T.Dinov2WithRegistersConfig(**SMALL, **LABELS, num_register_tokens=4)
        ),
        DINO,
        (*ONE, *REGISTERS),
    ),
    "DINOv3": (lambda: T.DINOv3ViTModel(T.DINOv3ViTConfig(**SMALL, num_register_tokens=4)), VIT, (*ONE, *REGISTERS)),
    "CLIP": (lambda: T.CLIPForImageClassification(T.CLIPConfig(**BOTH, **LABELS)), CLIP, ONE),
    "CLIP, vision": (lambda: T.CLIPVisionModel(T.CLIPVisionConfig(**SMALL)), CLIP, ONE),
    "CLIP, both halves": (lambda: T.CLIPModel(T.CLIPConfig(**BOTH)), CLIP, ONE),
    "MetaCLIP 2": (lambda: T.MetaClip2ForImageClassification(T.MetaClip2Config(**BOTH, **LABELS)), CLIP, ONE),
    "SigLIP": (lambda: T.SiglipForImageClassification(T.SiglipConfig(**BOTH, **LABELS)), SIGLIP, ()),
    "SigLIP, vision": (lambda: T.SiglipVisionModel(T.SiglipVisionConfig(**SMALL)), SIGLIP, ()),
    "SigLIP, both halves": (lambda: T.SiglipModel(T.SiglipConfig(**BOTH)), SIGLIP, ()),
    "BEiT": (
        lambda: T.BeitForImageClassification(T.BeitConfig(**SMALL, **LABELS, use_relative_position_bias=True)),
        BEIT,
        ONE,
    ),
    "BEiT, read at [CLS]": (
        lambda: T.BeitForImageClassification(
            T.BeitConfig(**SMALL, **LABELS, use_shared_relative_position_bias=True, use_mean_pooling=False)
        ),
        BEIT,
        ONE,
    ),
    "Data2Vec": (lambda: T.Data2VecVisionForImageClassification(T.Data2VecVisionConfig(**SMALL, **LABELS)), BEIT, ONE),
    "I-JEPA": (lambda: T.IJepaForImageClassification(T.IJepaConfig(**SMALL, **LABELS)), VIT, ()),
    "MSN": (lambda: T.ViTMSNForImageClassification(T.ViTMSNConfig(**SMALL, **LABELS)), VIT, ONE),
}
REFUSED: dict[str, tuple[Callable[[], T.PreTrainedModel], T.BaseImageProcessor, str]] = {
    "Swin": (lambda: T.SwinForImageClassification(T.SwinConfig(**STAGES, **LABELS)), VIT, "only in windows"),
    "Swin v2": (lambda: T.Swinv2ForImageClassification(T.Swinv2Config(**STAGES, **LABELS)), VIT, "only in windows"),
    "MAE": (lambda: T.ViTMAEModel(T.ViTMAEConfig(**SMALL)), VIT, "at random"),
    "ConvNeXT": (
        lambda: T.ConvNextForImageClassification(T.ConvNextConfig(hidden_sizes=[8] * 4, depths=[1] * 4, **LABELS)),
        T.ViTImageProcessorPil(size={"height": 64, "width": 64}),
        "no attention in which every token",
    ),
    "ResNet": (
        lambda: T.ResNetForImageClassification(T.ResNetConfig(embedding_size=8, hidden_sizes=[8] * 4, depths=[1] * 4, **LABELS)),
        VIT,
        "does not cut an image into patches",
    ),
    "SigLIP 2": (
        lambda: T.Siglip2VisionModel(
            T.Siglip2VisionConfig(**{name: size for name, size in SMALL.items() if name != "image_size"}, num_patches=9)
        ),
        T.Siglip2ImageProcessorPil(),
        "another number of patches",
    ),
}


def save(folder: Path, build: Callable[[], T.PreTrainedModel], processor: T.BaseImageProcessor) -> Path:
    """Save a model with random weights, those that start at zero or one too."""
    torch.manual_seed(0)
    network = build().eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    network.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def image(seed: int = 0, height: int = 30, width: int = 40) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
