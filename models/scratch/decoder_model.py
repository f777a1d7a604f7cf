"""The from-scratch decoder as a LanguageModel: text in, Trace out, reading again only what changed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch

from models.attention.recorder import recording
from models.attention.side_by_side import Part, ReadPart, SideBySide
from models.reading.prefix import Recent, Stamp
from models.reading.requests import Request, Trial
from models.reading.together import read_alone, request_for, tried
from models.scratch.model import ScratchModel, stream_of
from models.scratch.reader import cached
from models.scratch.transformer import Decoder
from models.tokens import Token
from models.trace import Trace


class DecoderModel(ScratchModel):
    """A decoder of our own with its tokenizer. Safe to share between threads."""

    network: Decoder
    recent: Recent[Trace]

    @property
    def decoder(self) -> Decoder:
        return self.network

    def request(self, text: str, target: str = "", remember: bool = True) -> Request:
        tokens, cut = self.tokens_to_read(text, target)
        return request_for(self, text, tokens, cut, self.recent.now(remember))

    def trace_tokens(self, text: str, tokens: list[Token], cut: int, target: str, stamp: Stamp | None) -> Trace:
        return read_alone(self, request_for(self, text, tokens, cut, stamp))

    @cached_property
    def trial(self) -> Trial:
        return tried(self)

    def read_parts(self, parts: Sequence[Part]) -> list[ReadPart]:
        if len(parts) > 1:
            return self._side_by_side(SideBySide(parts))
        with torch.inference_mode(), recording() as record:
            self.network.hidden(self.whole_numbers([parts[0].ids]), cached(parts[0].calls))
        return [ReadPart(record.calls, stream_of(record.hidden["self"]))]

    def _side_by_side(self, beside: SideBySide) -> list[ReadPart]:
        with torch.inference_mode(), recording(beside=beside) as record:
            places = self.whole_numbers(beside.places)
            self.network.hidden(self.whole_numbers([beside.ids]), places=places)
        return list(map(ReadPart, beside.calls, beside.streams(stream_of(record.hidden["self"]))))
