# Everything sets itself up: Python, pip and make are all that is needed.
PYTHON ?= python3
CORE := .venv
DEV := .venv-dev
LOWEST := .venv-lowest
NEWEST := .venv-newest
KERNELS := .venv-kernels
NATIVE := CMakeLists.txt $(wildcard src/tippingpoint/families/trees/native/*)
CORE_TESTS := api cli core data families/blackbox families/linear families/table families/trees losses preprocessing push query results space
EXTRAS := torch,foolbox,polars,pyarrow,dask,distributed,matplotlib,mlflow,skops,onnx,onnxruntime,skl2onnx,xgboost,lightgbm,catboost
PIP := -m pip install --quiet --disable-pip-version-check

.PHONY: demo test lint docs types kernels test-wheel test-lowest test-newest test-extras release coverage trial bench clean

demo: $(CORE)/installed
	$(CORE)/bin/tippingpoint demo

# The tests of the core have to take every branch of it by themselves; measuring all tests would take half as long again.
test: $(DEV)/installed
	$(MAKE) --no-print-directory -j2 lint test-wheel
	$(DEV)/bin/pytest -n auto tests/core --cov --cov-report=
	$(DEV)/bin/coverage report --include='*/core/*' --show-missing --fail-under=100
	$(DEV)/bin/pytest -n auto --ignore=tests/core

lint: $(DEV)/installed types
	$(DEV)/bin/ruff check .
	$(DEV)/bin/ruff format --check .
	$(DEV)/bin/mypy
	$(DEV)/bin/lint-imports

# The site in docs/_build/html: warnings are errors, the tutorials are run, and every link and file of it is looked for.
docs: $(DEV)/installed
	$(DEV)/bin/sphinx-build -W --keep-going -j auto docs docs/_build/html
	$(DEV)/bin/python docs/check_site.py docs/_build/html

# Whether type checkers of users know the type of every name.
types: $(DEV)/installed
	$(DEV)/bin/python tests/types/completeness.py

# Lines and branches of everything, by all tests.
coverage: $(DEV)/installed
	$(DEV)/bin/pytest -n auto --cov --cov-report=term-missing:skip-covered

# Compile the kernels among the sources, for every environment that runs these, and fail where that fails. After the first time
# only what changed is compiled.
kernels: $(KERNELS)/installed
	TIPPINGPOINT_KERNELS=1 $(KERNELS)/bin/python -c \
		'from scikit_build_core.build import build_editable; build_editable("build", {"build-dir": "build/kernels"})'

# Build sdist and wheel, install the wheel into a fresh environment outside the repository, and try it there; then without a compiler.
test-wheel: $(DEV)/installed
	$(DEV)/bin/python tests/wheel/build_and_try.py

# The tests of the core with the oldest dependencies that pyproject.toml claims, and no extra: tests of extras are skipped, and
# said. What the old versions warn of is theirs.
test-lowest: $(LOWEST)/installed
	$(LOWEST)/bin/pytest -n auto -W default --lacking $(EXTRAS) $(addprefix tests/,$(CORE_TESTS))

# The same tests with the newest that can be had, whatever constraints.txt says: what is deprecated there is an error here. PyTorch,
# of which the newest is gigabytes, is not among them. The environment is brought up to date every time.
test-newest:
	test -x $(NEWEST)/bin/python || $(PYTHON) -m venv $(NEWEST)
	$(NEWEST)/bin/python $(PIP) --upgrade --upgrade-strategy eager -e . hypothesis pytest pytest-randomly pytest-xdist cvxpy clarabel
	$(NEWEST)/bin/tippingpoint doctor
	$(NEWEST)/bin/pytest -n auto --lacking $(EXTRAS) $(addprefix tests/,$(CORE_TESTS))

# Each extra alone, from the wheel, in a fresh environment, and none: half an hour. `make test-extras WHICH="torch plot"` for some.
test-extras: $(DEV)/installed
	$(DEV)/bin/python tests/wheel/extras.py $(WHICH)

# A release: built twice, compared, checked, installed with every extra, and tried; it ends in dist/. CONTRIBUTING.md, "Releasing".
release: $(DEV)/installed
	$(DEV)/bin/python tests/wheel/release.py

# Hostile files, faults and extremes by the thousand, in a table; the tests try a few of each.
trial: $(DEV)/installed
	OMP_NUM_THREADS=1 $(DEV)/bin/python tests/hostile/trial.py $(or $(COUNT),1000) $(or $(SEED),0)

bench: $(DEV)/installed
	$(DEV)/bin/python benchmarks/hinge.py
	$(DEV)/bin/python benchmarks/network.py
	$(DEV)/bin/python benchmarks/features.py
	$(DEV)/bin/python benchmarks/blackbox.py
	$(DEV)/bin/python benchmarks/trees.py
	$(DEV)/bin/python benchmarks/scale.py
	$(DEV)/bin/python benchmarks/tables.py
	$(DEV)/bin/python benchmarks/repeats.py
	$(DEV)/bin/python benchmarks/drift.py

# Environments, and with them the compiled kernels wherever they can be compiled.
$(CORE)/installed: WANTED := -c constraints.txt -e .
$(DEV)/installed: WANTED := -c constraints.txt -e '.[dev,docs,polars,parquet,plot,torch]'
$(LOWEST)/installed: WANTED := -c constraints-lowest.txt -e . hypothesis pytest pytest-randomly pytest-xdist cvxpy clarabel
$(CORE)/installed $(DEV)/installed: constraints.txt
$(LOWEST)/installed: constraints-lowest.txt
$(CORE)/installed $(DEV)/installed $(LOWEST)/installed: pyproject.toml $(NATIVE)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python $(PIP) $(WANTED)
	@$(@D)/bin/python -c 'import sys; from tippingpoint.families.trees.kernels import kernels; sys.exit(not kernels())' \
		|| echo 'Without compiled kernels: tree ensembles take longer. `make kernels` says why they were not compiled.'
	@touch $@

$(KERNELS)/installed: constraints.txt
	$(PYTHON) -m venv $(KERNELS)
	$(KERNELS)/bin/python $(PIP) -c constraints.txt scikit-build-core nanobind \
		$(foreach tool,cmake ninja,$(if $(shell command -v $(tool)),,$(tool)))
	@touch $@

clean:
	rm -rf $(CORE) $(DEV) $(LOWEST) $(NEWEST) $(KERNELS) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage .coverage.* docs/_build docs/tutorials docs/reference/generated
	rm -f src/tippingpoint/families/trees/_kernels.*.so
