"""Build the documentation site: the guides of `docs/`, and the docstrings of `models`, `analysis` and `viz`.

    make docs                 into build/site: open build/site/index.html
    python bin/docs/build.py FOLDER

The site is searchable without a server, and loads nothing from elsewhere. The exit status is not 0 if Sphinx warns of anything.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = {
    "models": "Open and run models, and read what they compute.",
    "analysis": "Calculate what a trace tells: attention, circuits, explanations, similarity.",
    "viz": "Draw it: views with their own JavaScript, and Plotly figures.",
}
SUBJECTS = {
    "Use Headlight": ["pages", "levels", "models", "bertviz", "glossary"],
    "Teach": ["writing-lessons"],
    "Python": ["python", *(f"api/{name}" for name in PACKAGES)],
    "Host": ["hosting", "scaling", "security"],
    "Develop": ["architecture", "extending", "dependencies", "training", "benchmarks", "changes"],
}
LINK = re.compile(r"\[([^\]]*)\]\(\.\./([^)#]+)(#[^)]*)?\)")


def module_names(package: str) -> list[str]:
    """The modules of a package, by their dotted names, in the order of its files. Private ones are left out."""
    paths = [path.relative_to(ROOT).with_suffix("") for path in sorted((ROOT / package).rglob("*.py"))]
    parts = [path.parts[:-1] if path.name == "__init__" else path.parts for path in paths]
    return [".".join(names) for names in parts if not any(name.startswith("_") for name in names)]


def subject(name: str) -> str:
    """The first line of a module's docstring, with its code as reStructuredText writes it."""
    path = ROOT.joinpath(*name.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return re.sub(r"`+", "``", (docstring or "").split("\n\n")[0].replace("\n", " "))


def api_page(package: str, modules: list[str]) -> str:
    """A page that names the modules of a package, each with the first line of its docstring, and links to the page of each.

    The modules stay out of the contents at the side: hundreds of names there hide the guides, and cost each page as many links.
    """
    listed = "\n".join(f"- :doc:`{name}`: {subject(name)}" for name in modules)
    title = f"``{package}``"
    return f"{title}\n{'=' * len(title)}\n\n{PACKAGES[package]}\n\n{listed}\n"


def module_page(name: str) -> str:
    return f":orphan:\n\n{name}\n{'=' * len(name)}\n\n.. automodule:: {name}\n"


def front_page() -> str:
    """The first page: what Headlight is, and the guides by subject."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8").split("\n## ")[0]
    about = next(part for part in readme.split("\n\n")[1:] if re.match(r"[A-Z*_]", part))
    tree = "```{{toctree}}\n:caption: {}\n:maxdepth: 1\n\n{}\n```"
    trees = [tree.format(subject, "\n".join(guides)) for subject, guides in SUBJECTS.items()]
    return "\n\n".join(["# Headlight", LINK.sub(r"\1", about), *trees]) + "\n"


def guide(text: str) -> str:
    """A guide as it stands in the site: a link to a file of the project leads to the page of that module, or becomes its name."""

    def target(match: re.Match[str]) -> str:
        words, path = match[1], match[2]
        if path == "CHANGELOG.md":
            return f"[{words}](changes.md)"
        if path.endswith(".py") and path.split("/")[0] in PACKAGES:
            return f"[{words}](api/{path.removesuffix('.py').replace('/', '.')}.rst)"
        return f"{words}" if words.startswith("`") or words == path else f"{words} (`{path}`)"

    return LINK.sub(target, text)


def write_sources(folder: Path) -> None:
    """Write what Sphinx reads into an empty folder."""
    (folder / "api").mkdir(parents=True)
    for path in (ROOT / "docs").iterdir():
        if path.suffix == ".md":
            (folder / path.name).write_text(guide(path.read_text(encoding="utf-8")), encoding="utf-8")
        else:
            shutil.copy2(path, folder / path.name)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (folder / "changes.md").write_text(changes.replace("](docs/", "]("), encoding="utf-8")
    (folder / "index.md").write_text(front_page(), encoding="utf-8")
    for package in PACKAGES:
        modules = module_names(package)
        (folder / "api" / f"{package}.rst").write_text(api_page(package, [name for name in modules if name != package]), "utf-8")
        for name in modules:
            page = folder / "api" / f"{name}.rst"
            if not page.exists():  # the package has its own above
                page.write_text(module_page(name), encoding="utf-8")


def build(site: Path) -> int:
    """Build the site. Returns the exit status of Sphinx, which is not 0 if it warned of anything."""
    sources = ROOT / "build" / "docs"
    shutil.rmtree(sources, ignore_errors=True)
    write_sources(sources)
    options = ["-q", "-b", "html", "-W", "--keep-going", "-d", str(ROOT / "build" / "doctrees")]
    command = [sys.executable, "-m", "sphinx", *options, "-c", str(Path(__file__).parent), str(sources), str(site)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"))
