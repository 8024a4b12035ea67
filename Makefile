# What a developer types. `make tune` and `make test` work on a fresh clone: they make
# a virtual environment, install what it lacks, build and run.
#
#   PYTHON=/path/to/python    use this Python with its torch, instead of a .venv
#   TUNEDOPS_PYTHON           the same, as an environment variable to keep set
#   TUNEDOPS_PIP=1            allow pip to install into that Python what it lacks
#   BASE_PYTHON=python3.12    the Python that the .venv is made from
#   ARGS="-k csv"             more arguments for pytest, ctest or compare.py
#   TUNE_ARGS=--retune        more arguments for `python -m tunedops tune` in `make tune`
#   RECORD=gpu                keep gpu-check's record, under this name
#   RACE=1                    let gpu-memcheck look for races too
#   USE_CUDA, TORCH_CUDA_ARCH_LIST, MAX_JOBS: see setup.py

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

BASE_PYTHON ?= python3
PYTHON ?= $(TUNEDOPS_PYTHON)
# A machine with a GPU is taken as it is: there is no .venv for it.
GPU_PYTHON := $(or $(strip $(PYTHON)),$(BASE_PYTHON))
ifeq ($(strip $(PYTHON)),)
override PYTHON := $(CURDIR)/.venv/bin/python
OWN_PYTHON := $(PYTHON)
TUNEDOPS_PIP := 1
endif

# The package is used from its source folder, by subprocesses too.
ifeq ($(MAKELEVEL),0)
export PYTHONPATH := $(CURDIR)/python$(addprefix :,$(PYTHONPATH))
endif

