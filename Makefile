# Two commands do all set-up on a fresh machine with Python 3.11 or newer: `make demo`, `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SMALL := $(VENV)/.small
READY := $(VENV)/.ready
HF := $(VENV)-hf
# On macOS a fork of a process that has loaded system frameworks may abort.
SIDE := $(if $(filter Darwin,$(shell uname)),-n 3 --dist loadfile,-p tests.forks --forks 3)
PEERS := match text_env harness inspect_loop level_k hanabi mindgames
QUIET := -qq --no-compile --disable-pip-version-check --no-warn-script-location

.PHONY: help demo test test-hf suite check golden bench docs lock sbom clean
.DEFAULT_GOAL := help

help: ## what each target does
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

demo: $(SMALL) ## a tiny slice of the suite with an embedded model: one screen, one page
	@$(BIN)/sally evaluate --demo

test: $(READY) ## run the checks and every test, side by side
	@$(MAKE) --no-print-directory -j2 check suite

suite: $(READY)
	@PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest $(SIDE)

test-hf: ## run the tests of transformers models (installs torch into .venv-hf)
	@test -x $(HF)/bin/python || $(PYTHON) -m venv $(HF)
	@$(HF)/bin/pip install $(QUIET) -c constraints.txt -e '.[hf,test]'
	@$(HF)/bin/python -m pytest tests/models/hf

check: $(READY) ## lint, types (also of benchmarks and of the page on your own game), layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/python -m tests.typed_pages
	@$(BIN)/lint-imports --no-cache > $(VENV)/layers.txt || { cat $(VENV)/layers.txt; exit 1; }

golden: $(READY) ## write golden playthroughs anew; read the difference before you commit it
	@$(BIN)/python -m tests.golden
	@$(BIN)/python -m tests.test_docs
	@$(BIN)/python -m tests.notebooks

bench: $(READY) ## ratios against named peers (installs the peers)
	@$(BIN)/pip install $(QUIET) -c constraints.txt -r benchmarks/peers.txt
	@for name in $(PEERS); do echo "== $$name"; $(BIN)/python -m benchmarks.$$name || exit 1; done

docs: $(READY) ## build the documentation into site/
	@$(BIN)/pip install $(QUIET) -c constraints.txt -e '.[docs]'
	@$(BIN)/mkdocs build --quiet --strict
	@$(BIN)/sally report --board docs/board --out site/board
	@$(BIN)/python -m tests.site site

lock: ## renew requirements.lock (hashes) after constraints.txt has changed
	@$(PYTHON) .ci/lock

sbom: $(READY) ## write sbom.json, the bill of materials of the environment
	@$(BIN)/python .ci/sbom > sbom.json

clean: ## forget the virtual environment and everything built
	@rm -rf $(VENV) $(HF) site build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

# The demo needs the base and the embedded model; the client for servers is small. Everything else
# waits for `make test`.
$(SMALL): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Sally needs Python 3.11 or newer; set PYTHON=python3.12, say.")'
	@echo "setting up $(VENV) for the demo (once, about 350 MB)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install $(QUIET) -c constraints.txt -e '.[embedded,server]'
	@touch $@

$(READY): $(SMALL)
	@echo "installing every extra and the tools (once, about 1.7 GB)"
	@$(BIN)/pip install $(QUIET) -c constraints.txt -e '.[all,test,check]'
	@touch $@
