"""No bound refuses an honest model: the largest folders open on a public host, and the largest configs pass their trial."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import quote

import pytest
import torch
import transformers as T
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE

from models.files.progress import silent
from models.huggingface.confined import confined
from tests.models.networks import NETWORKS, network, tokenizer
from tests.pages.opening import open_link
from tests.serving import ROOT
from ui.memory import allowed, loaded

SHARED = ROOT.parent / "shared" / "models"
TEXT = "The cat sat on the mat"
LAYERS = 48  # of the largest GPT-2; each has 12 tensors, every one in a file of its own here
GIANTS = {  # billions of parameters
    "Llama 3.1": (
        406,
        T.LlamaConfig,
        {
            "vocab_size": 128_256,
            "hidden_size": 16_384,
            "intermediate_size": 53_248,
            "num_hidden_layers": 126,
            "num_attention_heads": 128,
            "num_key_value_heads": 8,
            "max_position_embeddings": 131_072,
        },
    ),
    "DeepSeek-V3": (671, T.DeepseekV3Config, {}),
    "Kimi K2": (
        993,
        T.DeepseekV3Config,
        {
            "n_routed_experts": 384,
            "vocab_size": 163_840,
            "num_attention_heads": 64,
            "num_key_value_heads": 64,
        },
    ),
}


def with_every_pair_of_letters() -> T.PreTrainedTokenizerFast:
    """A byte-level BPE of 65,793 tokens: all bytes, all pairs of them, and an end."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    pairs = [(first, second) for first in letters for second in letters]
    words = ["</s>", *letters, *map("".join, pairs)]
    bpe = Tokenizer(BPE({word: id for id, word in enumerate(words)}, pairs))
    bpe.pre_tokenizer, bpe.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    return T.PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="</s>", bos_token="</s>")


def deep(folder: Path, words: T.PreTrainedTokenizerBase) -> Path:
    torch.manual_seed(0)
    config = T.GPT2Config(vocab_size=len(words), n_embd=16, n_layer=LAYERS, n_head=2, n_positions=32_768)
    T.GPT2LMHeadModel(config).save_pretrained(folder, max_shard_size="1KB")
    words.save_pretrained(folder)
    return folder


def largest_of_networks(folder: Path) -> Path:
    """Of the networks that all other tests build, the one with the most parameters."""
    sizes = {}
    for name, (_, architecture, config, choices) in NETWORKS.items():
        with torch.device("meta"):
            sizes[name] = getattr(T, architecture)(getattr(T, config)(**choices)).num_parameters()
    name = max(sizes, key=sizes.__getitem__)
    network(name).save_pretrained(folder)
    tokenizer(NETWORKS[name][0]).save_pretrained(folder)
    return folder


def of_shared(name: str, folder: Path) -> Path:
    if not (SHARED / name).is_dir():
        pytest.skip(f"{name} is not in the repository")
    return Path(shutil.copytree(SHARED / name, folder))


FOLDERS = {
    "many files, layers, tokens and places": lambda folder: deep(folder, with_every_pair_of_letters()),
    "of the other tests": largest_of_networks,
    "the tokenizer of GPT-2": lambda folder: deep(
        folder, T.AutoTokenizer.from_pretrained(of_shared("gpt2-tokenizer", folder.with_name("words")))
    ),
    "trained": lambda folder: of_shared("stories260k", folder),
}


@pytest.mark.thorough
@pytest.mark.parametrize("make", FOLDERS.values(), ids=FOLDERS)
def test_the_largest_folders_open_on_a_public_host(monkeypatch, tmp_path, make):
    monkeypatch.setenv("HEADLIGHT_PUBLIC", "1")
    folder = str(make(tmp_path / "largest"))
    assert allowed.refusal(folder, here=False), "no folder opens unless it is named"
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", str(tmp_path))
    loaded.model(folder)
    app = open_link("type", f"level=expert&model={quote(folder)}&text={quote(TEXT)}")
    assert app.session_state["in-use"] == folder and not app.warned
    assert loaded.model(folder).predict(TEXT)


@pytest.mark.parametrize("name", GIANTS)
def test_the_largest_models_that_people_use_pass_the_trial_of_their_config(tmp_path, name):
    billions, config, choices = GIANTS[name]
    config(**choices, architectures=[config.__name__.replace("Config", "ForCausalLM")]).save_pretrained(tmp_path)
    assert round(confined("try_config", tmp_path / "config.json", name, silent) / 1e9) == billions
