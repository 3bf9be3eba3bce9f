# make app      set everything up and open the app on the bundled example
# make test     all tests but those of the night
# make check    format, lint, types and `make test`: what CI runs
# make coverage the same tests, and how much of the core they run
# make lowest   the tests of the core with the oldest libraries that are allowed
# make release  build the package, check and install it
# make nightly  whole catalogs merged, properties on random seeds, documents at random, clients of
#               both SDKs and the conformance suite of MCP (npm has to be reachable)

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
PORT ?= 8501
# Each worker begins with a share of its own (tests/conftest.py), and takes from others when it is
# done. Workers with a thread each: a third one works while the first waits for the browser.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(or $(WORKERS),3) --dist worksteal

export HF_HUB_OFFLINE ?= 1
# What Python has compiled is kept, and read by every process that follows.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/bytecode

.PHONY: app test check coverage lowest release nightly docs clean

app: $(VENV)/.app
	$(BIN)/python -m toolscope_core prepare
	$(BIN)/python -m ui --server.port $(PORT)

test: $(VENV)/.dev
	$(PYTEST) --durations=10

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(MAKE) test

coverage: $(VENV)/.dev
	$(PYTEST) --cov --cov-report=term

OLDEST := $(VENV)-oldest
CORE := catalog check decisions embedding evaluation export judging merging retrieval store tool2vec

lowest:
	$(PYTHON) -m venv $(OLDEST)
	sed -E '/^#/d; s/>=([^,]*),.*/==\1/' requirements.txt > $(OLDEST)/oldest.txt
	$(OLDEST)/bin/pip install --quiet $$(grep ^torch $(OLDEST)/oldest.txt)
	$(OLDEST)/bin/pip install --quiet -r $(OLDEST)/oldest.txt $$(grep -E "^(pytest|hypo|jsonschema)" requirements-dev.txt)
	$(OLDEST)/bin/python -m pytest -o filterwarnings= -W ignore $(addprefix tests/,$(CORE))

release: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build
	$(PIP) twine==6.2.0
	$(BIN)/twine check --strict dist/*
	$(BIN)/python -m pytest -m nightly tests/contract/test_installed.py

nightly: $(VENV)/.dev
	$(MAKE) lowest
	$(MAKE) coverage
	$(PIP) -c constraints.txt 'ray[client]'
	$(PYTEST) -m "nightly or hypothesis" --hypothesis-profile=nightly --hypothesis-seed=random
	$(BIN)/python -m benchmarks.openapi_directory $(OPENAPI)

docs: $(VENV)/.dev
	$(BIN)/python -m docs.make_reference

clean:
	rm -rf $(VENV) $(OLDEST) dist .pytest_cache .mypy_cache .ruff_cache .coverage*

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV) || python3 -m venv $(VENV)

# torch first and alone: any other order may bring a build with gigabytes of CUDA.
$(VENV)/.app: $(VENV)/bin/python requirements.txt constraints.txt
	$(PIP) -c constraints.txt torch
	$(PIP) -c constraints.txt -r requirements.txt
	touch $@

$(VENV)/.dev: $(VENV)/bin/python requirements.txt constraints.txt requirements-dev.txt
	$(PIP) -c constraints.txt torch
	$(PIP) -r requirements-dev.txt
	touch $(VENV)/.app $@
