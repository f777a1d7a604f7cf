"""Many sentences translated side by side, as `translate` does one: for figures over thousands of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import torch
from tqdm import tqdm

from models.generation.beams import beam_search
from models.scratch.encoder_decoder_model import EncoderDecoderModel
from models.scratch.transformer import Cache

TOGETHER = 256  # sentences, of as many tokens


def translations(model: EncoderDecoderModel, texts: Sequence[str], width: int = 4) -> list[str]:
    """The best answer to each text that a beam of this width finds. Errors: ValueError for a text longer than the context."""
    read = [[token.id for token in model.tokenize(text)] for text in texts]
    groups: dict[int, list[int]] = defaultdict(list)
    for number, ids in enumerate(read):
        groups[len(ids)].append(number)
    parts = [group[at : at + TOGETHER] for group in groups.values() for at in range(0, len(group), TOGETHER)]
    answer_of = {}
    for part in tqdm(parts, desc=f"beam {width}"):
        answer_of |= dict(zip(part, answers(model, torch.tensor([read[number] for number in part]), width), strict=True))
    return [answer_of[number] for number in range(len(texts))]


def answers(model: EncoderDecoderModel, sources: torch.Tensor, width: int) -> list[str]:
    """As `translations`, of ids [text, position]. Each row of the cache is the source of one beginning of an answer."""
    vocabulary, network = model.vocabulary, model.network
    searches = [beam_search(vocabulary.start, vocabulary.end, width, model.room - 1) for _ in sources]
    asked = {number: next(search) for number, search in enumerate(searches)}
    outputs = [""] * len(searches)
    cache, known = Cache(), {(number, ()): number for number in asked}  # the row of each beginning
    with torch.inference_mode():
        memory = network.encode(sources)
        while asked:
            begun = [(number, ids) for number, beginnings in asked.items() for ids in beginnings]
            rows = torch.tensor([known[number, ids[:-1]] for number, ids in begun])
            cache, memory = cache.rows(rows), memory[rows]
            stream = network.hidden(torch.tensor([[ids[-1]] for _, ids in begun]), memory, cache)
            logits = network.unembed(stream[:, -1]).numpy()  # [beginning, vocabulary]
            known = {beginning: row for row, beginning in enumerate(begun)}
            edges = np.cumsum([len(beginnings) for beginnings in asked.values()])[:-1]
            for number, its in zip(list(asked), np.split(logits, edges), strict=True):
                try:
                    asked[number] = searches[number].send(its)
                except StopIteration as end:
                    del asked[number]
                    outputs[number] = model.text_of(end.value[0])
    return outputs
