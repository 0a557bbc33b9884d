"""The tables of docs/equilibrium.md follow from the committed rows."""

from pathlib import Path

from experiments.report.equilibrium_tables import table, tables
from experiments.store.measurements import EXPLOITABILITY, HEAD_TO_HEAD
from icarus.views.document import fill_places

ROOT = Path(__file__).parents[2]


def row(nash_conv, seed, **changes):
    fields = {"game": "kuhn-poker", "player": "OOS()", "iterations": 1000, "seed": seed, "nash_conv": nash_conv}
    return {**fields, "searches": 2, "processor_seconds": 0.5, **changes}


def test_a_cell_has_the_mean_the_interval_the_seeds_and_the_time_of_a_search():
    rows = [row(0.1, 0), row(0.2, 1), row(0.3, 2), row(0.4, 0, iterations=9000, searches=1000)]
    text = table(rows, {"kuhn-poker": "Kuhn"}, {"OOS()": "OOS", "ISMCTS()": "UCB1"}, lambda row: row["nash_conv"])
    assert text.splitlines()[2:] == [
        "| Kuhn | 1,000 | 0.200 ± 0.248 (3), 0.25 s |  |",
        "| Kuhn | 9,000 | 0.400 (1), under 1 ms |  |",
    ]


def test_the_page_is_as_its_rows_make_it():
    rows, blocks = (
        list(ledger.read(ROOT / "experiments/runs/equilibrium").values()) for ledger in (EXPLOITABILITY, HEAD_TO_HEAD)
    )
    page = (ROOT / "docs/equilibrium.md").read_text("utf-8")
    assert page.count("<!-- end -->") == 5 and fill_places(page, tables(rows, blocks)) == page, "make equilibrium"
