"""Table 1, as printed."""

from experiments.papers.combinations import COMBINATIONS
from experiments.papers.suite import TABLE_1

TABLE = """
-     | ....  | BASELINE
N     | N...  | BASELINE >> NAST2
R     | .R..  | RAVE
NR    | NR..  | RAVE >> NAST2
M     | ..M.  | BASELINE >> MAST
NM    | N.M.  | BASELINE >> (MAST + NAST2)/2
RM    | .RM.  | RAVE >> MAST
NRM   | NRM.  | RAVE >> (MAST + NAST2)/2
L     | ...L  | BASELINE >> LGRF
NL    | N..L  | BASELINE >> (LGRF + NAST2)/2
RL    | .R.L  | RAVE >> LGRF
NRL   | NR.L  | RAVE >> (LGRF + NAST2)/2
ML    | ..ML  | BASELINE >> (MAST + LGRF)/2
NML   | N.ML  | BASELINE >> (MAST + LGRF + NAST2)/3
RML   | .RML  | RAVE >> (MAST + LGRF)/2
NRML  | NRML  | RAVE >> (MAST + LGRF + NAST2)/3
"""
LETTERS = {"N": "NAST", "R": "RAVE", "M": "MAST", "L": "LGRF"}
PRINTED = [[part.strip() for part in line.split("|")] for line in TABLE.strip().splitlines()]


def test_the_sixteen_combinations_are_those_of_table_1_in_its_order():
    assert [(c.name, c.strategy) for c in COMBINATIONS] == [(name, strategy) for name, _, strategy in PRINTED]


def test_the_bullets_of_table_1_are_right():
    assert [c.enhancements for c in COMBINATIONS] == [
        {LETTERS[mark] for mark in marks if mark != "."} for _, marks, _ in PRINTED
    ]


def test_every_strategy_of_table_1_is_understood_and_written_back():
    from icarus import parse

    for strategy in TABLE_1.values():
        assert parse(str(parse(strategy))) == parse(strategy)


def test_the_strategies_of_table_1_are_all_different():
    from icarus import parse

    assert len({str(parse(strategy)) for strategy in TABLE_1.values()}) == 16
