"""Opening a folder: the network that was saved comes back, and every broken folder is refused with a sentence."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
import transformers as T
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

import models
from models.errors import Cancelled, ModelError
from models.huggingface import memory
from models.huggingface.names import HubName, is_folder_name, short
from models.huggingface.open import NO_HEAD, open_model
from tests.models.networks import NETWORKS, SIZE, VOCABULARY, network, tokenizer
from tests.serving import ROOT

STORIES = ROOT.parent / "shared" / "models" / "stories260k"
IDS = torch.tensor([[5, 9, 40, 7, 200, 61]])


def save(built: T.PreTrainedModel, folder: Path, **how) -> Path:
    built.save_pretrained(folder, **how)
    kind = "encoder-decoder" if built.config.is_encoder_decoder else "encoder"
    tokenizer(kind).save_pretrained(folder)
    return folder


def fresh(architecture: str, config: str, **choices) -> T.PreTrainedModel:
    torch.manual_seed(1)
    return getattr(T, architecture)(getattr(T, config)(**SIZE | choices)).eval()


def output(network: T.PreTrainedModel) -> torch.Tensor:
    inputs = {"input_ids": IDS.to(network.device)}
    if network.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = IDS
    with torch.inference_mode():
        return network(**inputs)[0]


def edit(folder: Path, **choices) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | choices))


def refusal(folder: Path | str, **choices) -> str:
    """The sentence of a refusal: short, on one line, without a path into the library."""
    with pytest.raises(ModelError) as caught:
        open_model(str(folder), **choices)
    message = str(caught.value)
    assert message.isprintable() and len(message) < 400 and "Traceback" not in message
    return message


@pytest.fixture(scope="session")
def saved(tmp_path_factory) -> Path:
    """A sound Llama, to be copied."""
    return save(network("Llama, grouped-query"), tmp_path_factory.mktemp("sound") / "llama")


@pytest.fixture
def folder(saved, tmp_path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "llama"))


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
    old = {key.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
           for key, value in load_file(file).items()}  # fmt: skip
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


@pytest.mark.parametrize(
    ("architecture", "config", "choices", "kind", "predicts"),
    [
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
    ],
)  # fmt: skip
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


# What is refused


def test_no_such_folder(tmp_path):
    assert "no folder" in refusal(tmp_path / "nowhere")


def test_no_config(folder):
    (folder / "config.json").unlink()
    assert "no config.json" in refusal(folder)
    (folder / "adapter_config.json").write_text("{}")
    assert "an adapter" in refusal(folder)


@pytest.mark.parametrize("content", ["", "{", "[1]", '"x"', "\x00\xff", "[" * 100_000, '{"model_type": NaN'])
def test_a_config_that_is_no_json(folder, content):
    (folder / "config.json").write_text(content)
    assert "not readable JSON" in refusal(folder)


def test_configs_of_nothing_known(folder):
    edit(folder, model_type="brand_new\x1b[31m" + "x" * 500)
    assert "does not know: “brand_new [31mxxx" in refusal(folder)
    edit(folder, model_type=None)
    assert "does not say" in refusal(folder)
    edit(folder, model_type=["llama"])
    assert "does not know" in refusal(folder)


@pytest.mark.parametrize(
    "choices",
    [
        {"hidden_size": "large"},
        {"num_attention_heads": 0},
        {"hidden_size": -3},
        {"hidden_act": "nonsense"},
        {"rope_parameters": 3},
    ],
    ids=str,
)
def test_configs_that_make_no_sense(folder, choices):
    edit(folder, **choices)
    refusal(folder)


@pytest.mark.parametrize(
    "choices",
    [
        {"num_hidden_layers": 10**9},
        {"text_config": {"n_layers": 10**9}},
        {"head_dim": 10**10},
        {"num_local_experts": 10**6},
        {"block_sizes": [4, 10**7]},
        {"stages": [{"num_groups": 10**6}]},
        {"vocab_size": 10**19},
        {"max_position_embeddings": float("inf")},
        {"max_position_embeddings": {"__float__": "Infinity"}},
    ],
    ids=str,
)
def test_a_config_cannot_ask_for_the_whole_memory(folder, choices):
    edit(folder, **choices)
    assert "that is no model" in refusal(folder)


ANY = st.sampled_from([0, -1, 3, 10**6, 10**12, 1.5, float("nan"), "x", "", None, True, [], [1], {}, {"a": 1}, [None]])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_a_config_says_it_is_opened_or_refused(folder, saved, data):
    raw = json.loads((saved / "config.json").read_text())
    changed = {
        key: data.draw(ANY, label=key) for key in data.draw(st.lists(st.sampled_from(sorted(raw)), min_size=1, max_size=2))
    }
    (folder / "config.json").write_text(json.dumps(raw | changed))
    try:
        opened = open_model(str(folder))
    except ModelError as error:
        assert str(error).isprintable() and len(str(error)) < 400
    else:
        assert all(parameter.isfinite().all() for parameter in opened.network.parameters())


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("vit", "a vision model (ViT)"),
        ("clip", "an image-and-text model (CLIP)"),
        ("whisper", "a speech model (Whisper)"),
        ("wav2vec2", "a speech model"),
        ("llava", "an image-and-text model"),
        ("detr", "a vision model"),
        ("patchtst", "a time-series model"),
        ("gemma3", "a model of image and text"),
        ("musicgen", "a music model"),
    ],
)
def test_models_of_something_else(folder, kind, what):
    edit(folder, model_type=kind)
    message = refusal(folder)
    assert what in message and "reads text" in message


def test_quantised_weights(folder):
    edit(folder, quantization_config={"quant_method": "gptq", "bits": 4})
    assert "quantised (gptq)" in refusal(folder)


def test_no_weights(folder):
    (folder / "model.safetensors").unlink()
    assert "no weights" in refusal(folder)
    (folder / "pytorch_model.bin").write_bytes(b"PK")
    assert "“pytorch_model.bin”" in refusal(folder) and "safetensors" in refusal(folder)


def test_a_shard_is_missing(tmp_path):
    save(network("GPT-2"), tmp_path, max_shard_size="100KB")
    lost = sorted(tmp_path.glob("*.safetensors"))[1]
    lost.unlink()
    assert f"“{lost.name}” is missing" in refusal(tmp_path)


@pytest.mark.parametrize(
    "shard", ["../secret.safetensors", "/etc/passwd", "a\\b.safetensors", "pytorch_model.bin", ".safetensors", 7]
)
def test_an_index_names_only_files_beside_it(folder, shard):
    (folder / "model.safetensors").rename(folder.parent / "secret.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"x": shard}}))
    assert "weights index" in refusal(folder)


@pytest.mark.parametrize("share", [0, 0.001, 0.5, 0.999])
def test_weights_that_are_cut_short(folder, share):
    file = folder / "model.safetensors"
    os.truncate(file, int(file.stat().st_size * share))
    assert "cut short" in refusal(folder)


@pytest.mark.parametrize(
    "header",
    [
        b"not json at all",
        b"[]",
        b"{}",
        b'{"x": 3}',
        b'{"x": {"dtype": "F32", "shape": [4], "data_offsets": [0, 4]}}',
        b'{"x": {"dtype": "F99", "shape": [1], "data_offsets": [0, 4]}}',
        b'{"x": {"dtype": "F32", "shape": [-1, -1], "data_offsets": [0, 4]}}',
        b'{"x": {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]}}',
        b'{"x": {"dtype": "F32", "shape": ["1"], "data_offsets": [0, 4]}}',
        b"[" * 50_000,
    ],
)
def test_damaged_headers(folder, header):
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(64))
    assert "model.safetensors" in refusal(folder)


def test_tensors_that_lie_over_each_other(folder):
    """Each fits the file by itself; that they share their bytes only the safetensors library notices."""
    shapes = {key: list(tensor.shape) for key, tensor in load_file(folder / "model.safetensors").items()}
    entries = {
        key: {"dtype": "F32", "shape": shape, "data_offsets": [0, 4 * torch.Size(shape).numel()]} for key, shape in shapes.items()
    }
    header = json.dumps(entries).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bytes(4 * 300 * 64))
    assert "cannot be read" in refusal(folder)


def test_no_tokenizer(folder):
    for file in [*folder.glob("tokenizer*"), *folder.glob("special*")]:
        file.unlink()
    assert "no tokenizer files" in refusal(folder)
    (folder / "tokenizer.json").write_text("{}")
    assert "tokenizer of" in refusal(folder)


def test_weights_that_are_not_there(folder):
    file = folder / "model.safetensors"
    tensors = {key: value for key, value in load_file(file).items() if "layers.2." not in key}
    save_file(tensors, file, {"format": "pt"})
    message = refusal(folder)
    assert "lack 9 of the network’s weights" in message and "layers.2." in message


def test_weights_of_another_shape(folder):
    edit(folder, intermediate_size=96)
    message = refusal(folder)
    assert "another shape" in message and "mlp" in message


def test_a_decoder_that_is_cut_is_not_taken_for_an_encoder(tmp_path):
    file = save(network("T5"), tmp_path) / "model.safetensors"
    tensors = {key: value for key, value in load_file(file).items() if not key.startswith("decoder.block.1.")}
    save_file(tensors, file, {"format": "pt"})
    assert "decoder.block.1." in refusal(tmp_path)


def test_weights_in_eight_bits(folder):
    file = folder / "model.safetensors"
    save_file({key: value.to(torch.float8_e4m3fn) for key, value in load_file(file).items()}, file, {"format": "pt"})
    assert "stored as F8_E4M3" in refusal(folder)


# Room


def giant(folder: Path) -> Path:
    """Llama with 70.6 billion parameters in bfloat16: headers and sparse files, which take no room on the disk."""
    config = T.LlamaConfig(
        vocab_size=128_256, hidden_size=8192, intermediate_size=28_672, num_hidden_layers=80, num_attention_heads=64,
        num_key_value_heads=8, dtype="bfloat16", architectures=["LlamaForCausalLM"],
    )  # fmt: skip
    tokenizer("decoder").save_pretrained(folder)
    config.save_pretrained(folder)
    with torch.device("meta"):
        tensors = T.LlamaForCausalLM(config).state_dict()
    header, offset = {}, 0
    for key, tensor in tensors.items():
        end = offset + 2 * tensor.numel()
        header[key] = {"dtype": "BF16", "shape": list(tensor.shape), "data_offsets": [offset, end]}
        offset = end
    header_bytes = json.dumps(header).encode()
    file = folder / "model.safetensors"
    file.write_bytes(struct.pack("<Q", len(header_bytes)) + header_bytes)
    os.truncate(file, 8 + len(header_bytes) + offset)
    return folder


def test_what_does_not_fit_is_refused_with_the_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 23_000_000_000)
    reports = []
    message = refusal(giant(tmp_path), report=reports.append)
    assert "has 70.6 billion parameters: 141 GB in bfloat16, and this machine has 22 GB free" in message
    assert not [progress for progress in reports if progress.stage == "read"], "no weight is read"


def test_sixteen_bits_where_thirty_two_do_not_fit(folder, monkeypatch):
    parameters = sum(tensor.numel() for tensor in load_file(folder / "model.safetensors").values())
    monkeypatch.setattr(memory, "free_memory", lambda: memory.RESERVE + 3 * parameters)
    opened = open_model(str(folder))
    assert {parameter.dtype for parameter in opened.network.parameters()} == {torch.bfloat16}
    assert any("bfloat16" in note for note in opened.notes)
    assert models.load(str(folder)).info.dtype == "bfloat16"
    torch.testing.assert_close(output(opened.network).float(), output(network("Llama, grouped-query")), atol=0.5, rtol=0.1)


@given(parameters=st.integers(1, 10**13), free=st.integers(0, 10**13), stored=st.sampled_from(["F32", "F16", "BF16"]))
def test_a_placement_fits_and_is_as_exact_as_it_can_be(parameters, free, stored):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "free_on", lambda device: free)
        try:
            placement = memory.place("x", parameters, stored, "cpu")
        except ModelError:
            assert 2 * parameters > free
        else:
            assert placement.bytes <= free
            assert (placement.dtype == "float32") == (4 * parameters <= free)


@pytest.mark.parametrize("version", [1, 2])
def test_the_limit_of_a_container_counts(version, tmp_path):
    tree, membership = tmp_path / "cgroup", tmp_path / "membership"
    inside = tree / ("memory/a/b" if version == 1 else "a/b")
    inside.mkdir(parents=True)
    membership.write_text("7:cpu:/\n4:memory:/a/b\n" if version == 1 else "0::/a/b\n")
    limit, usage = ("memory.limit_in_bytes", "memory.usage_in_bytes") if version == 1 else ("memory.max", "memory.current")
    unlimited = memory.free_memory(tree, membership)
    (inside / limit).write_text("9223372036854771712\n" if version == 1 else "max\n")
    (inside / usage).write_text("1000\n")
    (inside / "memory.stat").write_text("inactive_file 100\n")
    assert memory.free_memory(tree, membership) == pytest.approx(unlimited, rel=0.2)
    (inside.parent / limit).write_text("5000\n")
    (inside.parent / usage).write_text("1000\n")
    (inside.parent / "memory.stat").write_text("inactive_file 100\n")
    assert memory.free_memory(tree, membership) == 4100


@pytest.mark.parametrize("device", ["cuda:9", "tpu", "nonsense", "", "cpu:x", "cuda:-1"])
def test_devices_that_are_not_there(folder, device):
    if device:
        assert "device" in refusal(folder, device=device)
    else:
        assert open_model(str(folder), device=device).network.device.type in ("cpu", "cuda", "mps"), "none named"


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


def test_what_is_a_folder():
    assert all(map(is_folder_name, ["/x", "./x", "../x", "~/x", "C:\\x", "\\\\host\\x", ".", ".."]))
    assert not any(map(is_folder_name, ["gpt2", "owner/name", "x.y", "", ".hidden", "a\\b"]))


def test_names_on_the_hub():
    assert HubName.parse("gpt2") == HubName("gpt2")
    assert HubName.parse("a-b/c.d_e@refs/pr/1") == HubName("a-b/c.d_e", "refs/pr/1")


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "a b",
        "a/b/c",
        "..",
        "../../etc",
        "a/../b",
        "a@",
        "a@b c",
        "a@../x",
        "@x",
        "-x",
        "x" * 5000,
        "a\x00b",
        "käse",
        "a--b",
    ],
)
def test_nonsense_is_no_name(name):
    refusal(name)


@given(st.text(max_size=200))
def test_any_text_is_a_folder_a_name_or_refused(text):
    if not is_folder_name(text):
        try:
            parsed = HubName.parse(text)
        except ModelError as error:
            assert str(error).isprintable()
        else:
            assert text == parsed.repository + (f"@{parsed.revision}" if parsed.revision else "")
            assert ".." not in text and " " not in text


@given(st.text())
def test_words_of_strangers_are_made_short_and_plain(text):
    assert short(text).isprintable() and len(short(text)) <= 60


def test_there_are_as_many_tokens_as_rows():
    """The tests' tokenizer fits the tests' networks, so that a text may be read by what was opened."""
    assert len(tokenizer("decoder")) <= VOCABULARY
