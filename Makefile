# `make` alone is `make verify`; ARGS goes to the command: make verify ARGS="--digits 100"

PYTHON ?= python3
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := verify
.PHONY: verify test lint bench exact-python clean help

verify: $(STAMP) ## check every claim (the main job)
	@$(BIN)/mhflow verify $(ARGS)

test: $(STAMP) ## run the tests
	@$(BIN)/python -m pytest -n 2 --dist loadgroup $(ARGS)

lint: $(STAMP) ## ruff and mypy --strict
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

bench: $(STAMP) ## measure the speed
	@$(BIN)/python -m benchmarks.run $(ARGS)

exact-python: $(STAMP) ## the exact tests again, on SymPy's own integers instead of FLINT's
	@SYMPY_GROUND_TYPES=python $(BIN)/python -m pytest -n 2 --dist loadgroup tests/symbolic $(ARGS)

# The stamp goes first and comes back last: an interrupted installation is never taken for done.
$(STAMP): pyproject.toml constraints.txt
	@rm -f $@
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo 'mhflow: $(PYTHON) is missing or older than Python 3.11; install a newer one or pass PYTHON=...' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo 'mhflow: $(PYTHON) cannot make virtual environments; on Debian: apt-get install python3-venv' >&2; exit 1; }
	@echo 'installing mhflow and its dependencies into $(VENV) (once)'
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --constraint constraints.txt --editable '.[dev]'
	@touch $@

clean: ## remove everything that is made
	rm -rf $(VENV) build dist mhflow.egg-info .benchmarks .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile
