# make try: set everything up and run the main job.  make test: set everything up and pass the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
.DEFAULT_GOAL := help

.PHONY: help try test check fix docs bench real night clean

help: ## Show the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade "pip>=25.1"

$(VENV)/.try: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/pip install -q -c constraints.txt -e ".[local]"
	@touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/pip install -q -c constraints.txt -e . --group test --group check
	@touch $@

try: $(VENV)/.try ## Set up and answer a question with a real tool call
	@$(BIN)/python -m hermes.app.demo

test: $(VENV)/.test ## Set up, check and test everything that needs PyPI only
	@$(MAKE) --no-print-directory check
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

check: $(VENV)/.test ## Style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports

fix: $(VENV)/.test ## Format and mend what can be mended
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

real: $(VENV)/.test ## Test against servers from the system's packages (installs them: root)
	@scripts/real-setup
	$(BIN)/python -m pytest tests/real

night: $(VENV)/.test ## The long judges: kills, power loss, soak
	$(BIN)/python -m pytest -s -o faulthandler_timeout=7200 tests/night

BENCH_WORK := a,b,c,d,e,f,h,k,l,m
bench: $(VENV)/.test ## Measure (PEER=path/to/venv measures the public product beside it, WORK=a,b the workloads)
	@scripts/bench "$(or $(WORK),$(BENCH_WORK))" "$(PEER)"

docs: $(BIN)/python ## Build the documentation into site/
	$(BIN)/pip install -q -c constraints.txt -e . --group docs
	$(BIN)/python scripts/reference.py docs/reference
	$(BIN)/mkdocs build --strict -q

clean: ## Remove what was built
	rm -rf $(VENV) site dist build
