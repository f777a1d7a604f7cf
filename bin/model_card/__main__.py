"""The cards of the shipped models, with every figure computed: `python -m bin.model_card --data FOLDER`."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from bin.model_card.common import facts
from bin.model_card.loss import draw_loss
from models.catalog import WEIGHTS, names

HERE = Path(__file__).parent
SHIPPED = (*names(), *names("image"))


def write(name: str, data: Path) -> None:
    """README.md and loss.svg in the model's folder. What one card alone says stands in the module and the text of its name."""
    folder, card = WEIGHTS / name, importlib.import_module(f"bin.model_card.{name}")
    texts = {"english": (HERE / "english.md").read_text(encoding="utf-8").rstrip()}
    values = texts | facts(folder) | card.values(data)
    filled = (HERE / f"{name}.md").read_text(encoding="utf-8").format(**values)
    (folder / "README.md").write_text(filled, encoding="utf-8")
    draw_loss(folder)
    print(filled)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--only", choices=SHIPPED, help="the card of this one, instead of all")
    arguments = parser.parse_args()
    for name in [arguments.only] if arguments.only else SHIPPED:
        write(name, arguments.data)
