# kerascost: which machine to rent, and with which TensorFlow build, to train a Keras model.
# `make help` prints this file's targets and settings.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

## Settings (make all PROFILE=smoke WORKLOADS=mnist_mlp):
PROFILE   ?= #: full, quick or smoke; the plan's own (quick) where empty
WORKLOADS ?= #: some of the plan's workloads, with commas; all where empty
BUILDS    ?= #: some of the plan's builds, with commas; all where empty
INSTANCES ?= #: some of the plan's instances, with commas; all where empty
EPOCHS    ?= #: stop each run after these (3 or more) and predict its total; PROFILE=full
RUNNER    ?= #: auto, docker, podman or host; auto takes an engine that has the images
BASE_IMAGE ?= #: what images are built on; that of make base-image, else Docker Hub's slim Python
TF_WHEEL  ?= #: the compiled image's TensorFlow: intel-tensorflow==2.14.0, a .whl, source or none
TF_VERSION ?= #: the version that TF_WHEEL=source compiles; that of pip where empty
TF_SHA256 ?= #: the SHA-256 of its source archive
MARCH     ?= #: the CPU that it is compiled for, as gcc has it; native where empty
CPU_FLAGS ?= #: what a .whl needs of a CPU, as /proc/cpuinfo has it
DATA      ?= #: real, auto or synthetic; auto takes real data where it is at hand
CAMPAIGN  ?= #: the campaign that the start page shows, or that an import becomes
PRICES    ?= #: price anew by this file (or book of catalog/prices/)
SCENARIO  ?= #: as-published, spot, on-demand or own; each campaign's own where empty
PROVIDER  ?= #: whose prices `make prices` takes over: gce, aws, …
REGION    ?= #: which of its regions
RUNS_DIR  ?= runs#: where runs are kept
SITE_DIR  ?= site#: where the site is built
SRC       ?= #: what `make import` reads (a folder or git address), or `make prices` (a CSV)
MAPPING   ?= #: how those logs lie: a file; the one of launcher/mappings/ that fits where empty
PLAN      ?= plan.yml#: what to run
PORT      ?= 8000#: where `make serve` listens
PYTHON    ?= python3#: a Python of 3.11 or later, to make .venv with
PYTEST    ?= #: further arguments for pytest

VENV   := .venv
BIN    := $(VENV)/bin
BUILD  := build
REPORT := $(VENV)/report.stamp
TRAIN  := $(VENV)/train.stamp
DEV    := $(VENV)/dev.stamp

RUN_ARGS = --plan "$(strip $(PLAN))" --runs-dir "$(strip $(RUNS_DIR))" \
	$(if $(strip $(PROFILE)),--profile "$(strip $(PROFILE))") \
	$(if $(strip $(WORKLOADS)),--workloads "$(strip $(WORKLOADS))") \
	$(if $(strip $(BUILDS)),--builds "$(strip $(BUILDS))") \
	$(if $(strip $(INSTANCES)),--instances "$(strip $(INSTANCES))") \
	$(if $(strip $(DATA)),--data "$(strip $(DATA))") \
	$(if $(strip $(EPOCHS)),--epochs "$(strip $(EPOCHS))") \
	$(if $(strip $(RUNNER)),--runner "$(strip $(RUNNER))")
SITE_ARGS = --runs "$(strip $(RUNS_DIR))" --runs runs --site-dir "$(strip $(SITE_DIR))" \
	$(if $(strip $(CAMPAIGN)),--campaign "$(strip $(CAMPAIGN))") \
	$(if $(strip $(PRICES)),--prices "$(strip $(PRICES))") \
	$(if $(strip $(SCENARIO)),--scenario "$(strip $(SCENARIO))")
# Modules are compiled when they are first imported: most of TensorFlow's never are.
PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
	--require-hashes

LOCK_ARGS = --quiet --generate-hashes --no-annotate --no-header --no-emit-find-links

ENGINE = $(if $(filter docker podman,$(strip $(RUNNER))),$(strip $(RUNNER)),podman)
IMAGE_ARGS = $(if $(strip $(RUNNER)),--runner "$(strip $(RUNNER))") \
	$(if $(strip $(BASE_IMAGE)),--base-image "$(strip $(BASE_IMAGE))") \
	$(if $(strip $(TF_WHEEL)),--wheel "$(strip $(TF_WHEEL))") \
	$(if $(strip $(TF_VERSION)),--tf-version "$(strip $(TF_VERSION))") \
	$(if $(strip $(TF_SHA256)),--tf-sha256 "$(strip $(TF_SHA256))") \
	$(if $(strip $(MARCH)),--march "$(strip $(MARCH))") \
	$(if $(strip $(CPU_FLAGS)),--cpu-flags "$(strip $(CPU_FLAGS))")
# An engine that is asked for gets images where it has none yet; what is there stays.
MAKE_MISSING = $(if $(filter docker podman,$(strip $(RUNNER))),$(BIN)/python -m launcher images $(IMAGE_ARGS) --missing,:)

.PHONY: help all bench site serve import prices base-image images check test test-containers benchmarks lock clean

help: ## print the targets and the settings
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@printf '\nSettings, as in: make all PROFILE=smoke WORKLOADS=mnist_mlp\n'
	@awk '/^[A-Z0-9_]+ *\?=.*#: /{name=$$1; sub(/^[^#]*#: /, ""); printf "  %-11s %s\n", name, $$0}' $(firstword $(MAKEFILE_LIST))

