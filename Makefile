# SPDX-License-Identifier: Apache-2.0
# Everything from a fresh clone, with nothing but GNU make and Python 3.11, 3.12 or 3.13.
# `make` alone lists the commands.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
JOBS   ?= 2
PYTEST := $(BIN)/python -m pytest --durations=10 --durations-min=1
DEMO_ARGS ?=
BENCH_ARGS ?=
DIST_ARGS ?=
FOLDER ?= fedlearn-lessons
LAB_ARGS ?=
DOCS_ARGS ?=

# TensorFlow's C++ start-up noise; FEDLEARN_EDU_DATA (a folder with mnist.npz) passes through.
export TF_CPP_MIN_LOG_LEVEL ?= 3
export PIP_DISABLE_PIP_VERSION_CHECK = 1

# What runs lessons to test or to show them leaves the progress of whoever does it alone.
check test test-all release docs: export FEDLEARN_EDU_PROGRESS = off

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo lab test test-all check docs lite release dist bench clean

help:
	@echo "make demo      federated averaging on one-digit-per-client data, with pictures"
	@echo "make lab       the lessons, copied to $(FOLDER), in JupyterLab"
	@echo "make test      lint, types, tests, examples, seven lessons, an explorer in a browser (nine minutes)"
	@echo "make test-all  that, and everything else that can be tested (an hour)"
	@echo "make check     format, lint, types, layers, tests without TensorFlow"
	@echo "make docs      guides, lessons (run), decisions and all names as a site, in build/docs"
	@echo "make lite      the lessons as a site in which they run, nothing installed, in build/lite"
	@echo "make release   write what learners get: notebooks/release, from the lessons"
	@echo "make dist      sdist and wheel in dist, tried in new environments (half an hour)"
	@echo "make bench     measure federated rounds against hand-written ones (8 minutes)"
	@echo "make clean     remove caches and build output (keeps $(VENV))"

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

# ------------------------------------------------------------------ tests

LINT := $(BIN)/ruff format --check && $(BIN)/ruff check && $(BIN)/mypy \
  && $(BIN)/lint-imports --no-logo && $(BIN)/zizmor --offline --quiet .

# What a lesson reaches is the embedded digits and nothing else: their outputs are compared.
# One worker per notebook: the cells of one notebook share a kernel.
LESSONS := PYTHONPATH="$(CURDIR)/tools/offline" \
  FEDLEARN_EDU_DATA="$(CURDIR)/build/no_data" KERAS_HOME="$(CURDIR)/build/no_data" \
  $(PYTEST) --nbval-lax --nbval-current-env --nbval-cell-timeout=600 -n $(JOBS) --dist loadfile
lesson = notebooks/source/$(1)_*
# Together they have a cell for each thing that lessons do.
COVER := 00 01 05 06 10 12d 13
OTHERS := 02 03 04 07 08 09a 09b 11a 11b 12a 12b 12c 14

took = echo "make $@ took $$(($$(($$(date +%s) - begin)) / 60)) min $$(($$(($$(date +%s) - begin)) % 60)) s"

check: $(VENV)/.installed-test
	$(LINT)
	$(PYTEST) -m "not tensorflow and not slow and not notebook and not thorough" -n $(JOBS)

# Lint, all tests and doctests but those marked `thorough`, the lessons of COVER: the rest
# is `make test-all`'s. Lint runs beside the tests; what it found comes last. Doctests share
# the workers of the tests, which have TensorFlow imported already.
test: $(VENV)/.installed-test
	@mkdir -p build/no_data; begin=$$(date +%s); set -e; \
	{ $(LINT); } > build/lint.txt 2>&1 & lint=$$!; \
	trap 'kill $$lint 2>/dev/null || true' EXIT; \
	$(PYTEST) tests fedlearn_edu --doctest-modules -m "not thorough and not browser" \
	  -n $(JOBS) --dist worksteal; \
	$(LESSONS) $(foreach number,$(COVER),$(call lesson,$(number))); \
	$(PYTEST) -m "browser and not thorough" tests/browser; \
	wait $$lint || { cat build/lint.txt; exit 1; }; \
	cat build/lint.txt; $(took)

# Not in parallel in the browser: what a move takes is measured. Pictures go to build/browser.
test-all: test $(VENV)/.installed-lite
	@begin=$$(date +%s); set -e; \
	$(PYTEST) -m "(thorough or hypothesis) and not browser" \
	  --hypothesis-profile=thorough -n $(JOBS) --dist worksteal; \
	$(LESSONS) notebooks/explorers $(foreach number,$(OTHERS),$(call lesson,$(number))); \
	$(PYTEST) -m "browser and thorough" tests/browser tests/lite; \
	$(took), after make test

bench: $(VENV)/.installed-test
	@$(BIN)/python -m benchmarks $(BENCH_ARGS)

# ------------------------------------------------------------------ for maintainers

release: $(VENV)/.installed-test
	@$(BIN)/python -m tools.publishing
	@$(BIN)/python -m tools.release
	@$(BIN)/python -m tools.lesson_table

# What is uploaded: checked, and tried on the Pythons that are here, without the clone.
dist: $(VENV)/.installed-dist
	@rm -rf dist
	@$(BIN)/python -m build --outdir dist
	@$(BIN)/python -m twine check --strict dist/*
	@sh tools/dist.sh $(DIST_ARGS)

# A lesson that has not changed is not run again; with build/lite, the site has it, too.
docs: $(VENV)/.installed-test
	@$(BIN)/python -m tools.docs $(DOCS_ARGS)

# Where Pyodide comes from: FEDLEARN_EDU_PYODIDE, as docs/install.md says.
lite: $(VENV)/.installed-lite
	@$(BIN)/python -m tools.lite

clean:
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	  .import_linter_cache *.egg-info
	find fedlearn_edu tests notebooks benchmarks examples -name __pycache__ -prune \
	  -exec rm -rf {} + 2>/dev/null || true
