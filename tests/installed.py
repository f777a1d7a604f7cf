"""What somebody does in a folder of their own with an installed Headlight. `tests/test_wheel.py` runs it with that Python.

Its argument is a file with the lines of docs/python.md, as they are for the installed form: all their imports run here, and the
first other lines.
"""

import ast
import json
import sys
from pathlib import Path

import headlight
from headlight import analysis, models, viz

lines = Path(sys.argv[1]).read_text("utf-8")
here = Path(headlight.__file__).parent
assert here.parent.name == "site-packages" and headlight.models is models

model = models.load("writer")
best = model.predict("Once upon a")[0]
trace = model.trace("Once upon a time")
attention = trace.attention["self"]
view = viz.head_view(attention.queries, attention.keys, attention[3])
assert best.text.strip() == "time" and best.probability > 0.5
assert abs(attention[3].sum(-1) - 1).max() < 1e-5 and "</html>" in view.to_html()
assert analysis.logit_lens(model, trace).shape[0] and Path(viz.view.__file__).is_relative_to(here)

# All that the documented lines import, and the first that they do.
statements = ast.parse(lines).body
imports = [statement for statement in statements if isinstance(statement, ast.Import | ast.ImportFrom)]
others = [statement for statement in statements if statement not in imports]
for statement in [*imports, *others[:8]]:
    exec(compile(ast.Module([statement], []), "docs/python.md", "exec"))

# A notebook that is taken away runs with this Python, and draws what the page draws.
from headlight.pages.attention import recipes  # noqa: E402
from headlight.ui.look import Look  # noqa: E402
from headlight.ui.picture.caption import caption  # noqa: E402
from headlight.ui.picture.notebook import notebook  # noqa: E402
from headlight.ui.picture.picture import Picture  # noqa: E402

look = Look(model, trace, "self", "beginner", "", (1, 1), options={})
options = {"layer": 1, "heads": None, "chosen": None, "simple": True}
picture = Picture(recipes.head_lines, (look,), options, "head-view", dict)
cells = json.loads(notebook(picture, caption(picture)))["cells"]
assert "Headlight is installed" in cells[0]["source"]
names: dict = {}
for cell in cells:
    if cell["cell_type"] == "code":
        exec(cell["source"], names)
assert names["picture"].data == picture.drawn.data

top = {"analysis", "models", "pages", "ui", "viz"} & {name.partition(".")[0] for name in sys.modules}
assert not top, f"imported by a name that belongs to others: {top}"
