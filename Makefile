# What a developer runs; `make help` lists it.
# `make run` and `make test` need nothing done before: each makes the virtual environment it needs,
# and makes it anew when pyproject.toml or its lock changes.

PYTHON ?= python3
# Four more than there are cores: many tests wait for a broker or for a process of theirs.
JOBS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 4)')
PYTHONS ?= python3.11 python3.12 python3.13 python3.14
MATRIX ?= own
ADAPTER ?= model
RUNS ?=
RESULTS ?=
LABEL ?=

BASE := .venv
DEV := .venv-dev
BASE_LOCKS := requirements/build.lock requirements/base.lock
DEV_LOCKS := requirements/dev.lock
INSTALL := -m pip install --quiet --quiet --disable-pip-version-check
RUFF_FILES := .
# What else was found is told, where it was kept: busproof audit --format json > reports/audit.json
TOLD = $(foreach each,audit modelcheck,$(if $(wildcard reports/$(each).json),--$(each) reports/$(each).json))
TESTS = $(DEV)/bin/python -m pytest -n $(JOBS)

# The tests start the command some hundred times: what Python compiles is kept.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: results help run test lint types check format nightly modelcheck audit bench schemas diagrams licences vulnerabilities dist wheel pythons allure docs site lock base dev clean \
	python-there compiler-there node-there

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-10s  %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

run: $(BASE)/.installed ## run the suite on the embedded model (ADAPTER=… for another)
	$(BASE)/bin/busproof run --adapter '$(ADAPTER)'

test: node-there $(DEV)/.installed ## run every test at gate size (BUSPROOF_SIZE=full for all of it)
	@cd examples/node-adapter && said=$$(node --test 2>&1) || { echo "$$said"; exit 1; }; \
		echo "examples/node-adapter: node --test"; echo "$$said" | tail -n 8
	$(if $(PYTEST),,$(TESTS) tests/vocabulary tests/filters tests/model tests/oracle --cov --cov-report=term-missing:skip-covered)
	$(TESTS) $(or $(PYTEST),--ignore=tests/vocabulary --ignore=tests/filters --ignore=tests/model --ignore=tests/oracle)

lint: $(DEV)/.installed ## ruff and codespell
	$(DEV)/bin/ruff check $(RUFF_FILES)
	$(DEV)/bin/ruff format --check $(RUFF_FILES)
	$(DEV)/bin/codespell

types: $(DEV)/.installed ## mypy
	$(DEV)/bin/mypy

check: lint types ## lint and types

format: $(DEV)/.installed ## let ruff format and mend what it can
	$(DEV)/bin/ruff check --fix-only --quiet $(RUFF_FILES)
	$(DEV)/bin/ruff format $(RUFF_FILES)

nightly: export BUSPROOF_SIZE = full
nightly: ## everything at full size: all tests, all kills of the audit, all specs, the benchmarks
	@failed=; for each in "audit MATRIX=full" modelcheck test pythons bench; do \
		echo "== make $$each, at $$(date +%H:%M)"; \
		$(MAKE) $$each || failed="$$failed; make $$each"; \
	done; \
	test -z "$$failed" || { echo "make nightly: failed:$${failed#;}" >&2; exit 1; }

modelcheck: $(DEV)/.installed ## let TLC check the specs, and the model against their graphs
	$(DEV)/bin/busproof modelcheck; code=$$?; \
	$(DEV)/bin/busproof modelcheck --mutants $(if $(filter full,$(BUSPROOF_SIZE)),,--changed) || code=$$?; \
	exit $$code

audit: $(DEV)/.installed ## run the suite on every seeded fault (MATRIX=full: every scenario on each)
	$(DEV)/bin/busproof audit --matrix $(MATRIX)

bench: $(DEV)/.installed ## run every benchmark
	@failed=; for each in benchmarks/*.py; do \
		echo "== $$each"; \
		$(DEV)/bin/python "$$each" || failed="$$failed $$each"; \
	done; \
	test -z "$$failed" || { echo "make bench: failed:$$failed" >&2; exit 1; }

schemas: $(DEV)/.installed ## write the JSON Schemas anew
	$(DEV)/bin/python -m busproof.history.schemas
	$(DEV)/bin/python -m busproof.reports.schemas

diagrams: $(DEV)/.installed ## draw the states in docs/states.md anew
	$(DEV)/bin/python tools/state_diagrams.py > docs/states.md

licences: $(DEV)/.installed ## list the licences of all packages in docs/licences.md anew
	$(DEV)/bin/python tools/licences.py > docs/licences.md

dist: $(DEV)/.installed ## build the wheel and the source distribution into dist/, the same bytes each time
	rm -rf dist build
	$(DEV)/bin/python tools/dist.py
	@ls -l dist

wheel: $(DEV)/.installed ## build the wheel into dist/
	rm -rf dist build
	$(DEV)/bin/python -m build --quiet --no-isolation --wheel
	@ls -l dist

pythons: dist ## try the wheel with each Python from 3.11 on that is here (PYTHONS=… for others)
	@tried=; failed=; for each in $(PYTHONS); do \
		$$each -c '' 2>/dev/null || continue; \
		echo "== $$each"; tried="$$tried $$each"; \
		bash .ci/wheel $$each || failed="$$failed $$each"; \
	done; echo "make pythons: tried$$tried"; \
	test -n "$$tried" -a -z "$$failed" || { echo "make pythons: failed:$$failed" >&2; exit 1; }

allure: $(DEV)/.installed node-there ## make reports/allure.html of the newest run (RUNS=… for others)
	@test -n '$(RUNS)' || test -e reports/runs/latest || $(DEV)/bin/busproof run || true
	rm -rf reports/allure-results
	$(DEV)/bin/busproof report $(RUNS) --allure reports/allure-results $(TOLD) \
		$(RESULTS:%=--allure-from %)
	$(DEV)/bin/python tools/allure_page.py reports/allure-results \
		--output reports/allure.html --history reports/allure-history.jsonl

results: $(DEV)/.installed node-there ## run the suite on all that is here, and write docs/results.md anew
	rm -rf reports/runs/results-*
	# Whatever the verdicts are, they are told; a run that came to none is left out.
	-$(DEV)/bin/busproof run --name results-model
	-$(DEV)/bin/busproof run --name results-broker --adapter amqp
	-$(DEV)/bin/busproof run --name results-spark --adapter spark
	-$(DEV)/bin/busproof run --name results-node --adapter 'exec:node examples/node-adapter/adapter.js'
	-$(DEV)/bin/python tools/on_rabbitmq.py $(DEV)/bin/busproof run --name results-rabbitmq \
		--adapter ADDRESS --yes
	-$(DEV)/bin/busproof audit --format json > reports/audit.json
	$(DEV)/bin/python tools/results_page.py --audit reports/audit.json \
		$$(dirname reports/runs/results-*/conformance.json)

