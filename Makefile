# SPDX-License-Identifier: Apache-2.0
# Everything from a fresh clone, with nothing but GNU make and Python 3.11, 3.12 or 3.13.
# `make` alone lists the commands.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
JOBS   ?= 2
SLOWEST := --durations=10 --durations-min=1
PYTHON311 ?= python3.11
DEMO_ARGS ?=
BENCH_ARGS ?=
DIST_ARGS ?=
FOLDER ?= fedlearn-lessons
LAB_ARGS ?=
CLASS_ARGS ?=
SLIDES_ARGS ?=
DOCS_ARGS ?=

# TensorFlow's C++ start-up noise; FEDLEARN_EDU_DATA (a folder with mnist.npz) passes through.
export TF_CPP_MIN_LOG_LEVEL ?= 3
export PIP_DISABLE_PIP_VERSION_CHECK = 1

# What runs lessons to test or to show them leaves the progress of whoever does it alone.
fast check unit doctests notebooks smoke thorough grading class browser test \
test-rest test-all test-lowest release outputs docs: \
  export FEDLEARN_EDU_PROGRESS = off

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo lab explorers docs site test test-rest test-all test-lowest check fast lint unit \
  doctests notebooks smoke thorough grading class slides browser browser-rest release outputs gallery \
  bench results size lite dist clean

help:
	@echo "make demo         federated averaging on one-digit-per-client data, with pictures"
	@echo "make lab          the lessons, copied to $(FOLDER), in JupyterLab"
	@echo "make explorers    JupyterLab with the notebook of explorers"
	@echo "make docs         guides, lessons (run), decisions and all names as a site, in build/docs"
	@echo "make lite         the lessons as a site in which they run, nothing installed, in build/lite"
	@echo "make site         that, with the lessons that run in a browser"
	@echo "make test         lint, types, tests, examples, lessons, an explorer in a browser (a quarter of an hour)"
	@echo "make test-all     that, and everything else that can be tested (three quarters of an hour)"
	@echo "make test-rest    what test-all adds to test"
	@echo "make test-lowest  TensorFlow code on the lowest versions of pyproject.toml, Python 3.11 (6 minutes)"
	@echo "make check        format, lint, types, layers, fast tests"
	@echo "make fast         only the fast tests (no TensorFlow)"
	@echo "make grading      only the exercises, right and wrong answers, graded by nbgrader"
	@echo "make class        a class of 30 hands in lesson 01: what a teacher would see"
	@echo "make slides       the lessons as slides, in build/slides; SLIDES_ARGS=01: only this one"
	@echo "make browser      only the tests in a real browser; pictures to build/browser"
	@echo "make release      write what learners get: notebooks/release, from the lessons"
	@echo "make outputs      run the lessons and store the outputs that tests compare"
	@echo "make dist         sdist and wheel in dist, tried in new environments (half an hour)"
	@echo "make gallery      draw docs/gallery.md and its pictures again"
	@echo "make bench        measure federated rounds against hand-written ones (8 minutes)"
	@echo "make size         how many lines there are to read, in each layer"
	@echo "make results      measure what the algorithms reach on MNIST (half an hour)"
	@echo "make clean        remove caches and build output (keeps $(VENV))"

# ------------------------------------------------------------------ environments
# One stamp file per set of extras; made again when the pins or the extras change.

$(VENV)/pyvenv.cfg:
	@for python in "$(PYTHON)" python3.13 python3.12 python3.11; do \
	  if "$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' \
	      2>/dev/null; then found="$$python"; break; fi; \
	done; \
	if [ -z "$${found:-}" ]; then \
	  echo "fedlearn_edu needs Python 3.11, 3.12 or 3.13, and $(PYTHON) is:" \
	       "$$("$(PYTHON)" --version 2>/dev/null || echo not there)"; \
	  echo "Install one of them, or name it: make PYTHON=/path/to/python3.12 ..."; \
	  exit 1; \
	fi; \
	echo "Making $(VENV) with $$("$$found" --version)"; \
	"$$found" -m venv "$(VENV)" || { \
	  rm -rf "$(VENV)"; \
	  echo "Could not make $(VENV): on Debian and Ubuntu, install python3-venv first."; \
	  exit 1; \
	}

comma := ,

define install
	@echo "Installing $(1) into $(VENV) (the first time takes some minutes)"
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e "$(1)"
	@touch $@
endef

$(VENV)/.installed-demo: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	$(call install,.)

$(VENV)/.installed-lab: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	$(call install,.[lab])

$(VENV)/.installed-dist: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	$(call install,.[dist])

$(VENV)/.installed-test: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	$(call install,.[test$(comma)docs])

$(VENV)/.installed-lite: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	$(call install,.[lite$(comma)jax])

# ------------------------------------------------------------------ for users

demo: $(VENV)/.installed-demo
	@$(BIN)/python -m fedlearn_edu demo $(DEMO_ARGS)

# Into a folder of their own, so that neither git nor `make release` meets your work.
# (status 1: JupyterLab failed; what to do has been said, and make has nothing to add)
lab: $(VENV)/.installed-lab
	@$(BIN)/python -m fedlearn_edu start "$(FOLDER)" $(LAB_ARGS) || test $$? -eq 1

explorers: $(VENV)/.installed-lab
	@$(BIN)/python -m jupyterlab notebooks/explorers/explorers.ipynb $(LAB_ARGS)

