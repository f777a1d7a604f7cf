"""Model folders with damage: a sound one of each kind, of which bytes, settings, weights or whole files are something else."""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import struct
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers as T
from hypothesis import strategies as st
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from models.scratch.config import TransformerConfig
from models.scratch.transformer import build
from models.scratch.write_weights import write_weights
from models.training.corpus import train_tokenizer
from tests.fuzz.texts import TEXT
from tests.fuzz.watching import is_refusal, is_sentence, refused, watched
from tests.models.networks import SIZE, tokenizer
from tests.pages.opening import open_given, wait
from ui.memory import allowed, loaded
from ui.memory.eviction import Shelf

SMALL = {"vocab_size": 300, "n_embd": 16, "n_layer": 2, "n_head": 2, "bos_token_id": 1, "eos_token_id": 2, "n_positions": 64}
BERT = SIZE | {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
}
T5 = {
    "vocab_size": 300,
    "d_model": 16,
    "d_kv": 8,
    "d_ff": 32,
    "num_layers": 2,
    "num_heads": 2,
    "pad_token_id": 0,
    "eos_token_id": 2,
    "decoder_start_token_id": 0,
}
LABELS = {"id2label": {0: "glad", 1: "sad"}, "label2id": {"glad": 0, "sad": 1}}
SOUND = {
    "gpt2": ("decoder", T.GPT2LMHeadModel, T.GPT2Config, SMALL),
    "llama": ("decoder", T.LlamaForCausalLM, T.LlamaConfig, BERT),
    "bert": ("encoder", T.BertForMaskedLM, T.BertConfig, BERT),
    "labels": ("encoder", T.BertForSequenceClassification, T.BertConfig, BERT | LABELS),
    "t5": ("encoder-decoder", T.T5ForConditionalGeneration, T.T5Config, T5),
}
CHAT = "{% for m in messages %}<s>{{ m['role'] }}: {{ m['content'] }}</s>{% endfor %}"
CHAT += "{% if add_generation_prompt %}<s>assistant: {% endif %}"
SENTENCES = ["the cat sat on the mat and the dog sat on the cat"] * 3


