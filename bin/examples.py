"""Run the notebooks of `examples/`, and write their results into them.

python bin/examples.py                 all of them
python bin/examples.py first-look      one of them
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent.parent / "examples"
LONGEST = 300  # seconds that a cell may take


def run(path: Path) -> nbformat.NotebookNode:
    """Return a notebook with the results of its cells, without warnings. Errors: nbclient's CellExecutionError."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=LONGEST, resources={"metadata": {"path": path.parent}}).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":  # warnings name the folders of this machine
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


def main(names: list[str]) -> None:
    for path in [FOLDER / f"{name}.ipynb" for name in names] or sorted(FOLDER.glob("*.ipynb")):
        notebook = run(path)
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)  # times, which would differ at each run
        nbformat.write(notebook, path)
        print(path.name)


if __name__ == "__main__":
    main(sys.argv[1:])
