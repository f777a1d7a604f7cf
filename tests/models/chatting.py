"""A tiny model with a chat template, the same at each call."""

from __future__ import annotations

from pathlib import Path

import transformers as T

from models.huggingface.model import HuggingFaceModel
from tests.models.networks import network, tokenizer

SIGNS = ("<|im_start|>", "<|im_end|>")
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] | trim }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
LLAMA = (
    "{{ bos_token }}{% for message in messages %}[INST] {{ message['content'] }} [/INST]{% endfor %}"  # signs that are plain text
)


def chat_tokenizer(template: str = CHATML, special: bool = True) -> T.PreTrainedTokenizerBase:
    """special: whether the template's signs are special tokens, or only added ones."""
    chat = tokenizer("decoder")
    chat.add_tokens([T.AddedToken(sign, special=special, normalized=False) for sign in SIGNS], special_tokens=special)
    chat.chat_template = template
    return chat


def chat_tokenizer_in_python(template: str = CHATML) -> T.PreTrainedTokenizerBase:
    """A tokenizer of bytes without a Rust half, so that it does not say where its tokens stand."""
    chat = T.ByT5Tokenizer(extra_ids=0)
    chat.add_tokens([T.AddedToken(sign, special=True, normalized=False) for sign in SIGNS], special_tokens=True)
    chat.chat_template = template
    return chat


def chat_network(size: int) -> T.PreTrainedModel:
    built = network("Llama, grouped-query")
    built.resize_token_embeddings(size, mean_resizing=False)
    return built


def chat_model(template: str = CHATML, special: bool = True, fast: bool = True) -> HuggingFaceModel:
    chat = chat_tokenizer(template, special) if fast else chat_tokenizer_in_python(template)
    return HuggingFaceModel(chat_network(len(chat)), chat, "decoder", True, "tiny chat")


def save(folder: Path) -> str:
    """A folder with such a model, as the app opens it."""
    chat = chat_tokenizer()
    chat_network(len(chat)).save_pretrained(folder)
    chat.save_pretrained(folder)
    return str(folder)
