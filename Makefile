# What a developer runs; `make help` lists it.
# `make run` and `make test` need nothing but Python: each makes the virtual environment it needs,
# and makes it again when pyproject.toml or its lock changes (tools/environment.py).

PYTHON ?= python3
# Four more than there are cores, for tests that wait; each process takes some seconds to collect.
CORES := $(shell $(PYTHON) -c 'import os; print(os.cpu_count() or 1)')
JOBS ?= $(shell expr $(CORES) + 4)
PYTHONS ?= python3.11 python3.12 python3.13 python3.14
MATRIX ?= own
ADAPTER ?= model
RUNS ?=
RESULTS ?=
LABEL ?=
PART ?=
FAMILIES ?=

BASE := .venv
DEV := .venv-dev
ENVIRONMENT := $(PYTHON) tools/environment.py
RUFF_FILES := .
# What else was found is told, where it was kept: busproof audit --format json > reports/audit.json
TOLD = $(foreach each,audit modelcheck,$(if $(wildcard reports/$(each).json),--$(each) reports/$(each).json))
TESTS = $(DEV)/bin/python -m pytest -n $(JOBS)
# Together they cover every branch of their rooms.
COVERED = tests/vocabulary tests/filters tests/model
# Without coverage, which takes most of their time: others have covered the branches.
RANDOM = $(addprefix tests/model/,test_every_way.py test_nothing_beyond.py test_transactions_across_entities.py)
# What is installed, shipped and published: .ci/run has it beside other steps.
PACKAGING = tests/test_distribution.py tests/test_environment.py tests/test_site.py tests/browser/test_site_look.py
LAB = KEY-02 KEY-03 KEY-07 KEY-08 KEY-12 KEY-15 KEY-17 PART-04
# At the gate's size only those specs are checked that changed since they were recorded.
SINCE = $(if $(filter full,$(BUSPROOF_SIZE)),,--changed)

# The tests start the command some hundred times: what Python compiles is kept.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: results help run test lab slowed packaging lint types compiled check format nightly nightly-status modelcheck audit bench schemas diagrams distilled identity release-rehearsal promises licences vulnerabilities dist wheel pythons allure docs picture site lock base dev clean \
	python-there node-there

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-17s  %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

run: base ## run the suite on the embedded model (ADAPTER=… for another)
	$(BASE)/bin/busproof run --adapter '$(ADAPTER)'

test: dev ## run the tests at gate size (PYTEST='…' for some of them)
	$(if $(PYTEST),,COVERAGE_FILE=$(DEV)/coverage.$$$$ \
		$(DEV)/bin/python -m pytest -n $(CORES) $(COVERED) $(RANDOM:%=--ignore=%) --cov --cov-report=term-missing:skip-covered)
	$(TESTS) $(or $(PYTEST),$(addprefix --ignore=,$(filter-out tests/model,$(COVERED)) \
		$(filter-out $(RANDOM),$(wildcard tests/model/test_*.py)) $(PACKAGING)))

lab: dev ## eight rules on a bus with three bugs: examples/lab/README.md goes on from there
	cd examples/lab && ../../$(DEV)/bin/busproof run --adapter lab_bus:make --name lab $(LAB:%=--rule %); test $$? = 1
	@echo "Five rules are violated, by three bugs: go on with examples/lab/README.md."

slowed: dev ## run the tests with 40 % of each core, then beside eight busy loops (PYTEST='…' for some of them)
	$(DEV)/bin/python tools/slowed.py --share 0.4 $(MAKE) test
	$(DEV)/bin/python tools/slowed.py --load 8 $(MAKE) test

packaging: dev ## test what is installed, shipped and published: environments, distributions, the site
	$(TESTS) $(PACKAGING)

lint: dev ## ruff, the contracts of imports, codespell, and zizmor for the workflows
	$(DEV)/bin/ruff check $(RUFF_FILES)
	$(DEV)/bin/ruff format --check $(RUFF_FILES)
	$(DEV)/bin/lint-imports --no-cache --no-logo
	$(DEV)/bin/codespell
	$(DEV)/bin/zizmor --offline --config .github/zizmor.yml --no-progress --quiet .github action.yml examples

types: dev ## mypy
	$(DEV)/bin/mypy

compiled: dev ## import every test, which also compiles it for the processes of a first run
	@found=$$($(DEV)/bin/python -m pytest --collect-only -q) || { echo "$$found" | tail -n 30; exit 1; }

