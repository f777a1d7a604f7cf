"""Every architecture of text that the installed transformers can build tiny, and those of images that Headlight knows, opened and
held to transformers' eager forward.

    python -m benchmarks.architectures [part of a name ...] [--seconds 60] [--gigabytes 4] [--again]

Each type of configuration is made small (`benchmarks.tiny`), saved with random weights, and opened by `models.load` in a process
of its own, with a bound on its time and memory. Then a short text and one of 64 tokens and more are read, afresh and on from
what was read before, and held to the same class loaded by transformers with eager attention: weights of attention, hidden
states, logits of all positions and of single ones. It prints, for each: opened and equal, weights only (equal, but its queries
and keys cannot be had), refused with its sentence, or DIFFERS; and how many there are of each. What was found stays in
build/architectures.json, so that a run that was stopped goes on; --again begins again. It ends with 1 if any differs.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import transformers

import models
from benchmarks import tiny
from models.errors import ModelError
from models.huggingface.classes import candidates
from models.huggingface.trial import part_of
from tests.models.huggingface import image_families
from tests.models.networks import TEXTS, tokenizer
from tests.serving import ROOT

KEPT = ROOT / "build" / "architectures.json"
EQUAL, WEIGHTS, REFUSED, DIFFERS, UNBUILT = "opened and equal", "weights only", "refused", "DIFFERS", "cannot be built tiny"
SHORT, LONG = "The cat sat on", " ".join(TEXTS * 5)
HALF = LONG[: len(LONG) // 2]
SAID = "Once upon a time"
Examine = Callable[[str], tuple[str, str]]  # an architecture's name: the verdict on it, and the sentence that goes with it
CLOSE = 2e-4  # of the largest number of its kind, at least 1
OF_IMAGES = {f"images: {name}": built[:2] for name, built in (image_families.FAMILIES | image_families.REFUSED).items()}


class Difference(Exception):
    pass


def names() -> list[str]:
    """Every type of configuration that is a model of text to Headlight, and the same types in another order."""
    kinds = []
    for kind in tiny.kinds():
        try:
            candidates(transformers.CONFIG_MAPPING[kind](), None, kind)
        except ModelError:
            continue
        except Exception:  # transformers cannot make it without being told more
            pass
        kinds.append(kind)
    return sorted([*kinds, *tiny.AGAIN])


def examine(name: str) -> tuple[str, str]:
    """The verdict on one architecture, and the sentence that goes with it."""
    if name in OF_IMAGES:
        return examine_images(name)
    kind, choices = tiny.AGAIN.get(name, (name, {}))
    with tempfile.TemporaryDirectory() as folder:
        try:
            small = tiny.config(kind, **choices)
            choice = candidates(small, None, kind)[0]
            built = tiny.network(choice.cls, part_of(small, choice))
            built.save_pretrained(folder)
            small.save_pretrained(folder)
            tokenizer("encoder-decoder" if small.is_encoder_decoder else "encoder").save_pretrained(folder)
            works(built)
        except Exception as error:
            return UNBUILT, f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
        try:
            model = models.load(folder, device="cpu")
        except ModelError as error:
            return REFUSED, str(error).replace(folder, name)
        reference = type(model.network).from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
        reference.config.use_cache = False
        try:
            compare(model, reference, (SHORT, LONG, HALF))
            if model.info.kind == "decoder":  # others read nothing on from what they read before
                compare(models.load(folder, device="cpu"), reference, (LONG,))
        except Difference as difference:
            return DIFFERS, str(difference)
        notes = "; ".join(model.info.notes)
        return (EQUAL if model.info.queries else WEIGHTS), notes


def examine_images(name: str) -> tuple[str, str]:
    """The same for an architecture of images: one image, with attention, hidden states and the scores of its labels."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            image_families.save(Path(folder), *OF_IMAGES[name])
        except Exception as error:
            return UNBUILT, f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"
        try:
            model = models.load(folder, device="cpu", reads="image")
        except ModelError as error:
            return REFUSED, str(error).replace(folder, name)
        reference = type(model.network).from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
        trace = model.trace(image_families.image())
        pixels = torch.tensor(model.grid.pixels(trace.tokens))[None]
        with torch.inference_mode():
            out = reference(pixel_values=pixels, output_attentions=True, output_hidden_states=True)
        try:
            for layer, weights in enumerate(out.attentions):
                near(trace.attention["self"][layer], weights[0], f"attention of layer {layer}")
                near(trace.hidden["self"][layer], out.hidden_states[layer][0], f"hidden[{layer}]")
            if model.info.labels:
                near(trace.scores_at(0), out.logits[0], "scores of labels")
        except Difference as difference:
            return DIFFERS, str(difference)
        return (EQUAL if model.info.queries else WEIGHTS), "; ".join(model.info.notes)


def works(built) -> None:
    built.config.use_cache = False  # FSMT masks nothing where it remembers, BLT cannot
    positions = getattr(built.config, "max_position_embeddings", None) or 80
    ids = torch.arange(3, 3 + min(80, positions if positions > 0 else 80))[None]
    with torch.inference_mode():
        built(input_ids=ids, **({"decoder_input_ids": ids[:, :9]} if built.config.is_encoder_decoder else {}))


