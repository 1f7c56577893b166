# doseflow. `make demo` and `make test` are all a newcomer needs: Python 3.11+, make, nothing else by hand.
PYTHON ?= python3
PORT ?= 8080
CITY ?= czech
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint typecheck layers unit bench format lock audit api pages pages-check clean

help: ## list what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(VENV)/.base: requirements/base.txt requirements/build.txt pyproject.toml tools/make_venv.sh
	@PYTHON="$(PYTHON)" sh tools/make_venv.sh $(VENV) requirements/base.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt requirements/torch.txt requirements/build.txt pyproject.toml tools/make_venv.sh
	@PYTHON="$(PYTHON)" sh tools/make_venv.sh $(VENV) requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements/torch.txt || \
	  echo "This build of torch is not offered here; the tests that compare with it are skipped."
	@touch $@ $(VENV)/.base

setup: $(VENV)/.base ## make the virtual environment and install what running needs

demo: $(VENV)/.base ## set up and run the whole system on the packaged real data (PORT=8080, CITY=czech)
	@exec $(BIN)/doseflow demo --port $(PORT) --city $(CITY)

test: $(VENV)/.dev ## set up and run every check and every test
	@sh tools/install_test_services.sh
	$(MAKE) --no-print-directory check unit

check: lint typecheck layers ## style, types, architecture

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

typecheck: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports --no-cache

unit: $(VENV)/.dev ## the tests alone
	$(BIN)/pytest -n 2 --dist loadgroup

bench: $(VENV)/.base ## time from reports in to orders stored, at 200 and 2,000 sites
	$(BIN)/doseflow bench cycle --sites 200 --sites 2000 --cycles 300

format: $(VENV)/.dev ## put the code into its form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: ## resolve requirements/*.in anew (needs uv; WHEELS=folder with torch's processor build)
	for name in base build dev; do \
	  uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --custom-compile-command "make lock" requirements/$$name.in -o requirements/$$name.txt || exit 1; done
	uv pip compile --quiet --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  $(if $(WHEELS),--find-links $(WHEELS)) --constraint requirements/dev.txt --custom-compile-command "make lock" \
	  requirements/torch.in -o requirements/torch.txt

audit: $(VENV)/.dev ## known vulnerabilities in what is pinned
	$(BIN)/pip-audit --require-hashes -r requirements/base.txt

api: $(VENV)/.dev ## the API's description and the types that the pages take from it
	$(BIN)/python tools/write_openapi.py frontend/src/api/openapi.json
	cd frontend && npm ci && npm run api

pages: $(VENV)/.dev ## build the pages of the room into the package (Node 20.19 or later, or its wheel)
	$(BIN)/python tools/build_pages.py

pages-check: ## types, style and unit tests of the pages (needs Node)
	cd frontend && npm ci && npm run check

clean: ## remove what was made here
	rm -rf $(VENV) var .mypy_cache .ruff_cache .pytest_cache .hypothesis
