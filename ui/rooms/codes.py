"""The code of a room: six letters that are easy to read aloud."""

from __future__ import annotations

import re
import secrets

LETTERS = "ABCDEFGHJKMNPRSTUWXYZ"  # without I L O Q V, which are taken for others: 21**6 = 86 million codes
CODE = re.compile(f"[{LETTERS}]{{6}}")


def random_code() -> str:
    """Return six random letters, from the system's source of secrets."""
    return "".join(secrets.choice(LETTERS) for _ in range(6))