def compare(model, reference, texts: tuple[str, ...]) -> None:
    """Read texts one after the other, each held to what the reference makes of it. Raises Difference."""
    for text in texts:
        trace = model.trace(text, SAID * (3 if text == LONG else 1) if model.info.kind == "encoder-decoder" else "")
        out, attention, hidden = eager(reference, trace)
        where = f"{len(trace.tokens)} tokens"
        for stack, states in hidden.items():
            ours = trace.hidden[stack]
            near(ours[0], states[0], f"hidden[0] of {stack}, {where}")
            if len(states) == len(ours):
                for layer in range(1, len(ours) - 1):  # the last one of transformers is after the final norm
                    near(ours[layer], states[layer], f"hidden[{layer}] of {stack}, {where}")
            else:
                follow(ours, states, f"{stack}, {where}")
        for which, layers in attention.items():
            ours_of = trace.attention[which]
            if len(layers) != ours_of.layers:
                continue  # transformers tells of none, or of some only
            for layer, weights in enumerate(layers):
                ours = ours_of[layer]
                if "sink" in ours_of.formula(layer):  # some tell the weights before the sink has taken its share, some after
                    ours, weights = (rows / np.asarray(rows).sum(-1, keepdims=True) for rows in (ours, weights))
                near(ours, weights, f"attention {which} of layer {layer}, {where}")
        if model.info.predicts:
            near(trace.logits, out.logits[0], f"logits, {where}")
            for position in (0, len(trace.read) // 2, len(trace.read) - 1):
                near(trace.logits_at(position), out.logits[0, position], f"logits_at({position}), {where}")
            near(trace.logits_at([1, 0]), out.logits[0, [1, 0]], f"two rows of logits, {where}")


def follow(ours: np.ndarray, states: list, where: str) -> None:
    """Each of our states but the last is one of the reference's, in order: layers without attention are not counted."""
    place = 0
    for layer in range(len(ours) - 1):
        while place < len(states) and difference(ours[layer], states[place]) > CLOSE:
            place += 1
        if place == len(states):
            raise Difference(f"hidden[{layer}] is none of the reference's states, {where}")


def eager(reference, trace):
    """What transformers itself says: its output, attention and hidden states by kind. Lists are empty where it tells nothing."""
    ids = torch.tensor([[token.id for token in trace.tokens]])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if trace.target:
        inputs["decoder_input_ids"] = torch.tensor([[token.id for token in trace.target]])
    with torch.inference_mode():
        out = reference(**inputs, output_attentions=True, output_hidden_states=True, return_dict=True)
    stacks = {"encoder": "encoder", "decoder": "decoder"} if trace.target else {"self": None}
    hidden = {stack: tensors_of(out, f"{name}_hidden_states" if name else "hidden_states") for stack, name in stacks.items()}
    if trace.target:
        names = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}
    else:
        names = {"self": "attentions"}
    # MiniMax tells of others too.
    shape = {which: (len(attention.queries), len(attention.keys)) for which, attention in trace.attention.items()}
    attention = {
        which: [layer[0] for layer in tensors_of(out, name) if layer.dim() == 4 and layer.shape[2:] == shape[which]]
        for which, name in names.items()
    }
    return out, attention, {stack: [state.flatten(0, 1) for state in states] for stack, states in hidden.items() if states}


def tensors_of(out, name: str) -> list:
    return [layer for layer in (getattr(out, name, None) or ()) if layer is not None]


def near(ours, theirs, where: str) -> None:
    if (apart := difference(ours, theirs)) > CLOSE:
        raise Difference(f"{where}: {apart:.2g} apart")


def difference(ours, theirs) -> float:
    theirs = np.asarray(theirs)
    if ours.shape != theirs.shape:
        return float("inf")
    return float(np.abs(ours - theirs).max() / max(1.0, float(np.abs(theirs).max())))


def child(name: str, gigabytes: float, pipe, examine: Examine) -> None:
    warnings.simplefilter("ignore")
    transformers.utils.logging.set_verbosity_error()
    torch.set_num_threads(1)
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + int(gigabytes * 2**30),) * 2)
    try:
        pipe.send(examine(name))
    except Exception as error:
        pipe.send((DIFFERS, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"))


def bounded(name: str, seconds: float, gigabytes: float, examine: Examine = examine) -> tuple[str, str]:
    """`examine` in a process of its own, stopped after so many seconds."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(name, gigabytes, theirs, examine))
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(seconds) else (UNBUILT, f"took more than {seconds:g} seconds")
    except EOFError:
        return DIFFERS, "its process ended without a word"
    finally:
        process.kill()
        process.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help="only architectures whose name holds one of these")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--gigabytes", type=float, default=4)
    parser.add_argument("--again", action="store_true", help="forget what an earlier run found")
    arguments = parser.parse_args()
    known = {} if arguments.again or arguments.parts or not KEPT.is_file() else json.loads(KEPT.read_text())
    known = known if known.get("transformers") == transformers.__version__ else {"transformers": transformers.__version__}
    verdict_of: dict[str, list[str]] = {}
    warnings.simplefilter("ignore")
    transformers.utils.logging.set_verbosity_error()
    began = time.perf_counter()
    for name in [*names(), *OF_IMAGES]:
        if arguments.parts and not any(part in name for part in arguments.parts):
            continue
        verdict_of[name] = known.get(name) or bounded(name, arguments.seconds, arguments.gigabytes)
        print(f"{name:42}  {verdict_of[name][0]:20}  {verdict_of[name][1]}", flush=True)
        if not arguments.parts:
            known[name] = verdict_of[name]
            KEPT.parent.mkdir(exist_ok=True)
            KEPT.write_text(json.dumps(known, indent=1))
    counts = Counter(verdict for verdict, _ in verdict_of.values())
    print(f"\ntransformers {transformers.__version__}, {len(verdict_of)} in {time.perf_counter() - began:.0f} s: ", end="")
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))
    return int(counts[DIFFERS] > 0)


if __name__ == "__main__":
    sys.exit(main())