@functools.cache
def sound() -> dict[str, Path]:
    """The sound folders by their names, written once."""
    root = Path(tempfile.mkdtemp(prefix="headlight-fuzz-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    for name, (kind, architecture, config, choices) in SOUND.items():
        torch.manual_seed(0)
        architecture(config(**choices)).save_pretrained(root / name)
        words = tokenizer(kind)
        words.chat_template = CHAT if name == "llama" else None
        words.save_pretrained(root / name)
    for name, kind in (("ours", "decoder"), ("ours both", "encoder-decoder")):
        (root / name).mkdir()
        cutter = train_tokenizer(SENTENCES, 300)
        sizes = TransformerConfig(
            kind=kind, vocabulary=cutter.get_vocab_size(), context=64, d_model=16, layers=2, heads=2, d_ff=24
        )
        torch.manual_seed(0)
        write_weights(build(sizes), sizes, root / name)
        cutter.save(str(root / name / "tokenizer.json"))
    return {folder.name: folder for folder in sorted(root.iterdir())}


NUMBERS = st.sampled_from(
    [0, -1, 1, 2, 3, 7, 64, 10**4, 10**6, 10**9, 2**31, 2**63, 10**30, -(2**63), 0.5, 1e308, float("inf"), float("nan")]
)
ODD = st.one_of(
    NUMBERS,
    st.sampled_from(
        [
            "",
            "x",
            "\ud800",
            "\0",
            "gelu",
            "llama",
            "float16",
            "../x",
            "a" * 5000,
            "<s>",
            "{{",
            None,
            True,
            False,
            [],
            {},
            [[]],
            [None],
            {"a": 1},
        ]
    ),
    st.lists(NUMBERS, max_size=3),
    st.integers(1, 3000).map(
        lambda depth: functools.reduce(lambda inner, _: [inner], range(depth), 1) if depth < 60 else [depth]
    ),
    TEXT,
    st.dictionaries(
        st.sampled_from(["type", "0", "1", "factor", "rope_type", "id", "content", "text_config"]),
        st.one_of(NUMBERS, TEXT),
        max_size=3,
    ),
)
SETTINGS = [  # that a config of another kind has, or that libraries look for
    "model_type",
    "architectures",
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "n_layer",
    "tie_word_embeddings",
    "rope_scaling",
    "rope_parameters",
    "rope_theta",
    "sliding_window",
    "layer_types",
    "torch_dtype",
    "dtype",
    "quantization_config",
    "id2label",
    "num_labels",
    "problem_type",
    "text_config",
    "is_decoder",
    "is_encoder_decoder",
    "add_cross_attention",
    "pad_token_id",
    "eos_token_id",
    "auto_map",
    "hidden_act",
    "activation_function",
    "layer_norm_eps",
    "max_position_embeddings",
    "chunk_size_feed_forward",
    "pruned_heads",
    "use_cache",
    "tokenizer_class",
    "model_max_length",
    "chat_template",
    "bos_token",
    "mask_token",
    "added_tokens_decoder",
    "extra_special_tokens",
    "clean_up_tokenization_spaces",
    "truncation",
    "padding",
    "normalizer",
    "pre_tokenizer",
    "post_processor",
    "decoder",
    "model",
    "added_tokens",
    "kind",
    "layers",
    "heads",
    "context",
    "positions",
    "bad_words_ids",
    "suppress_tokens",
    "forced_bos_token_id",
    "__float__",
    "max_length",
    "labels",
    "tied",
    "pattern",
    "window",
]


def places(expected: Any, path: tuple = ()) -> list[tuple]:
    """Every place in what a JSON file holds; of long lists the first few."""
    inner = (
        list(expected.items()) if isinstance(expected, dict) else list(enumerate(expected)) if isinstance(expected, list) else []
    )
    return [path, *(place for key, value in inner[:40] for place in places(value, (*path, key)))]


@st.composite
def settings_changed(draw: st.DrawFn, file: Path) -> None:
    """A value of a JSON file is another one, gone, or new."""
    content = json.loads(file.read_text("utf-8"))
    for _ in range(draw(st.integers(1, 2))):
        where = draw(st.sampled_from([place for place in places(content) if place] or [()]))
        at = functools.reduce(lambda inner, key: inner[key], where[:-1], content)
        if not where or draw(st.integers(0, 3)) == 0:
            target = at if isinstance(at, dict) else content
            if isinstance(target, dict):
                target[draw(st.sampled_from(SETTINGS))] = draw(ODD)
        elif draw(st.integers(0, 3)) == 0:
            del at[where[-1]]
        else:
            at[where[-1]] = draw(ODD)
    file.write_text(json.dumps(content), "utf-8")


@st.composite
def bytes_changed(draw: st.DrawFn, file: Path) -> None:
    """A few bytes are others, gone, or new; or the file ends too soon."""
    held = bytearray(file.read_bytes())
    for _ in range(draw(st.integers(1, 4))):
        # of weights most of what matters stands at the beginning, which is their header
        at = draw(st.integers(0, max(0, min(len(held), draw(st.sampled_from([16, 400, len(held)]))) - 1)))
        match draw(st.sampled_from(["flip", "cut", "insert", "end"])):
            case "flip" if held:
                held[at] ^= draw(st.integers(1, 255))
            case "cut":
                del held[at : at + draw(st.integers(1, 40))]
            case "insert":
                held[at:at] = draw(st.binary(min_size=1, max_size=20))
            case "end" if draw(st.integers(0, 3)) == 0:
                del held[at:]
    file.write_bytes(bytes(held))


@st.composite
def weights_changed(draw: st.DrawFn, file: Path) -> None:
    """A tensor has another name, shape, kind or value, is gone, or is new."""
    tensors = load_file(file)
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(sorted(tensors)))
        tensor = tensors[name]
        match draw(st.sampled_from(["name", "gone", "shape", "turned", "kind", "value", "huge", "new", "header"])):
            case "name":
                tensors[
                    draw(
                        st.one_of(st.sampled_from([name + "x", "x." + name, name.rpartition(".")[0] or "y"]), TEXT.map(printable))
                    )
                ] = tensors.pop(name)
            case "gone" if len(tensors) > 1:
                del tensors[name]
            case "shape":
                tensors[name] = torch.zeros(draw(st.lists(st.integers(0, 20), max_size=3)))
            case "turned":
                tensors[name] = tensor.T.contiguous() if tensor.dim() == 2 else tensor[:-1].clone() if tensor.dim() else tensor
            case "kind":
                tensors[name] = tensor.to(
                    draw(
                        st.sampled_from(
                            [
                                torch.float64,
                                torch.float16,
                                torch.bfloat16,
                                torch.int8,
                                torch.int64,
                                torch.bool,
                                torch.float8_e4m3fn,
                            ]
                        )
                    )
                )
            case "value":
                tensors[name] = torch.full_like(
                    tensor,
                    draw(st.sampled_from([float("nan"), float("inf"), 0.0, 1e30, -1e30])) if tensor.is_floating_point() else 1,
                )
            case "huge":
                tensors[name] = tensor * 1e10 if tensor.is_floating_point() else tensor
            case "new":
                tensors[draw(st.sampled_from(["lm_head.weight", "classifier.weight", "score.weight", "z"]))] = torch.ones(3, 16)
            case _:
                pass
    save_file(tensors, file, {"format": draw(st.sampled_from(["pt", "tf", ""]))})
    if draw(st.integers(0, 7)) == 0:
        header(file, draw(st.sampled_from([0, 1, 2**40, 2**63, 8, 10])))


def printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode() or "x"


def header(file: Path, length: int) -> None:
    """The length that a file of weights says that its header has."""
    file.write_bytes(struct.pack("<Q", length) + file.read_bytes()[8:])


@st.composite
def file_changed(draw: st.DrawFn, file: Path) -> None:
    """A whole file is gone, empty, another model's, a folder, or a link to itself."""
    other = sound()[draw(st.sampled_from(sorted(sound())))] / file.name
    match draw(st.sampled_from(["gone", "empty", "other", "other", "folder", "link", "pipe"])):
        case "gone":
            file.unlink()
        case "empty":
            file.write_bytes(draw(st.sampled_from([b"", b"{}", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])))
        case "other" if other.is_file():
            shutil.copy(other, file)
        case "folder":
            file.unlink()
            file.mkdir()
        case "link":
            file.unlink()
            file.symlink_to(file.name)
        case "pipe":
            file.unlink()
            os.mkfifo(file)
        case _:
            pass


@st.composite
def folders(draw: st.DrawFn) -> Path:
    """A folder with damage, which whoever takes it removes; its name says what it was."""
    name = draw(st.sampled_from(sorted(sound())))
    folder = Path(tempfile.mkdtemp(prefix="fuzz-")) / name
    shutil.copytree(sound()[name], folder)
    for _ in range(draw(st.sampled_from([1, 1, 1, 2]))):
        files = sorted(file for file in folder.iterdir() if file.is_file())
        if not files:
            break
        file = draw(st.sampled_from(files))
        if file.suffix == ".safetensors":
            ways = [bytes_changed, weights_changed, weights_changed, weights_changed, file_changed]
        elif file.suffix == ".json":
            ways = [settings_changed] * 6 + [bytes_changed, file_changed]
        else:
            ways = [bytes_changed, file_changed]
        try:
            draw(draw(st.sampled_from(ways))(file))
        except (ValueError, OSError, RuntimeError, SafetensorError):  # what is damaged already is no JSON, or holds no tensors
            draw(bytes_changed(file)) if file.is_file() else None
    return folder


def inputs() -> st.SearchStrategy[tuple[Path, str]]:
    return st.tuples(folders(), TEXT)


def tried(case: tuple[Path, str]) -> bool:
    """Whether a folder is refused as the app opens it, or the text by the model that it makes."""
    folder, text = case
    try:
        with watched() as log:
            shelf = Shelf(loaded._load, lambda: 10**9)
            job = shelf.ask(str(folder), "fuzz", until=float("inf"))
            assert job.ended.wait(300), "it is still opened after five minutes"
            if job.error:
                assert is_sentence(job.error), job.error
                log.records = [record for record in log.records if record.name != loaded.__name__]  # told of in its refusal
                return True
            try:
                reads(shelf.get(str(folder)), text)
            except ValueError as error:
                if not is_refusal(error):
                    raise
                return True
        return False
    finally:
        shutil.rmtree(folder.parent, ignore_errors=True)


def reads(model: Any, text: str) -> None:
    """Whatever was opened reads: numbers are numbers, rows are rows, and what it cannot do it says."""
    asked: list[Any] = [
        lambda: model.predict(text, "cat" if model.info.kind == "encoder-decoder" else ""),
        lambda: list(model.generate("The cat", max_new_tokens=3)),
        lambda: model.as_chat(text) if model.chats else None,
    ]
    for target in ("", "the"):
        trace = model.trace(text, target if model.info.kind == "encoder-decoder" else "")
        for token in (*trace.tokens, *trace.target):
            token.text.encode()
        for attention in trace.attention.values():
            for layer in range(attention.layers):
                assert np.isfinite(attention[layer]).all()
    for label in model.info.labels.names if model.info.labels else ():
        label.encode()
    "".join([*model.info.notes, model.info.source]).encode()
    for ask in asked:
        try:
            ask()
        except ValueError as error:
            if not is_refusal(error):
                raise


def shown(case: tuple[Path, str]) -> bool:
    """The same on pages: the folder is chosen in the address of one that draws much of it."""
    folder, text = case
    before = allowed.folders
    allowed.folders = lambda: allowed.roots(address="localhost")
    try:
        with watched() as log:
            page = ("type", "attention", "inside", "generate", "space")[len(text) % 5]
            given = {"model": str(folder), "level": "expert", "text": text[:200].encode("utf-8", "surrogatepass")}
            result = refused(wait(open_given(page, given)))
            log.records = [record for record in log.records if record.name != loaded.__name__]
            return result
    finally:
        allowed.folders = before
        shutil.rmtree(folder.parent, ignore_errors=True)
