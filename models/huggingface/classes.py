"""Choices of the transformers class for a config, and descriptions of models that do not read text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.errors import ModelError
from models.huggingface.names import quoted, short

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

# Settings of a config.json that are not the architecture's: they would choose code or files, or build tables nobody needs.
SET_ASIDE = {"auto_map", "attn_implementation", "experts_implementation", "quantization_config", "fusion_config", "kernel_config"}
SET_ASIDE |= {"distributed_config", "transformers_weights", "dtype", "torch_dtype", "num_labels", "id2label", "label2id"}
SET_ASIDE |= {"output_attentions", "output_hidden_states", "return_dict", "use_return_dict", "torchscript"}

# Types among transformers' causal and masked language models that read or write something else.
NOT_TEXT = {
    "whisper": "a speech model",
    "moshi": "a speech model",
    "musicgen": "a music model",
    "musicgen_melody": "a music model",
    "perceiver": "a model of many kinds of input",
    "trocr": "the text half of an image model",
    "tapas": "a model of tables, which it is asked about",
}
# By a word in the name of the task, the most telling first.
SUBJECTS = {
    "TEXT_TO_TEXT": "an image-and-text model",
    "ZERO_SHOT": "an image-and-text model",
    "VISUAL_QUESTION": "an image-and-text model",
    "RETRIEVAL": "an image-and-text model",
    "SPEECH": "a speech model",
    "CTC": "a speech model",
    "RNNT": "a speech model",
    "TDT": "a speech model",
    "TEXT_TO_": "a speech model",
    "AUDIO": "an audio model",
    "VIDEO": "a video model",
    "TIME_SERIES": "a time-series model",
    "MULTIMODAL": "a multimodal model",
    **dict.fromkeys(("IMAGE", "OBJECT", "SEGMENTATION", "DEPTH", "KEYPOINT", "MASK_GENERATION", "BACKBONE"), "a vision model"),
}
TEXT_ALTHOUGH = {"blt"}  # its class says that it sees images; it reads bytes of text
TASKS: tuple[str, ...] = ("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering", "ForMultipleChoice")
OTHER_TASKS = {  # of heads that are not shown: what such a model was trained to do
    "ForQuestionAnswering": "to mark where in a text the answer to a question begins and ends",
    "ForMultipleChoice": "to choose among several answers",
    "ForNextSentencePrediction": "to say whether one text follows another",
}
LABELLED = {"text": "FOR_SEQUENCE_CLASSIFICATION_", "token": "FOR_TOKEN_CLASSIFICATION_"}
TASKS += ("ForNextSentencePrediction", "ForSequenceScoring", "ForImageClassification", "DoubleHeadsModel")


@dataclass(frozen=True)
class Candidate:
    """A class that may fit the weights. kind: "decoder" | "encoder" | "encoder-decoder"; head: it has a language-model head.

    labels: it has a head for labels in its place, of the "text", of each "token" or of the "image".
    """

    cls: type[PreTrainedModel]
    kind: str
    head: bool
    labels: str = ""


def config_of(raw: dict, name: str) -> PreTrainedConfig:
    """Return the config that transformers makes of a config.json. Errors: ModelError when it knows no such model."""
    from transformers import CONFIG_MAPPING

    kind = raw.get("model_type")
    if not isinstance(kind, str) or kind not in CONFIG_MAPPING:
        if raw.get("auto_map"):
            raise ModelError(
                f"{quoted(name)} brings its own Python code, and Headlight never runs a model’s code. "
                "Choose a model that the transformers library knows."
            )
        if kind is None:
            raise ModelError(f"The config.json of {quoted(name)} does not say what model it is (model_type).")
        raise ModelError(f"{quoted(name)} is of a type that the installed transformers library does not know: {quoted(kind)}.")
    if quantised := raw.get("quantization_config"):
        method = quantised.get("quant_method", "unknown method") if isinstance(quantised, dict) else quantised
        raise ModelError(
            f"The weights of {quoted(name)} are quantised ({short(method)}), which Headlight does not open. "
            "Choose the version in full precision."
        )
    try:
        return CONFIG_MAPPING[kind].from_dict(drop_set_aside(raw))
    except Exception as error:
        raise ModelError(f"The config.json of {quoted(name)} makes no sense to transformers: {short(error, 120)}") from error


def drop_set_aside(raw: dict) -> dict:
    """Return a config.json without the settings in SET_ASIDE and without private ones, at every depth."""
    settings = {key: value for key, value in raw.items() if key not in SET_ASIDE and not key.startswith("_")}
    return {key: drop_set_aside(value) if isinstance(value, dict) else value for key, value in settings.items()}


def candidates(config: PreTrainedConfig, architectures: object, name: str) -> list[Candidate]:
    """Return the classes to try, the best first: with the head for labels or for tokens, bare, the encoder alone.

    architectures: those that config.json names, used only where they are classes of that type.
    Errors: ModelError for a model that does not read text, with what it is.
    """
    from transformers.models.auto import modeling_auto as auto

    type_ = config.model_type
    architecture = architectures[0] if isinstance(architectures, list) and architectures else None
    architecture = architecture if isinstance(architecture, str) else ""

    def named(table: str) -> str | None:
        class_names = getattr(auto, f"MODEL_{table}MAPPING_NAMES").get(type_)
        return class_names[0] if isinstance(class_names, (tuple, list)) else class_names

    both, causal, masked = named("FOR_SEQ_TO_SEQ_CAUSAL_LM_"), named("FOR_CAUSAL_LM_"), named("FOR_MASKED_LM_")
    bare, encoder = named(""), named("FOR_TEXT_ENCODING_")
    others = [named("FOR_SEQUENCE_CLASSIFICATION_"), named("FOR_QUESTION_ANSWERING_")]
    refuse_unless_text(config, [both, causal, masked, encoder, *others], name)

    two = bool(getattr(config, "is_encoder_decoder", False))
    decoding = getattr(config, "is_decoder", False) or getattr(config, "causal", False) or architecture == causal
    choices: list[Candidate | None] = []
    if both and (two or not (causal or masked)):
        kind, head = "encoder-decoder", both
    elif getattr(config, "use_bidirectional_attention", None) is True:
        kind, head = "encoder", None  # a Gemma that was made to see both ways; its head is the input embedding, and tells nothing
    elif causal and (decoding or not masked) and type_ != "xlnet":
        kind, head = "decoder", causal
    else:
        kind, head = "encoder", masked
    for labelled, table in LABELLED.items():
        if architecture and architecture == named(table):
            if kind == "encoder-decoder" and labelled == "text":
                choices.append(candidate(architecture, kind, False, labelled))
                continue
            alone = "encoder" if kind == "encoder-decoder" else kind  # T5's classifier of tokens has no decoder
            choices.append(candidate(architecture, alone, False, labelled))
    if head and not architecture.endswith(TASKS):
        choices.append(candidate(head, kind, True))
    choices.append(candidate(bare, kind, False))
    choices.append(candidate(encoder, "encoder", False))
    unique = {each.cls: each for each in reversed(choices) if each}
    if not unique:
        raise ModelError(f"{quoted(name)} ({short(type_)}) is not a kind of model that Headlight can open.")
    return list(reversed(unique.values()))


def candidate(class_name: str | None, kind: str, head: bool, labels: str = "") -> Candidate | None:
    import transformers

    return Candidate(getattr(transformers, class_name), kind, head, labels) if class_name else None


def refuse_unless_text(config: PreTrainedConfig, classes: list[str | None], name: str) -> None:
    import transformers

    type_ = config.model_type
    title = type(config).__name__.removesuffix("Config")
    names = [each for each in classes if each]
    what = NOT_TEXT.get(type_)
    if not what and names and not (type_.endswith("_text") or type_ in TEXT_ALTHOUGH):
        named = getattr(transformers, names[0]).input_modalities
        senses = {named} if isinstance(named, str) else set(named)
        if senses != {"text"}:
            what = f"a model of {' and '.join(sorted(senses))}"
    if not what and not names:
        what = other_subject(type_)
    if what:
        raise ModelError(f"{quoted(name)} is {what} ({title}); Headlight reads text, or images with a model such as ViT.")


def other_subject(type_: str) -> str:
    """Return what a model is, by the names of its tasks, if transformers lists it under no text task."""
    from transformers.models.auto import modeling_auto as auto

    tables = [table for table in dir(auto) if table.endswith("_MAPPING_NAMES") and table.startswith("MODEL_FOR_")]
    tasks = " ".join(table for table in tables if type_ in getattr(auto, table))
    for word, subject in SUBJECTS.items():
        if word in tasks:
            return subject
    return "not a language model"
