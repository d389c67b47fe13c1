PYTHON ?= python3
TEST := .venv-test
DEMO := .venv-demo
SITE := build/site

.PHONY: demo test lint docs bench clean

demo: $(DEMO)/ready
	$(DEMO)/bin/marlene demo

test: lint docs
	$(TEST)/bin/python -m pytest -n 2

lint: $(TEST)/ready
	$(TEST)/bin/ruff format --check .
	$(TEST)/bin/ruff check .
	$(TEST)/bin/mypy
	$(TEST)/bin/lint-imports

docs: $(TEST)/ready
	$(TEST)/bin/python tools/site.py $(SITE)

bench: $(TEST)/ready
	$(TEST)/bin/python -m benchmarks

clean:
	rm -rf $(TEST) $(DEMO) .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(TEST)/ready: pyproject.toml constraints.txt tools/venv.py
	$(PYTHON) tools/venv.py $(TEST) dev
	@touch $@

$(DEMO)/ready: pyproject.toml constraints.txt tools/venv.py
	$(PYTHON) tools/venv.py $(DEMO) core
	@touch $@
