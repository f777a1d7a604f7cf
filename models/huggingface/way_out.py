"""The way from the stream after the last block to logits or labels: the network's own, with all its layers skipped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from models.attention.recorder import recording
from models.class_labels import Labels
from models.errors import ModelError
from models.huggingface import layout
from models.huggingface.followed import FollowedNetwork
from models.huggingface.passes import Inputs
from models.huggingface.two_stacks import decoder_inputs, label_position
from models.tokens import Token

ROWS = 2**23  # numbers of logits that are computed at once


class WayOut:
    """The way of a followed network from its stream to logits [vocabulary], or to the scores of its labels.

    predicts: whether it has a language-model head. labels: of a classifier, None where they cannot be followed. row_layers:
    layers after the last block that run on single rows; tail: what the others make of a whole text's stream [position, d_model],
    None without any.
    """

    def __init__(self, followed: FollowedNetwork, predicts: bool, labels: Labels | None):
        self.followed, self.predicts, self.labels = followed, predicts, labels
        self.row_layers: frozenset[int] = frozenset()  # by id
        self.tail: Callable[[np.ndarray], np.ndarray] | None = None

    @property
    def labels_text(self) -> bool:
        """Whether it gives one answer for a text, not one at each position. (A classifier of two stacks gives one at each.)"""
        return self.labels is not None and not self.labels.each and self.followed.kind != "encoder-decoder"

    @property
    def label(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """As `Trace.label`. The scores of labels that are made of all rows at once come from `Trace.tail`."""
        if self.labels is None:
            return None
        return np.asarray if self.labels.pooled else self.unembed

    def unembed(self, hidden: np.ndarray) -> np.ndarray:
        """Compute logits [..., vocabulary] from the stream after the last layer [..., d_model], row by row."""
        followed = self.followed
        rows = followed.numbers(hidden).reshape(-1, hidden.shape[-1])
        at_once = max(1, min(ROWS // max(1, followed.vocabulary.size), followed.positions or len(rows)))
        with torch.inference_mode():
            logits = [self.logits(part, self.row_layers).float().cpu().numpy() for part in rows.split(at_once)]
        return np.concatenate(logits).reshape(*hidden.shape[:-1], -1)

    def logits(self, rows: Tensor, but: frozenset[int] = frozenset()) -> Tensor:
        """Compute logits [row, vocabulary] of rows of the stream [row, d_model]. but: layers (ids) that still run.

        A label of a text is read at one row of it, so each row is then a text of its own.
        """
        followed = self.followed
        if self.labels_text:
            with layout.skipping(rows[:, None], but):
                return followed.network(**followed.blank(len(rows), 1), return_dict=True).logits
        with layout.skipping(rows[None], but):
            return followed.network(**self.blank(rows), return_dict=True).logits[0]

    def pooled(self, streams: Tensor) -> Tensor:
        """Compute labels [text, label] of whole texts from their streams after the last layer [text, position, d_model].

        Runs in the gradient mode of the caller.
        """
        network = self.followed.network
        rows = streams.to(network.device, network.dtype)
        with layout.skipping(rows):
            return network(**self.followed.blank(*rows.shape[:2]), return_dict=True).logits

    def pool(self, stream: np.ndarray) -> np.ndarray:
        """Return the labels of one text [position, d_model], the same at each of its positions: float32 [position, label]."""
        with torch.inference_mode():
            scores = self.pooled(self.followed.numbers(stream)[None]).float().cpu().numpy()
        return np.broadcast_to(scores, (len(stream), scores.shape[-1]))

    def run_tail(self, stream: np.ndarray) -> np.ndarray:
        """Run the layers after the last block on the stream of a whole text [position, d_model]: the same shape."""
        followed, stack = self.followed, self._last_stack
        rows = followed.numbers(stream)
        but = frozenset(map(id, followed.layout.tail(stack)))
        network = followed.network if stack == "decoder" else followed.base
        with torch.inference_mode(), recording() as record, layout.skipping(rows[None], but):
            network(**self.blank(rows), return_dict=True)
        return record.hidden[stack][-1].float().cpu().numpy()

    def blank(self, rows: Tensor) -> Inputs:
        """Return inputs as long as rows [row, d_model] that replace the stream: their tokens do not matter."""
        ids = self.followed.ids
        inputs: Inputs = {"input_ids": ids([0] * len(rows)), "attention_mask": ids([1] * len(rows))}
        if self.followed.kind == "encoder-decoder":
            inputs["decoder_input_ids"] = inputs.pop("input_ids")
            inputs["attention_mask"] = ids([1])
            inputs["encoder_outputs"] = BaseModelOutput(last_hidden_state=rows.new_zeros(1, 1, rows.shape[-1]))
        return self.followed.uncached(inputs)

    def logits_of(
        self, texts: Sequence[Sequence[Token]], targets: Sequence[Sequence[Token]], position: int | Sequence[int]
    ) -> np.ndarray:
        """Compute logits [text, vocabulary] at one position of whole texts, or of their targets."""
        followed, ends = self.followed, None
        target_ids = [[token.id for token in tokens] for tokens in targets]
        if self.labels is not None and followed.kind == "encoder-decoder":
            ids = [[token.id for token in text] for text in texts]
            target_ids = [decoder_inputs(followed.network, row) for row in ids]
            ends = [label_position(followed.network, row) for row in ids]
        last = followed.limits_logits and not any(target_ids) and position == -1  # logits are large: no others are computed then
        rows_each = 1 if last else len(target_ids[0] or texts[0])
        at_once, batches = max(1, ROWS // (rows_each * max(1, followed.vocabulary.size))), []
        for start in range(0, len(texts), at_once):
            part = texts[start : start + at_once]
            inputs = followed.inputs(part, target_ids[start : start + at_once])
            if last:
                inputs["logits_to_keep"] = 1
            followed.complete(inputs)
            with torch.inference_mode():
                out = followed.network(**inputs, return_dict=True)
            rows = range(len(part)), position if ends is None else ends[start : start + at_once]
            batches.append((out.logits if self.labels_text else out.logits[rows]).float().cpu().numpy())
        return np.concatenate(batches)

    @cached_property
    def formula(self) -> str:
        """The way as a formula of "{stream}"."""
        # Matrices around the base model are a transform; where there is a norm, a stream twice as long changes nothing.
        network, last = self.followed.network, self.followed.network.get_output_embeddings()
        heads = [child for child in network.children() if not isinstance(child, PreTrainedModel)]
        transform = any(isinstance(module, nn.Linear) and module is not last for head in heads for module in head.modules())
        width = self.followed.config.hidden_size
        rows = np.random.default_rng(0).normal(size=(4, width)).astype(np.float32)
        single, double = (self.unembed(factor * rows) for factor in (1, 2))
        norm = np.allclose(single, double, rtol=1e-2, atol=1e-3)
        inside = "t({stream})" if transform else "norm({stream})" if norm else "{stream}"
        formula = f"Wᵁ · {inside}" + (" + b" if getattr(last, "bias", None) is not None else "")
        return f"c · tanh(({formula}) / c), c = {self.cap:g}" if self.cap else formula

    @property
    def cap(self) -> float | None:
        """The bound of its logits, None without one."""
        return getattr(self.followed.config, "final_logit_softcapping", None)

    # Checks

    def find_labels(self, recorded: Tensor, logits: Tensor) -> bool:
        """Find the row of the stream at which the labels of a text are read, or that they are made of all rows at once.

        recorded: the stream after the last block [position, d_model]; logits [label]. False, and no labels, where it is neither.
        """
        assert self.labels, "it has labels"
        followed = self.followed
        expected, close = logits.float().cpu().numpy(), 1e-3 if followed.network.dtype == torch.float32 else 5e-2
        stream = recorded.float().cpu().numpy()

        def is_close(scores: np.ndarray) -> bool:
            apart = np.abs(scores - expected).max() <= close * max(1e-6, float(np.abs(expected).max()))
            return bool(apart) and not followed.layout.tail("self")

        def of_row(at: int) -> np.ndarray:
            try:
                return self.unembed(stream[[at]])[0]
            except IndexError:  # the labels are made of several rows
                return np.full_like(expected, np.inf)

        for at in () if self.labels.pooled else (0, -1) if self.labels.first else (-1, 0):
            if is_close(of_row(at)):
                self.labels = replace(self.labels, first=at == 0)
                return True
        if is_close(self.pool(stream)[0]):
            self.labels, self.tail = replace(self.labels, first=followed.kind == "encoder", pooled=True), self.pool
            return True
        self.labels, self.tail = None, None
        return False

    def check(self, recorded: Tensor, logits: Tensor) -> None:
        """Check that logits follow from the stream after the last block, row by row or after the layers behind it.

        recorded: that stream [position, d_model]. Errors: ModelError when they do not.
        """
        stream, expected = recorded.float().cpu().numpy(), logits.float().cpu().numpy()
        exact = self.followed.network.dtype == torch.float32
        rows = sorted({0, len(expected) // 2, len(expected) - 1})
        behind = self.followed.layout.tail(self._last_stack)

        def apart(stream: np.ndarray) -> float:
            pairs = [(self.unembed(stream), expected), (self.unembed(stream[::-1]), expected[::-1])]
            pairs += [(self.unembed(stream[row]), expected[row]) for row in rows]
            return max(float(np.abs(a - b).max()) for a, b in pairs) / max(1e-6, float(np.abs(expected).max()))

        if behind:  # read row by row only where that is proven right
            self.row_layers, self.tail = frozenset(map(id, behind)), None
            if not exact or apart(stream) > 1e-5:
                self.row_layers, self.tail = frozenset(), self.run_tail
                stream = self.tail(stream)
        if apart(stream) > (1e-3 if exact else 5e-2):
            raise ModelError(
                f"The predictions of {type(self.followed.network).__name__} do not follow from its last layer alone, "
                f"so Headlight cannot show them truly. {layout.CHOOSE}"
            )

    @property
    def _last_stack(self) -> str:
        return "decoder" if self.followed.kind == "encoder-decoder" else "self"