all: $(TRAIN) ## train the plan on this machine, then build the report
	@$(MAKE_MISSING)
	@mkdir -p $(BUILD); failed=0; \
	$(BIN)/python -m launcher run $(RUN_ARGS) --summary $(BUILD)/summary.txt || failed=$$?; \
	echo $$failed > $(BUILD)/exit-code; test $$failed -le 1 || exit $$failed
	@$(MAKE) --no-print-directory site
	@cat $(BUILD)/summary.txt
	@echo "Look at it: make serve, or open $(strip $(SITE_DIR))/index.html in a browser."
	@exit "$$(cat $(BUILD)/exit-code)"

bench: $(TRAIN) ## train what the plan lacks, without building the report
	@$(MAKE_MISSING)
	@$(BIN)/python -m launcher run $(RUN_ARGS)

site: $(REPORT) ## build the report from the runs at hand (no TensorFlow needed)
	@$(BIN)/python -m generator site $(SITE_ARGS)

import: $(REPORT) ## bring another benchmark's logs in: make import SRC=… MAPPING=my-mapping.yml
	@test -n "$(strip $(SRC))" || { echo "SRC is empty: name a folder of logs, or a git address: make import SRC=…" >&2; exit 2; }
	@$(BIN)/python -m launcher import "$(strip $(SRC))" --runs-dir "$(strip $(RUNS_DIR))" \
		$(if $(strip $(MAPPING)),--mapping "$(strip $(MAPPING))") \
		$(if $(strip $(CAMPAIGN)),--campaign "$(strip $(CAMPAIGN))")

prices: $(REPORT) ## make a price book of SkyPilot's list: make prices SRC=vms.csv PROVIDER=… REGION=…
	@test -n "$(strip $(SRC))" -a -n "$(strip $(PROVIDER))" -a -n "$(strip $(REGION))" || { \
		echo "make prices needs SRC=vms.csv PROVIDER=gce REGION=us-central1" >&2; exit 2; }
	@$(BIN)/python -m catalog skypilot "$(strip $(SRC))" --provider "$(strip $(PROVIDER))" \
		--region "$(strip $(REGION))"

serve: site ## build the report and show it at http://localhost:8000/
	@$(BIN)/python -m generator serve --site-dir "$(strip $(SITE_DIR))" --port $(strip $(PORT))

check: $(DEV) ## lint and type-check the code
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

test: check ## run all checks and tests
	@$(BIN)/python -m pytest $(PYTEST)

test-containers: $(DEV) ## test the images and runs in them, by podman and docker (make images first)
	@$(BIN)/python -m pytest -m containers tests/containers $(PYTEST)

# 2 says that this machine lacks what one needs: the others are measured all the same.
benchmarks: $(DEV) ## measure what the harness and a container cost, and how fast the generator is
	@for file in benchmarks/*.py; do echo "$$file"; code=0; \
	$(BIN)/python -m "benchmarks.$$(basename $$file .py)" || code=$$?; \
	test $$code = 0 -o $$code = 2 || exit $$code; done

base-image: ## make a base image of Debian and Python by debootstrap: localhost/kerascost-base
	@docker/base/make-base-image.sh $(ENGINE)

images: $(REPORT) ## build the images that runs are made in, for docker or podman
	@$(BIN)/python -m launcher images $(IMAGE_ARGS)

lock: $(DEV) ## renew the locked requirements from requirements/*.in
	@cd requirements && for part in report train train-gpu dev image image-gpu; do ../$(BIN)/uv pip compile \
		--upgrade --universal --python-version 3.11 $(LOCK_ARGS) $$part.in -o $$part.txt || exit $$?; done
	@cd requirements && for part in image-*-2.*.in; do ../$(BIN)/uv pip compile --upgrade \
		--python-platform linux --python-version 3.11 $(LOCK_ARGS) $$part -o $${part%.in}.txt || exit $$?; done

clean: ## remove what is built (build/, the site); runs and .venv stay
	@rm -rf $(BUILD)
	@site="$(strip $(SITE_DIR))"; if [ -f "$$site/data/index.json" ]; then rm -rf "$$site"; \
	elif [ -e "$$site" ]; then echo "$$site holds no report: it stays. Name another SITE_DIR." >&2; exit 2; fi
	@echo "Removed $(BUILD)/ and $(strip $(SITE_DIR))/; runs and $(VENV)/ stay."

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "$(PYTHON) is not Python 3.11 or later: install one, or name it: make PYTHON=python3.12" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) can't make a virtual environment: apt-get install python3-venv" >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV)

$(REPORT): requirements/report.txt | $(BIN)/python
	@echo "Installing the generator's packages into $(VENV)/ (half a minute) ..."
	@$(PIP_INSTALL) -r requirements/report.txt
	@touch $@

# pip's report of what it installed holds the wheel's SHA-256, which each run records.
$(TRAIN): requirements/train.txt requirements/train-gpu.txt $(REPORT)
	@echo "Installing TensorFlow and Keras into $(VENV)/ (about 2 minutes) ..."
	@lock=train; if $(BIN)/python -m launcher gpus 2>/dev/null; then lock=train-gpu; fi; \
	$(PIP_INSTALL) --report $(VENV)/install.json -r requirements/$$lock.txt
	@if grep -q '"name": "tensorflow' $(VENV)/install.json; then mv $(VENV)/install.json $(VENV)/kerascost-install.json; fi
	@touch $@

$(DEV): requirements/dev.txt $(TRAIN)
	@echo "Installing the checks' and tests' packages into $(VENV)/ (half a minute) ..."
	@$(PIP_INSTALL) -r requirements/dev.txt
	@touch $@