docs: $(DEV)/.installed ## build the documents into site/, and complain about every link that leads nowhere
	NO_MKDOCS_2_WARNING=1 $(DEV)/bin/mkdocs build --strict

site: docs node-there ## build all that is published into site/: documents, the conformance page, Allure's
	rm -rf reports/runs/site-model reports/runs/site-node reports/allure-results
	# Whatever the verdicts are, they are published; a run that came to none is no result.
	$(DEV)/bin/busproof run --name site-model || test -e reports/runs/site-model/conformance.json
	$(DEV)/bin/busproof run --name site-node --adapter 'exec:node examples/node-adapter/adapter.js' \
		|| test -e reports/runs/site-node/conformance.json
	$(DEV)/bin/busproof report site-model site-node --output site/report.html $(TOLD) \
		--history reports/history.jsonl --label '$(LABEL)' --allure reports/allure-results
	$(DEV)/bin/python tools/allure_page.py reports/allure-results \
		--output site/allure.html --history reports/allure-history.jsonl
	cd tools/mermaid && npm ci --silent --no-audit --no-fund --ignore-scripts
	mkdir -p site/javascripts && cp tools/mermaid/node_modules/mermaid/dist/mermaid.min.js site/javascripts

lock: .venv-lock/.installed ## pin all dependencies anew (UPGRADE=--upgrade takes newer versions)
	tools/lock .venv-lock/bin/uv $(UPGRADE)

vulnerabilities: .venv-lock/.installed node-there ## ask the package indexes of what pinned versions are known to be vulnerable
	@failed=; for each in requirements/*.lock; do \
		echo "== $$each"; \
		.venv-lock/bin/pip-audit --strict --disable-pip --require-hashes --progress-spinner off \
			--requirement $$each || failed="$$failed $$each"; \
	done; \
	for each in tools/*/package-lock.json; do \
		echo "== $$each"; \
		(cd $$(dirname $$each) && npm audit --package-lock-only) || failed="$$failed $$each"; \
	done; \
	test -z "$$failed" || { echo "make vulnerabilities: some are found, or could not be asked for, in$$failed" >&2; exit 1; }

base: $(BASE)/.installed ## make .venv: busproof and what it needs

dev: $(DEV)/.installed ## make .venv-dev: busproof and what its developers need

clean: ## remove everything that is made here
	rm -rf .venv .venv-dev .venv-lock build dist src/*.egg-info .hypothesis .pytest_cache \
		.mypy_cache .ruff_cache .coverage .coverage.* reports/runs reports/conformance.html \
		reports/allure.html reports/allure-results site tools/*/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environments. Their stamps are made last, so that a broken one is made again.

$(BASE)/.installed: pyproject.toml $(BASE_LOCKS) | python-there
	$(PYTHON) -m venv --clear $(BASE)
	$(BASE)/bin/python $(INSTALL) --require-hashes $(BASE_LOCKS:%=-r %)
	$(BASE)/bin/python $(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV)/.installed: pyproject.toml $(DEV_LOCKS) | python-there compiler-there
	$(PYTHON) -m venv --clear $(DEV)
	$(DEV)/bin/python $(INSTALL) --require-hashes $(DEV_LOCKS:%=-r %)
	$(DEV)/bin/python $(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

.venv-lock/.installed: requirements/lock.in | python-there
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/python $(INSTALL) -r requirements/lock.in
	@touch $@

python-there:
	@$(PYTHON) -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "make: $(PYTHON) must be Python 3.11 or later with its venv module (Debian, Ubuntu:" \
		"apt-get install python3-venv); PYTHON=… names another one" >&2; exit 1; }

compiler-there:
	@command -v cc >/dev/null || { \
		echo "make: a C compiler is missing, which python-qpid-proton is built with (Debian, Ubuntu:" \
		"apt-get install gcc python3-dev pkg-config libssl-dev)" >&2; exit 1; }

node-there:
	@node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null || { \
		echo "make test: Node.js 18 or later is missing, which the adapter in examples/node-adapter" \
		"needs; install it (Debian, Ubuntu: apt-get install nodejs) and try again" >&2; exit 1; }