# ------------------------------------------------------------------ for maintainers

lint: $(VENV)/.installed-test
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/zizmor --offline --quiet .

fast: $(VENV)/.installed-test
	$(PYTEST) -m "not tensorflow and not slow and not notebook and not thorough" -n $(JOBS)

check: lint
	@$(MAKE) --no-print-directory fast

# What has the mark `thorough` is for `make test-all`.
unit: $(VENV)/.installed-test
	$(PYTEST) -m "not thorough and not browser" -n $(JOBS) --dist worksteal $(SLOWEST)

doctests: $(VENV)/.installed-test
	$(PYTEST) --doctest-modules fedlearn_edu -n $(JOBS) $(SLOWEST)

# One worker per notebook: the cells of one notebook share a kernel. Nobody is to be
# reached, and the outputs that are compared belong to the embedded digits.
notebooks: $(VENV)/.installed-test
	@mkdir -p build/no_data
	PYTHONPATH="$(CURDIR)/tools/offline" \
	  FEDLEARN_EDU_DATA="$(CURDIR)/build/no_data" KERAS_HOME="$(CURDIR)/build/no_data" \
	  $(PYTEST) --nbval-lax --nbval-current-env --nbval-cell-timeout=600 \
	  -n $(JOBS) --dist loadfile $(SLOWEST) notebooks/explorers notebooks/source

# Laws are tried here with more examples.
thorough: $(VENV)/.installed-test $(VENV)/.installed-lite
	$(PYTEST) -m "(thorough or hypothesis) and not browser" \
	  --hypothesis-profile=thorough -n $(JOBS) --dist worksteal $(SLOWEST)

# A lesson is one test: all its answers are handed in and graded once.
grading: $(VENV)/.installed-test
	$(PYTEST) -n $(JOBS) --dist worksteal $(SLOWEST) tests/grading

# Its marks are known beforehand; the exit status is 1 if somebody gets others.
class: $(VENV)/.installed-test
	@$(BIN)/python -m tests.grading.dry_run $(CLASS_ARGS)

# Not in parallel: what a move takes is measured. Pictures go to build/browser.
browser: $(VENV)/.installed-test
	$(PYTEST) -m browser $(SLOWEST) tests/browser

smoke: $(VENV)/.installed-test
	$(PYTEST) -m "browser and not thorough" $(SLOWEST) tests/browser

browser-rest: $(VENV)/.installed-test $(VENV)/.installed-lite
	$(PYTEST) -m "browser and thorough" $(SLOWEST) tests/browser tests/lite

# One after the other, so that the first failure is the last thing on the screen.
define stages
	@begin=$$(date +%s); \
	for stage in $(1); do $(MAKE) --no-print-directory $$stage || exit 1; done; \
	took=$$(($$(date +%s) - begin)); \
	echo "make $@ took $$((took / 60)) min $$((took % 60)) s"
endef

test:
	$(call stages,lint unit doctests notebooks smoke)

test-rest:
	$(call stages,thorough browser-rest)

test-all:
	$(call stages,test test-rest)

# The oldest versions that pyproject.toml allows, in an environment of their own.
LOWEST := build/lowest

test-lowest:
	@mkdir -p build
	$(PYTHON311) -m tools.lowest > build/lowest.txt
	$(PYTHON311) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet -c build/lowest.txt -e ".[test]"
	$(LOWEST)/bin/python -m pytest -m "tensorflow and not thorough and not slow" \
	  tests/runtimes tests/conformance tests/sequences tests/learning $(SLOWEST)

bench: $(VENV)/.installed-test
	@$(BIN)/python -m benchmarks $(BENCH_ARGS)

results: $(VENV)/.installed-demo
	@$(BIN)/python -m benchmarks.learning $(BENCH_ARGS)

size: $(VENV)/.installed-test
	@$(BIN)/python -m tools.size

release: $(VENV)/.installed-test
	@$(BIN)/python -m tools.publishing
	@$(BIN)/python -m tools.release
	@$(BIN)/python -m tools.lesson_table

# What is uploaded: checked, and tried on the Pythons that are here, without the clone.
dist: $(VENV)/.installed-dist
	@rm -rf dist
	@$(BIN)/python -m build --outdir dist
	@$(BIN)/python -m twine check --strict dist/*
	@$(BIN)/python -m tools.dist $(DIST_ARGS)

outputs: $(VENV)/.installed-test
	@$(BIN)/python -m tools.outputs

# A lesson that has not changed is not run again. DOCS_ARGS=--as-stored runs none.
docs: $(VENV)/.installed-test
	@$(BIN)/python -m tools.docs $(DOCS_ARGS)

site:
	$(call stages,lite docs)

# Where Pyodide comes from: FEDLEARN_EDU_PYODIDE, as docs/browser.md says.
lite: $(VENV)/.installed-lite
	@$(BIN)/python -m tools.lite

slides: $(VENV)/.installed-test
	@$(BIN)/python -m tools.slides $(SLIDES_ARGS)

gallery: $(VENV)/.installed-demo
	@$(BIN)/python -m examples.gallery

clean:
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	  .import_linter_cache *.egg-info
	find fedlearn_edu tests notebooks benchmarks examples -name __pycache__ -prune \
	  -exec rm -rf {} + 2>/dev/null || true
