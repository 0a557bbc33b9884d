# Every target sets up all it needs: Python 3.11 or newer, make and a package registry are enough.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: suite campaign test slow bench clean

suite: .venv/experiments        # the main job, small: Table 1 on Othello and Knockout Whist, with its pictures
	$(BIN)/python -m experiments run figure4 --games othello,knockout-whist --trials 8 --iterations 200 --out results/suite

campaign: .venv/experiments     # section 8 at the paper's size, at the lowest priority, until all is decided; continues where it stopped
	$(BIN)/python -m experiments campaign

test: .venv/test                # everything that is checked before a change lands
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup

slow: .venv/test                # the same with the full counts of games and determinizations
	$(BIN)/python -m pytest -q -n 2 --dist loadgroup --slow

bench: .venv/test               # speed beside OpenSpiel, memory, starts, and growth with its picture
	mkdir -p results
	$(BIN)/icarus bench --memory 100000 --starts --growth 6 --picture results/growth.png --json results/bench-$$(date +%Y%m%d-%H%M%S).json

.venv/%: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	touch $@

clean:
	rm -rf .venv results
