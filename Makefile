PYTHON ?= python3
TEST := .venv-test
DEMO := .venv-demo
BIN := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
SITE := build/site
RUN_KERNELS := tests/kernels tests/trees tests/banks tests/drift tests/metrics tests/learners tests/evaluation \
	tests/streams tests/fuzz tests/versions tests/live/test_worker.py tests/live/test_checkpoints.py

.PHONY: demo test test-bounds lint docs bench release-check clean

demo: $(DEMO)/ready
	$(DEMO)/$(BIN)/marlene demo

test: lint docs
	$(TEST)/$(BIN)/python -m pytest -n 2

# The tests that run kernels, with kernels that check every index; they are compiled for it, and kept apart.
test-bounds: $(TEST)/ready
	NUMBA_BOUNDSCHECK=1 MARLENE_CACHE=$(CURDIR)/build/checked $(TEST)/$(BIN)/python -m pytest -n 2 $(RUN_KERNELS)

lint: $(TEST)/ready
	$(TEST)/$(BIN)/ruff format --check .
	$(TEST)/$(BIN)/ruff check .
	$(TEST)/$(BIN)/mypy
	$(TEST)/$(BIN)/lint-imports

docs: $(TEST)/ready
	$(TEST)/$(BIN)/python tools/site.py $(SITE)

bench: $(TEST)/ready
	$(TEST)/$(BIN)/python -m benchmarks

release-check: $(TEST)/ready
	$(TEST)/$(BIN)/python tools/release.py

clean:
	rm -rf $(TEST) $(DEMO) .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(TEST)/ready: pyproject.toml constraints.txt tools/venv.py
	$(PYTHON) tools/venv.py $(TEST) dev
	@touch $@

$(DEMO)/ready: pyproject.toml constraints.txt tools/venv.py
	$(PYTHON) tools/venv.py $(DEMO) core
	@touch $@
