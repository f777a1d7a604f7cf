"""The factor by which a step of a tokenizer may lengthen a text."""

from __future__ import annotations

import base64


def growth(step: dict) -> float:
    """Return the largest factor by which a step of a tokenizer, as tokenizers writes it in JSON, may lengthen a text."""
    if step["type"] == "Sequence":
        factor = 1.0
        for part in step.get("normalizers") or step.get("decoders") or ():
            factor *= growth(part)
        return factor
    if step["type"] == "Replace":
        pattern = step["pattern"].get("String", "")  # an expression may find nothing at all, everywhere
        return max(1.0, len(step["content"]) / len(pattern) if pattern else 1.0 + len(step["content"]))
    if step["type"] == "Precompiled" and step.get("precompiled_charsmap"):
        table = base64.b64decode(step["precompiled_charsmap"])  # four bytes of length, a trie, then what characters become
        return float(max(map(len, table[4 + int.from_bytes(table[:4], "little") :].split(b"\0"))))
    return 1.0