check: lint types compiled ## lint, types and the imports of the tests

format: dev ## let ruff format and mend what it can
	$(DEV)/bin/ruff check --fix-only --quiet $(RUFF_FILES)
	$(DEV)/bin/ruff format $(RUFF_FILES)

nightly: dev ## run at full size what is missing or out of date (PART=… for one part)
	@$(DEV)/bin/doit --file tools/nightly.py --dir . run $(PART)

nightly-status: dev ## list the steps of the nightly checks: R has to run, U is up to date
	@$(DEV)/bin/doit --file tools/nightly.py --dir . list --all --status $(PART)

modelcheck: dev ## let TLC check the specs that changed, and the model against their graphs
	$(DEV)/bin/busproof modelcheck $(SINCE); code=$$?; \
	$(DEV)/bin/busproof modelcheck --mutants $(SINCE) || code=$$?; \
	exit $$code

audit: dev ## run the suite on every seeded fault (MATRIX=full: every scenario on each)
	$(DEV)/bin/busproof audit --matrix $(MATRIX)

bench: dev ## run every benchmark
	@failed=; for each in tools/benchmarks/*.py; do \
		echo "== $$each"; \
		$(DEV)/bin/python "$$each" || failed="$$failed $$each"; \
	done; \
	test -z "$$failed" || { echo "make bench: failed:$$failed" >&2; exit 1; }

schemas: dev ## write the JSON Schemas anew
	$(DEV)/bin/python -m busproof.history.schemas
	$(DEV)/bin/python -m busproof.reports.schemas

distilled: dev ## search for short sequences that kill generated mutants, and keep them (FAMILIES=… for some)
	PYTHONHASHSEED=0 $(DEV)/bin/python tools/distil.py $(FAMILIES)

diagrams: dev ## write the generated pages anew: states, SQL, editions, benchmarks, checks
	$(DEV)/bin/python tools/state_diagrams.py > docs/states.md
	$(DEV)/bin/python tools/sql_page.py > docs/sql.md
	$(DEV)/bin/python tools/editions_page.py > docs/editions.md.new
	mv docs/editions.md.new docs/editions.md
	$(DEV)/bin/python tools/benchmarks_page.py > docs/benchmarks.md
	$(DEV)/bin/python tools/checks_page.py > docs/contributing/checks.md

identity: dev ## put the publisher's names and addresses of tools/release/identity.toml everywhere
	$(DEV)/bin/python tools/release/identity.py

release-rehearsal: dev node-there ## build a release from a clean clone, serve it, and play three strangers
	$(DEV)/bin/python tools/release/rehearsal.py

promises: dev ## record what docs/compatibility.md promises, for a release
	$(DEV)/bin/python tools/promises.py > tools/release/promises.txt.new
	mv tools/release/promises.txt.new tools/release/promises.txt

licences: dev ## list the licences of all packages in docs/licences.md anew
	$(DEV)/bin/python tools/licences.py > docs/licences.md

dist: dev ## build the wheel and the source distribution into dist/, the same bytes each time
	rm -rf dist build
	$(DEV)/bin/python tools/dist.py
	@ls -l dist

wheel: dev ## build the wheel into dist/
	rm -rf dist build
	$(DEV)/bin/python -m build --quiet --no-isolation --wheel
	@ls -l dist

pythons: dist ## try the wheel with each Python from 3.11 on that is here (PYTHONS=… for others)
	@tried=; failed=; for each in $(PYTHONS); do \
		$$each -c '' 2>/dev/null || continue; \
		echo "== $$each"; tried="$$tried $$each"; \
		BUSPROOF_SIZE=full bash .ci/wheel $$each || failed="$$failed $$each"; \
	done; echo "make pythons: tried$$tried"; \
	test -n "$$tried" -a -z "$$failed" || { echo "make pythons: failed:$$failed" >&2; exit 1; }

allure: dev node-there ## make reports/allure.html of the newest run (RUNS=… for others)
	@test -n '$(RUNS)' || test -e reports/runs/latest || $(DEV)/bin/busproof run --allure || true
	rm -rf reports/allure-results
	$(DEV)/bin/busproof report $(RUNS) --allure reports/allure-results $(TOLD) \
		$(RESULTS:%=--allure-from %)
	$(DEV)/bin/python tools/allure_page.py reports/allure-results \
		--output reports/allure.html --history reports/allure-history.jsonl

results: dev node-there ## run the suite on all that is here, and write docs/results.md anew
	rm -rf reports/runs/results-*
	# Whatever the verdicts are, they are told; a run that came to none is left out.
	-$(DEV)/bin/busproof run --name results-model
	-$(DEV)/bin/busproof run --name results-broker --adapter amqp
	-$(DEV)/bin/busproof run --name results-http --adapter http
	-$(DEV)/bin/busproof run --name results-spark --adapter spark
	-$(DEV)/bin/busproof run --name results-node --adapter 'exec:node examples/node-adapter/adapter.js'
	-$(DEV)/bin/python tools/on_rabbitmq.py $(DEV)/bin/busproof run --name results-rabbitmq \
		--adapter ADDRESS --yes
	-$(DEV)/bin/busproof audit --format json > reports/audit.json
	$(DEV)/bin/python tools/results_page.py --audit reports/audit.json \
		$$(dirname reports/runs/results-*/conformance.json)

