# Everything sets itself up: Python, pip and make are all that is needed.
PYTHON ?= python3
CORE := .venv
DEV := .venv-dev

.PHONY: demo test trial bench clean

demo: $(CORE)/installed
	$(CORE)/bin/tippingpoint demo

test: $(DEV)/installed
	$(DEV)/bin/ruff check .
	$(DEV)/bin/ruff format --check .
	$(DEV)/bin/mypy
	$(DEV)/bin/lint-imports
	$(DEV)/bin/pytest -n auto

# Hostile files, faults and extremes by the thousand, in a table; the tests try a few of each.
trial: $(DEV)/installed
	OMP_NUM_THREADS=1 $(DEV)/bin/python tests/hostile/trial.py $(or $(COUNT),1000) $(or $(SEED),0)

bench: $(DEV)/installed
	$(DEV)/bin/python benchmarks/hinge.py
	$(DEV)/bin/python benchmarks/network.py
	$(DEV)/bin/python benchmarks/features.py
	$(DEV)/bin/python benchmarks/blackbox.py

$(CORE)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(CORE)
	$(CORE)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(DEV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(DEV)
	$(DEV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,polars,parquet,plot,torch]'
	@touch $@

clean:
	rm -rf $(CORE) $(DEV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