WORKLOADS := tuning/workloads/quickstart.csv
RESULTS := tunedops_results_cpu.csv
GPU_WORKLOADS := tuning/workloads/gpu.csv
RECORD ?=
RACE ?=
CMAKE_BUILD := build/cmake
ifneq ($(shell command -v ninja),)
export CMAKE_GENERATOR ?= Ninja
endif
STAMPS := build/stamps
# What is installed in a .venv is forgotten when the .venv is deleted.
PACKAGE_STAMPS := $(if $(OWN_PYTHON),.venv/stamps,$(STAMPS))
SOURCES := $(sort $(shell find csrc -type f) $(wildcard python/*.py))
TORCH_VERSION := import importlib.metadata as m; print(m.version("torch"))
packages = $(PYTHON) tools/python_packages.py $(1) $(if $(filter 1,$(TUNEDOPS_PIP)),--install)

.PHONY: help tune gpu-check gpu-memcheck test build lint ruff mypy codespell clang-format format \
  tidy cpp-test py-test wheel compdb clean distclean FORCE

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

tune: build ## set up, tune a short list of shapes, then compare with torch by the file
	$(PYTHON) -m tunedops tune $(WORKLOADS) -o $(RESULTS) $(TUNE_ARGS)
	$(PYTHON) benchmarks/compare.py --workloads $(WORKLOADS) --results $(RESULTS) --quick $(ARGS)

gpu-check: ## build, test, tune and compare on a GPU, with the python3 and torch that are there
	@PYTHON="$(GPU_PYTHON)" RECORD="$(RECORD)" WORKLOADS="$(GPU_WORKLOADS)" tools/gpu_check.sh

gpu-memcheck: ## run the GPU kernels under compute-sanitizer (RACE=1: look for races too)
	@PYTHON="$(GPU_PYTHON)" RACE="$(RACE)" tools/gpu_memcheck.sh

test: build $(PACKAGE_STAMPS)/dev $(STAMPS)/cpp-tools ## set up, then run all checks and tests
	@MAKE="$(MAKE)" tools/test.sh ruff mypy codespell clang-format cpp-test py-test

build: $(STAMPS)/build ## build the extension in place

# ---- checks

lint: ruff mypy codespell clang-format ## run all linters

ruff: $(PACKAGE_STAMPS)/dev ## check the style of the Python code
	$(PYTHON) -m ruff check
	$(PYTHON) -m ruff format --check

mypy: $(PACKAGE_STAMPS)/dev ## check the types of the Python code
	$(PYTHON) -m mypy

codespell: $(PACKAGE_STAMPS)/dev ## look for common misspellings
	$(PYTHON) -m codespell_lib

clang-format: $(PACKAGE_STAMPS)/dev ## check the style of the C++ code
	$(PYTHON) tools/format_cpp.py --check

format: $(PACKAGE_STAMPS)/dev ## format all code in place
	$(PYTHON) -m ruff check --fix
	$(PYTHON) -m ruff format
	$(PYTHON) tools/format_cpp.py --fix

tidy: cmake-build ## run clang-tidy (pip install clang-tidy) on the Torch-free core
	find csrc/tuning csrc/kernels csrc/backends/cpu -name '*.cpp' -not -path '*/cuda/*' \
	  -print0 | xargs -0 clang-tidy -quiet -p $(CMAKE_BUILD) --extra-arg=-Wno-unknown-warning-option

# ---- tests

.PHONY: cmake-build
cmake-build: $(STAMPS)/cpp-tools
	cmake -S . -B $(CMAKE_BUILD) $(CMAKE_ARGS)
	cmake --build $(CMAKE_BUILD) --parallel $${MAX_JOBS:-$$(nproc)}

cpp-test: cmake-build ## build and run the C++ tests of the Torch-free core
	ctest --test-dir $(CMAKE_BUILD) --output-on-failure --no-tests=error $(ARGS)

py-test: build $(PACKAGE_STAMPS)/test ## run the Python tests
	$(PYTHON) -m pytest $(ARGS)

# ---- packages

# Folders of earlier builds are removed, because setuptools would ship what is left in
# them of deleted files. Compiled objects are kept.
wheel: build ## build a wheel into dist/
	rm -rf build/lib.* build/bdist.* dist
	$(PYTHON) -m pip wheel --no-build-isolation --no-deps --wheel-dir dist .

compdb: build ## write the extension's compile commands, for clangd
	mkdir -p build/extension
	ninja -C build/temp.* -t compdb > build/extension/compile_commands.json

clean: ## remove everything built, but not .venv
	rm -rf build dist python/*.egg-info python/tunedops/_C*.so
	rm -rf .mypy_cache .pytest_cache .ruff_cache

distclean: clean ## remove .venv too
	rm -rf .venv

# ---- set-up: each stamp says that a step was done for the present settings

# Writes its argument into the target, unless that is what it holds already: then the
# target keeps its age, and nothing that depends on it is done again.
define remember
@mkdir -p $(@D)
@echo "$(1)" | cmp -s - $@ || echo "$(1)" > $@
endef

ifdef OWN_PYTHON
$(OWN_PYTHON):
	tools/require.sh command:$(BASE_PYTHON)=python3 python-venv:$(BASE_PYTHON)=python3-venv
	@$(BASE_PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
	  || { echo "Python 3.10 or newer is needed; BASE_PYTHON may name one" >&2; exit 1; }
	$(BASE_PYTHON) -m venv .venv
endif

$(PACKAGE_STAMPS)/python: FORCE | $(OWN_PYTHON)
	$(call remember,$(PYTHON))

$(PACKAGE_STAMPS)/run: $(PACKAGE_STAMPS)/python pyproject.toml tools/python_packages.py
	$(call packages,build run)
	@touch $@

$(PACKAGE_STAMPS)/test: $(PACKAGE_STAMPS)/run
	$(call packages,test models)
	@touch $@

$(PACKAGE_STAMPS)/dev: $(PACKAGE_STAMPS)/test
	$(call packages,dev)
	@touch $@

$(STAMPS)/cpp-tools: tools/require.sh
	tools/require.sh command:c++=g++ command:cmake=cmake
	tools/require.sh header:gtest/gtest.h=libgtest-dev
	@mkdir -p $(@D) && touch $@

# What the build depends on and no time stamp shows: switches, torch's version, and
# that a source file came or went.
$(STAMPS)/settings: FORCE $(PACKAGE_STAMPS)/run
	$(call remember,$(PYTHON) torch $$($(PYTHON) -c '$(TORCH_VERSION)') cuda=$(USE_CUDA) \
	  $(CUDA_HOME) $(TORCH_CUDA_ARCH_LIST) debug=$(TUNEDOPS_DEBUG) $(SOURCES))

$(STAMPS)/build: $(STAMPS)/settings $(SOURCES) setup.py pyproject.toml tools/isa_flags.txt
	tools/require.sh command:c++=g++ python-header:$(PYTHON)=python3-dev
	$(PYTHON) setup.py --quiet egg_info build_ext --inplace
	@touch $@