docs: dev node-there ## build the documents into site/, and complain about every link that leads nowhere
	cd tools/mermaid && npm ci --silent --no-audit --no-fund --ignore-scripts
	NO_MKDOCS_2_WARNING=1 $(DEV)/bin/mkdocs build --strict

picture: dev ## draw the pictures in docs/images/ anew
	$(DEV)/bin/python tools/verdict_picture.py
	$(DEV)/bin/python tools/partition_pictures.py

site: docs node-there ## build all that is published into site/: documents, the conformance page, Allure's
	rm -rf reports/runs/site-model reports/runs/site-node reports/allure-results
	# Whatever the verdicts are, they are published; a run that came to none is no result.
	$(DEV)/bin/busproof run --name site-model --allure || test -e reports/runs/site-model/conformance.json
	$(DEV)/bin/busproof run --name site-node --allure --adapter 'exec:node examples/node-adapter/adapter.js' \
		|| test -e reports/runs/site-node/conformance.json
	$(DEV)/bin/busproof report site-model site-node --output site/report.html $(TOLD) \
		--history reports/history.jsonl --label '$(LABEL)' --allure reports/allure-results
	$(DEV)/bin/python tools/allure_page.py reports/allure-results \
		--output site/allure.html --history reports/allure-history.jsonl

lock: .venv-lock/.installed ## pin all dependencies anew (UPGRADE=--upgrade takes newer versions)
	tools/lock .venv-lock/bin/uv $(UPGRADE)

vulnerabilities: .venv-lock/.installed node-there ## ask the package indexes of what pinned versions are known to be vulnerable
	@failed=; for each in requirements/*.lock; do \
		echo "== $$each"; \
		.venv-lock/bin/pip-audit --strict --disable-pip --require-hashes --progress-spinner off \
			--requirement $$each || failed="$$failed $$each"; \
	done; \
	for each in tools/*/package-lock.json examples/clients/package-lock.json; do \
		echo "== $$each"; \
		(cd $$(dirname $$each) && npm audit --package-lock-only) || failed="$$failed $$each"; \
	done; \
	test -z "$$failed" || { echo "make vulnerabilities: some are found, or could not be asked for, in$$failed" >&2; exit 1; }

base: python-there ## make .venv: busproof and what it needs
	@$(ENVIRONMENT) $(BASE) build base

dev: python-there ## make .venv-dev: busproof and what its developers need
	@$(ENVIRONMENT) $(DEV) dev

clean: ## remove everything that is made here
	rm -rf .venv .venv-dev .venv-lock build dist src/*.egg-info .hypothesis .pytest_cache \
		.mypy_cache .ruff_cache .coverage .coverage.* reports/runs reports/conformance.html \
		reports/allure.html reports/allure-results site tools/*/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# `make lock` alone takes its tools unpinned: it is what pins.
.venv-lock/.installed: requirements/lock.in | python-there
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check -r requirements/lock.in
	@touch $@

python-there:
	@$(PYTHON) -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "make: $(PYTHON) must be Python 3.11 or later with its venv module (Debian, Ubuntu:" \
		"apt-get install python3-venv); PYTHON=… names another one" >&2; exit 1; }

node-there:
	@node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null || { \
		echo "make: Node.js 18 or later is missing; install it (Debian, Ubuntu: apt-get install nodejs) and try again" >&2; exit 1; }
