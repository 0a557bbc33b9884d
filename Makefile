# Every target sets up all it needs: Python 3.11 or newer, make and a package registry are enough.
PYTHON ?= python3
BIN := .venv/bin

SMOKE := tests/test_checks.py tests/test_documents.py tests/algebra/test_algebra.py tests/commands/test_own_files.py

.PHONY: suite test coverage pythons slow faults fuzz bench docs shipped wheel release clean

suite: .venv/experiments        # the main job, small: Table 1 and Figure 3 in Othello, where NAST's effect is seen
	$(BIN)/python -m experiments run figure4 --games othello --trials 8 --iterations 1000 --out results/suite

test: .venv/test                # everything that is checked before a change lands
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder

coverage: .venv/test            # the same tests, slower, with the share of lines that they run; what runs as machine code is not counted
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --cov --cov-report=term:skip-covered

# The versions that the package supports: a few tests on each other version that is installed, also by pyenv, and a line for each missing one.
pythons: .venv/test
	@for version in 3.11 3.12 3.13; do \
	    if $(BIN)/python -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$$version')"; then continue; fi; \
	    python="env PYENV_VERSION=$$version python$$version"; \
	    if ! $$python -c '' 2>/dev/null; then echo "Python $$version: not installed, skipped"; continue; fi; \
	    echo "Python $$version:" && \
	    if ! test .venv-$$version/complete -nt pyproject.toml; then \
	        $$python -m venv --clear .venv-$$version && \
	        .venv-$$version/bin/pip install --quiet --no-compile --disable-pip-version-check --editable . pytest hypothesis && \
	        touch .venv-$$version/complete || exit 1; \
	    fi; \
	    .venv-$$version/bin/python -m pytest -q $(SMOKE) || exit 1; \
	done

slow: .venv/test                # the same with the full counts of games and determinizations
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --slow

faults: .venv/test              # 440 faults: kills, torn and foreign files, full disks, edited rules, dripping engines; each against an undisturbed run
	$(BIN)/python -m pytest -q --slow tests/faults

MINUTES ?= 60
fuzz: .venv/test                # random strategies, searches, command lines and files for an hour, or MINUTES=5; what fails is kept
	@end=$$(($$(date +%s) + 60 * $(MINUTES))); while [ $$(date +%s) -lt $$end ]; do \
	    $(BIN)/python -m pytest -q -x tests/fuzz --hypothesis-profile=fuzz --hypothesis-seed=$$(date +%s) || exit 1; \
	done

bench: .venv/test               # iterations a second of all games and a typical seven strategies, beside OpenSpiel
	mkdir -p results
	$(BIN)/python -m experiments.studies.rates | tee results/bench-$$(date +%Y%m%d-%H%M%S).txt

docs: .venv/docs                # the pages in docs/_build/html: every cell is run, and a warning or a dead link is an error
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

shipped: .venv/test             # the machine code of the playout loop that the package brings, after a change of its sources; the same bytes each time
	$(BIN)/python -m tests.compiler.test_shipped

wheel: .venv/test               # a wheel and an sdist in dist/, with the machine code of the games; both are tried in empty environments of each Python that is here
	$(BIN)/python -m tests.compiler.test_shipped games
	$(BIN)/python -m pytest -q --slow tests/test_distribution.py

release: wheel docs             # all that a release uploads, in dist/: wheel, sdist, and the documents
	tar -czf dist/icarus_mcts-$$($(BIN)/python -c 'import icarus; print(icarus.__version__)')-docs.tar.gz -C docs/_build html

.venv/%: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '.[$*]'
	touch $@

clean:
	rm -rf .venv .venv-* dist results
