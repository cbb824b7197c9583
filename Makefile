# The same words here, in the README and in .ci/run.
PYTHON ?= python3
VENV ?= .venv
RUN = $(VENV)/bin
# Tests wait for slots and servers a third of their time: half as many again as processors.
WORKERS ?= $(shell echo $$(($$(nproc) * 3 / 2)))
# Whole processes that are started, killed and waited for leave processors idle.
WAITERS ?= $(shell echo $$(($$(nproc) * 2)))
# Tests write and sync thousands of small files: in memory, where there are 4 GB of room
# and what lies there may be run.
TEMPORARY ?= $(shell room=$$(df --output=avail -k /dev/shm 2>/dev/null | tail -1); \
	[ "$${room:-0}" -gt 4000000 ] && ! grep -q ' /dev/shm .*noexec' /proc/mounts && \
	[ -w /dev/shm ] && echo /dev/shm || echo $${TMPDIR:-/tmp})
PYTEST = PYTEST_DEBUG_TEMPROOT=$(TEMPORARY) $(RUN)/python -m pytest -o tmp_path_retention_policy=failed
# What is compiled once is not compiled again by each of the processes that tests start.
unexport PYTHONDONTWRITEBYTECODE
PIP = $(RUN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help demo demo-upstream serve test test-thorough check audit audit-long mutants
.PHONY: uncalled bench bench-ingest bench-releases golden notebook openapi openapi-lint docs
.PHONY: image-check bundle bundle-check clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/ -/'

$(VENV)/.app: requirements/app.txt pyproject.toml clients/python/pyproject.toml
	@echo "Making the environment in $(VENV) (once; about 600 MB) ..."
	@$(PYTHON) -c 'import sys; sys.exit("Curator needs Python 3.11 to 3.13, this is " + sys.version.split()[0] + "; set PYTHON=") if not (3, 11) <= sys.version_info < (3, 14) else None'
	@test -x $(RUN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --no-deps --require-hashes -r requirements/app.txt
	@$(PIP) install --no-deps --no-build-isolation -e . -e clients/python
	@touch $@

$(VENV)/.dev: $(VENV)/.app requirements/dev.txt
	@$(PIP) install --no-deps --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.docs: $(VENV)/.app requirements/docs.txt
	@$(PIP) install --no-deps --require-hashes -r requirements/docs.txt
	@touch $@

demo: $(VENV)/.app ## A synthetic hospital: six paid questions, releases that are free to ask
	@$(RUN)/curator demo

demo-upstream: $(VENV)/.app ## Notes of 2,000 made-up patients, read, tagged and counted; records linked, and counted right
	@$(RUN)/curator demo --notes
	@$(RUN)/curator demo --linking

serve: $(VENV)/.app ## Serve the demo's data until stopped
	@$(RUN)/curator demo --serve

test: $(VENV)/.dev ## The tests, the quick audits included
	@$(PYTEST) -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations=20 -m "not thorough and not long"

# Each process reads the files that it is given: others' take half a minute. What is killed
# and synced lies on a disk.
test-thorough: $(VENV)/.dev ## Whole processes killed, installed and served; random questions
	@$(RUN)/python -m pytest $$(grep -rl --include='*.py' mark.thorough tests) -n $(WAITERS) --dist loadfile --no-loadscope-reorder --durations=20 -m "thorough and not long"

check: $(VENV)/.dev ## Format, lint, types, import rules
	@$(RUN)/ruff format --check .
	@$(RUN)/ruff check .
	@$(RUN)/mypy
	@$(RUN)/lint-imports --no-cache

audit: $(VENV)/.dev ## The privacy audits' quick tier, with its bounds
	@$(RUN)/python -m pytest tests/audit -q -s

audit-long: $(VENV)/.dev ## Full counts of audits, random questions, coverage, crashes (hours)
	@CURATOR_LONG=1 $(RUN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder
	@$(RUN)/python -m tests.semantics.long
	@$(RUN)/python -m tests.property.long
	@$(RUN)/python -m tests.audit.long
	@$(RUN)/python -m tests.statistical.cube_coverage
	@$(RUN)/python -m tests.crash.full
	@$(RUN)/python -m tests.crash.full --database postgresql

mutants: $(VENV)/.dev ## Plant each known fault; it must be caught by the tests it names
	@$(RUN)/python -m tests.mutants.run

uncalled: $(VENV)/.dev ## List public functions whose body no test runs, in whatever process
	@$(RUN)/python -m tests.mutants.uncalled

bench-ingest: $(VENV)/.app ## A load of 10 million rows: seconds a phase, memory, DuckDB's own
	@$(RUN)/python -m benchmarks.ingest

bench: $(VENV)/.dev ## Times of engine, compiling and noise beside DuckDB's and OpenDP's (7 minutes)
	@$(RUN)/python -m benchmarks.compile
	@$(RUN)/python -m benchmarks.engine
	@$(RUN)/python -m benchmarks.noise.samplers

bench-releases: $(VENV)/.dev ## HIDE's experiments, seconds and memory of releases, questions to one
	@$(RUN)/python -m benchmarks.releases.hide
	@$(RUN)/python -m benchmarks.releases.speed
	@$(RUN)/python -m benchmarks.releases.asking

golden: $(VENV)/.dev ## Rewrite the golden files; read the diff
	@CURATOR_GOLDEN=1 $(RUN)/python -m pytest -q tests/golden

notebook: $(VENV)/.dev ## Run the docs' notebooks against the demo, and keep what they show
	@$(RUN)/python -m tests.client.run_notebook

openapi: $(VENV)/.app ## Write openapi/openapi.json
	@$(RUN)/curator openapi > openapi/openapi.json

# Versions that found nothing in the committed document; newer ones may know more rules.
openapi-lint: $(VENV)/.dev ## The OpenAPI document by its validator; by redocly and spectral where node is
	@$(RUN)/openapi-spec-validator openapi/openapi.json
	@if ! command -v npx >/dev/null; then \
	  echo "npx (of node) is not installed: redocly and spectral were not run"; \
	else \
	  npx --yes @redocly/cli@2.77.0 lint --config openapi/redocly.yaml openapi/openapi.json && \
	  npx --yes @stoplight/spectral-cli@6.16.3 lint --ruleset openapi/spectral.yaml openapi/openapi.json; \
	fi

docs: $(VENV)/.docs ## Build the documentation into build/docs; warnings are errors
	@$(RUN)/sphinx-build -q -E -W --keep-going -b html docs build/docs

image-check: $(VENV)/.dev ## The Dockerfile's steps in a plain directory, to one answer (a minute)
	@$(RUN)/hadolint Dockerfile
	@rm -rf build/image
	@PYTHON=$(PYTHON) scripts/dockerfile-steps build/image

bundle: $(VENV)/.dev docs ## All that an installation without a network needs: build/bundle (minutes)
	@$(RUN)/python -m scripts.bundle build/bundle --docs build/docs

bundle-check: ## Install from build/bundle where no network is, and run the demo (minutes)
	@$(RUN)/python -m scripts.bundle.trial "$$(ls -d build/bundle/*/)"

clean: ## Remove the environment and what the demo made
	rm -rf $(VENV) .demo .demo-upstream .demo-linking build
