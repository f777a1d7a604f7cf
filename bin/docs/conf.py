"""Settings of the documentation site, which `build.py` beside this file builds with Sphinx: nothing in it asks another server."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from models.version import VERSION  # noqa: E402  (after the path)

project, author, release = "Headlight", "The authors of Headlight", VERSION
html_title = f"Headlight {VERSION}"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
html_theme = "furo"
html_copy_source = html_show_sourcelink = False
html_show_copyright = False

myst_heading_anchors = 3  # depth to which a link may name a heading, as `pages.md#flow`
myst_enable_extensions = ["fieldlist"]
suppress_warnings = [
    "myst.header",
    "ref.python",
]  # headings of several levels at the top; a type such as bytes is an attribute too

default_role = "code"  # docstrings write code in single backticks
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
autodoc_typehints = "signature"
autodoc_use_type_comments = False  # we have none, and each function would be parsed for them
autodoc_default_options = {"members": True, "undoc-members": False}
toc_object_entries = False
nitpicky = False

MARKS = re.compile(r"(`[^`]*`)|([|*])|(?<=\w)_(?!\w)")


def escape(app, what, name, obj, options, lines: list[str]) -> None:
    """Keep what a docstring writes as it stands, but for code in backticks: |x|, * and a final _ mean something to Sphinx."""
    lines[:] = [MARKS.sub(lambda match: match[1] or f"\\{match[0]}", line) for line in lines]


def skip_torch(app, what, name, obj, skip: bool, options) -> bool | None:
    """Leave out functions of torch that stand in our classes: their formulas are drawn by a script from another host."""
    return True if (getattr(obj, "__module__", None) or "").split(".")[0] == "torch" else None


def setup(app) -> None:
    app.connect("autodoc-process-docstring", escape)
    app.connect("autodoc-skip-member", skip_torch)
