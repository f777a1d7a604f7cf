# make app      open Headlight in the browser      (PORT=8501, HOST=0.0.0.0 to let the room in, PROCESSES=4 for many)
# make test     run the tests that a change waits for    (ARGS="tests/viz -k heatmap" for some)
# make test-all run every test: those of `make test`, then all others
# make claims   train what the ready experiments compare, and see whether each comes out as it is written down   (a quarter of an hour)
# make lint     ruff, mypy, import-linter, and oxlint, oxfmt and TypeScript for JavaScript
# make docs     build the documentation site into build/site, with the docstrings, searchable without a server
# make audit    compare what is installed with known advisories   (DATABASE=all.zip, a copy of the database: see bin/audit.py)
# make train    train the shipped models and the lens, or go on training them   (DATA=folder with the texts)
# make setup    only make .venv and install        (PYTHON=python3.12 to choose the Python)
# make clean    remove .venv and caches            (what was trained stays, in build and models)
# Each target sets up what it needs. Paths here are relative, so the project's own path may hold spaces.

PORT ?= 8501
HOST ?= localhost
PROCESSES ?= 1
DATA ?= data
DATABASE ?= all.zip
# Each worker and each server would compile all of the project again where a shell says to keep nothing that is compiled.
test thorough claims: export PYTHONDONTWRITEBYTECODE =

# One worker for each of two cores; tests/conftest.py says which tests stay together.
WORKERS ?= 2

python := .venv/bin/python
install := $(python) -m pip install --disable-pip-version-check

# A .venv whose Python is gone (upgraded, or the folder came from elsewhere) is made again.
_ := $(shell $(python) -c "" 2>/dev/null || rm -f .venv/.runtime .venv/.processes .venv/.developer)

pytest = $(python) -m pytest -n $(WORKERS) --no-loadscope-reorder

.PHONY: app test test-all thorough claims lint docs audit train setup clean

app: .venv/.runtime $(if $(filter-out 1,$(PROCESSES)),.venv/.processes)
	@exec $(python) -m ui.command --port "$(PORT)" --host "$(HOST)" --processes "$(PROCESSES)"

test: .venv/.developer
	@bin/chromium --install >/dev/null || [ "$${CI:-}" != true ]
	@$(pytest) -m "not thorough" $(ARGS)

test-all: test thorough

thorough: .venv/.developer
	@$(pytest) -m "thorough and not claims" --durations=20 $(ARGS)

claims: .venv/.developer
	@$(pytest) -m claims --durations=0 $(ARGS)

lint: .venv/.developer
	$(python) -m ruff check .
	$(python) -m ruff format --check .
	$(python) -m mypy
	.venv/bin/oxlint --deny-warnings bin ui viz
	.venv/bin/oxfmt --check bin ui viz
	@bin/typescript
	$(python) -c "from importlinter.cli import lint_imports_command; lint_imports_command()" --no-logo

docs: .venv/.developer
	@$(python) bin/docs/build.py build/site
	@echo "Open build/site/index.html"

audit: .venv/.developer
	$(python) bin/audit.py "$(DATABASE)"

train: .venv/.developer
	$(python) -m models.training.shipped --data "$(DATA)"
	$(python) -m models.training.shipped_lens --data "$(DATA)"

setup: .venv/.runtime

clean:
	rm -rf .venv node_modules .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.runtime: requirements.txt
	@bin/venv
	@echo "Installing what Headlight needs (once; torch is large, so it takes a few minutes)."
	$(install) -q -r requirements.txt
	@touch $@

.venv/.processes: requirements-processes.txt .venv/.runtime
	$(install) -q -r requirements-processes.txt
	@touch $@

.venv/.developer: requirements-dev.txt requirements-docs.txt .venv/.processes
	$(install) -q -r requirements-dev.txt
	@touch $@
