"""Opening a folder: the network that was saved comes back, and every broken folder is refused with a sentence."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
import transformers as T
from safetensors.torch import load_file, save_file

import models
from models.errors import Cancelled, ModelError
from models.huggingface.open import NO_HEAD, open_model
from tests.grids import grid
from tests.models.huggingface.folders import edit, fresh, output, refusal, save
from tests.models.networks import NETWORKS, VOCABULARY, network, tokenizer
from tests.serving import ROOT

STORIES = ROOT.parent / "shared" / "models" / "stories260k"


# What comes back


@pytest.mark.parametrize("name", NETWORKS)
def test_what_was_saved_comes_back(name, tmp_path):
    built = network(name)
    opened = open_model(str(save(built, tmp_path)))
    kind, architecture, *_ = NETWORKS[name]
    assert (opened.kind, opened.predicts) == (kind, architecture not in ("BertModel", "XLNetModel"))
    assert opened.source == "folder" and not opened.network.training
    assert not any(parameter.requires_grad for parameter in opened.network.parameters())
    assert all(parameter.device.type == "cpu" for parameter in opened.network.parameters())
    torch.testing.assert_close(output(opened.network), output(built))


def test_shards_are_one_network(tmp_path):
    built = network("Mixtral")
    save(built, tmp_path, max_shard_size="100KB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 2
    torch.testing.assert_close(output(open_model(str(tmp_path)).network), output(built))


def test_sixteen_bits_in_the_files_become_float32(tmp_path):
    rounded = network("Llama, grouped-query")
    for parameter in rounded.parameters():
        parameter.copy_(parameter.bfloat16())
    opened = open_model(str(save(network("Llama, grouped-query").to(torch.bfloat16), tmp_path)))
    assert {parameter.dtype for parameter in opened.network.parameters()} == {torch.float32}
    assert models.load(str(tmp_path)).info.dtype == "float32"
    torch.testing.assert_close(output(opened.network), output(rounded))


def test_old_names_of_bert_are_understood(tmp_path):
    built = fresh("BertForMaskedLM", "BertConfig")
    file = save(built, tmp_path) / "model.safetensors"
    old = {
        key.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
        for key, value in load_file(file).items()
    }
    assert any("gamma" in key for key in old)
    save_file(old, file, {"format": "pt"})
    torch.testing.assert_close(output(open_model(str(tmp_path)).network), output(built))


def test_a_trunk_saved_without_its_prefix_still_predicts(tmp_path):
    built = network("GPT-2")
    file = save(built, tmp_path) / "model.safetensors"
    bare = {key.removeprefix("transformer."): value for key, value in load_file(file).items()}
    assert "wte.weight" in bare and not any("lm_head" in key for key in bare), "the head is tied, so no file holds it"
    save_file(bare, file, {"format": "pt"})
    opened = open_model(str(tmp_path))
    assert opened.predicts
    torch.testing.assert_close(output(opened.network), output(built))


HEADS_OF_FILES = [
    ("BertForMaskedLM", "BertConfig", {}, "encoder", True),
    ("BertForPreTraining", "BertConfig", {}, "encoder", True),
    ("BertLMHeadModel", "BertConfig", {"is_decoder": True}, "decoder", True),
    ("BertForSequenceClassification", "BertConfig", {}, "encoder", False),
    ("BertForTokenClassification", "BertConfig", {}, "encoder", False),
    ("BertModel", "BertConfig", {}, "encoder", False),
    ("RobertaForSequenceClassification", "RobertaConfig", {}, "encoder", False),
    ("ElectraForPreTraining", "ElectraConfig", {}, "encoder", False),
    ("LlamaModel", "LlamaConfig", {}, "decoder", False),
    ("LlamaModel", "LlamaConfig", {"tie_word_embeddings": True}, "decoder", True),
    ("GPT2Model", "GPT2Config", {}, "decoder", True),
    ("GPT2ForSequenceClassification", "GPT2Config", {}, "decoder", False),
    ("T5EncoderModel", "T5Config", {"d_model": 64, "d_kv": 16, "num_heads": 4}, "encoder", False),
    ("T5Model", "T5Config", {"d_model": 64, "d_kv": 16, "num_heads": 4}, "encoder-decoder", True),
    ("BartModel", "BartConfig", {"d_model": 64}, "encoder-decoder", True),
    ("BartForCausalLM", "BartConfig", {"d_model": 64}, "decoder", True),
    ("XLNetLMHeadModel", "XLNetConfig", {"d_model": 64, "n_head": 4, "d_inner": 64}, "encoder", False),
]


@pytest.mark.parametrize(("architecture", "config", "choices", "kind", "predicts"), grid(HEADS_OF_FILES, HEADS_OF_FILES[::5]))
def test_a_head_is_used_where_the_files_hold_one(architecture, config, choices, kind, predicts, tmp_path):
    built = fresh(architecture, config, **choices)
    opened = open_model(str(save(built, tmp_path)))
    assert (opened.kind, opened.predicts) == (kind, predicts)
    labelled = architecture.endswith(("SequenceClassification", "TokenClassification"))
    assert bool(opened.labels) == labelled
    if not predicts and "XLNet" not in architecture:
        assert (NO_HEAD in opened.notes) != labelled
    # Every weight in the network is one that was saved: nothing is random.
    known = {tensor.double().sum().item() for tensor in built.state_dict().values()}
    assert all(tensor.double().sum().item() in known for tensor in opened.network.parameters())


def test_a_t5_with_a_head_of_its_own(tmp_path):
    """As flan-t5 has it. transformers ties the head of a T5 unless the files hold one."""
    save(network("T5"), tmp_path)
    edit(tmp_path, tie_word_embeddings=False)
    assert not open_model(str(tmp_path)).predicts
    file = tmp_path / "model.safetensors"
    tensors = load_file(file)
    save_file(tensors | {"lm_head.weight": 2 * tensors["shared.weight"].flip(0)}, file, {"format": "pt"})
    opened = open_model(str(tmp_path))
    assert opened.predicts
    torch.testing.assert_close(output(opened.network), output(T.T5ForConditionalGeneration.from_pretrained(tmp_path)))
    assert not torch.equal(opened.network.lm_head.weight, opened.network.shared.weight)


def test_the_ids_that_begin_and_end_a_text_are_kept(tmp_path):
    built = network("BART")
    built.generation_config.forced_bos_token_id = 11
    opened = open_model(str(save(built, tmp_path)))
    assert opened.network.generation_config.decoder_start_token_id == 2
    assert opened.network.generation_config.forced_bos_token_id == 11


def test_a_real_model():
    if not STORIES.is_dir():
        pytest.skip("no stories260k beside the repository")
    opened = open_model(str(STORIES))
    assert (opened.kind, opened.predicts, opened.notes) == ("decoder", True, ())
    reference = T.AutoModelForCausalLM.from_pretrained(STORIES, dtype=torch.float32)
    torch.testing.assert_close(output(opened.network), output(reference))


# What the folder may not decide


def test_code_in_the_folder_is_never_run(folder):
    witness = folder / "ran"
    (folder / "evil.py").write_text(f"open({str(witness)!r}, 'w')\nclass Config: pass\nclass Model: pass\n")
    (folder / "tokenization.py").write_text((folder / "evil.py").read_text())
    auto_map = {"AutoConfig": "evil.Config", "AutoModelForCausalLM": "evil.Model", "AutoTokenizer": ["tokenization.Config", None]}
    edit(folder, auto_map=auto_map)
    beside = folder / "tokenizer_config.json"
    beside.write_text(json.dumps(json.loads(beside.read_text()) | {"auto_map": auto_map}))
    assert open_model(str(folder)).predicts
    edit(folder, model_type="brand_new")
    assert "its own Python code" in refusal(folder)
    assert not witness.exists()


class Runs:
    """Whoever unpickles it makes a file."""

    def __init__(self, witness: Path) -> None:
        self.witness = witness

    def __reduce__(self):
        return os.mkdir, (str(self.witness),)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "tokenizer.model", "config.json", "pytorch_model.bin"])
def test_a_pickle_is_never_run_whatever_it_is_called(folder, name):
    witness = folder.parent / "ran"
    if name == "tokenizer.model":
        (folder / "tokenizer.json").unlink()
    if name == "pytorch_model.bin":
        (folder / "model.safetensors").unlink()
    (folder / name).write_bytes(pickle.dumps(Runs(witness)))
    refusal(folder)
    assert not witness.exists()
    pickle.loads((folder / name).read_bytes())
    assert witness.exists(), "else this test could not fail"


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"])
def test_a_refusal_holds_nothing_of_a_file_that_a_link_in_the_folder_leads_to(folder, name):
    secret = folder.parent / "elsewhere.txt"
    secret.write_text("heliotrope: marmalade\nheliotrope = marmalade\n")
    (folder / name).unlink()
    (folder / name).symlink_to(secret)
    sentence = refusal(folder)
    assert not any(word in sentence for word in ("heliotrope", "marmalade", "elsewhere"))


@pytest.mark.parametrize("when", range(2))
def test_a_folder_that_goes_away_while_it_is_read_is_said(folder, when):
    reports = []

    def report(progress) -> None:
        reports.append(progress)
        if len(reports) == when + 1:
            shutil.rmtree(folder, ignore_errors=True)

    with pytest.raises(ModelError) as caught:
        open_model(str(folder), report=report)
    assert str(caught.value).isprintable() and len(str(caught.value)) < 400 and len(reports) > when


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
@pytest.mark.parametrize("kind", ["a folder", "a pipe", "unreadable"])
def test_what_is_no_file_that_can_be_read_is_refused(folder, name, kind):
    (folder / name).unlink()
    if kind == "a folder":
        (folder / name).mkdir()
    elif kind == "a pipe":
        os.mkfifo(folder / name)  # who opens it waits for ever
    else:
        (folder / name).symlink_to("/proc/self/mem")  # whose reading fails, whoever reads
    sentence = refusal(folder)
    assert kind != "a folder" or name == "tokenizer.json" or f"{name} is a folder" in sentence


def test_settings_that_choose_code_are_set_aside(folder):
    edit(
        folder,
        _attn_implementation="somebody/kernel",
        attn_implementation="somebody/kernel",
        _experts_implementation="somebody/kernel",
        transformers_weights="../elsewhere.bin",
        fusion_config={"patch": True},
        num_labels=50_000_000,
    )
    opened = open_model(str(folder))
    assert opened.network.config._attn_implementation == "eager"
    torch.testing.assert_close(output(opened.network), output(network("Llama, grouped-query")))


# Progress, and threads


def test_the_bytes_that_are_read_are_reported(folder):
    reports = []
    open_model(str(folder), report=reports.append)
    reading = [progress for progress in reports if progress.stage == "read"]
    stored = sum(tensor.numel() * 4 for tensor in load_file(folder / "model.safetensors").values())
    assert {progress.total for progress in reading} == {stored}
    assert [progress.done for progress in reading] == sorted(progress.done for progress in reading)
    assert (reading[0].done, reading[-1].done) == (0, stored)
    assert reports[-1].stage == "prepare"


@pytest.mark.parametrize("name", ["GPT-2", "Mixtral"])
@pytest.mark.parametrize("share", [0, 0.4, 0.9])
def test_a_reading_that_is_cancelled_stops_there(name, share, tmp_path):
    save(network(name), tmp_path)
    sizes = []

    def report(progress):
        if progress.stage == "read":
            sizes.append(progress.done)
            if progress.done >= share * progress.total:
                raise Cancelled

    with pytest.raises(Cancelled):
        open_model(str(tmp_path), report=report)
    assert all(done < sizes[-1] for done in sizes[:-1]), "nothing is read after it"
    assert open_model(str(tmp_path)).predicts, "and the next one is not in its way"


def test_a_file_that_changes_while_it_is_read(folder):
    def report(progress):
        if progress.stage == "read" and progress.done > 0:
            os.truncate(folder / "model.safetensors", 5000)

    assert "cannot be read" in refusal(folder, report=report)


@pytest.mark.thorough
def test_two_threads_load_two_models(folder, tmp_path, monkeypatch):
    other = save(network("BART"), tmp_path / "other")
    default, verbosity = torch.get_default_dtype(), T.logging.get_verbosity()
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(open_model, [str(folder), str(other)] * 4))
    expected = {str(folder): output(network("Llama, grouped-query")), str(other): output(network("BART"))}
    for each in opened:
        torch.testing.assert_close(output(each.network), expected[each.name])
    assert torch.get_default_dtype() == default and T.logging.get_verbosity() == verbosity


# Names


def test_there_are_as_many_tokens_as_rows():
    """The tests' tokenizer fits the tests' networks, so that a text may be read by what was opened."""
    assert len(tokenizer("decoder")) <= VOCABULARY
