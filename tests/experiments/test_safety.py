"""Nothing is overwritten, nothing is read by surprise, and names are shown as they are."""

import json

import pytest

from experiments.commands.main import main
from experiments.plan.definition import Refusal
from experiments.plan.loading import build
from experiments.store import rows as store
from experiments.store.export import query
from icarus.views.document import Heading, Table, markdown
from tests.experiments.conftest import a_row, keep


@pytest.fixture
def run(tmp_path):
    """Two games kept."""
    experiment = build({"name": "mine", "games": "othello", "trials": 2, "iterations": 5, "agents": ["RAVE"]})
    return keep(tmp_path / "run", experiment, [a_row(experiment.cells[0], trial) for trial in range(2)])


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# ------------------------------------------------------------------------------------------------------------- query


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('{secret}', header = false)",
        "SELECT * FROM '{secret}'",
        "COPY games TO '{out}'",
        "COPY (SELECT 1) TO '{rows}'",
        "ATTACH '{out}' AS other",
        "EXPORT DATABASE '{out}'",
        "SET enable_external_access = true",
        "INSTALL httpfs",
        "SELECT * FROM content",
    ],
)
def test_a_query_sees_nothing_but_the_games(run, tmp_path, sql):
    secret, out = tmp_path / "secret.csv", tmp_path / "out"
    secret.write_text("password\n")
    before = contents(run)
    content = [("of", "this process")]  # a name that a query may not see either
    with pytest.raises(Refusal):
        query(run, sql.format(secret=secret, out=out, rows=run / store.RESULTS))
    assert contents(run) == before and not out.exists() and content


def test_a_query_reads_files_where_it_may(run, tmp_path):
    (tmp_path / "more.csv").write_text("7\n")
    sql = f"SELECT * FROM read_csv('{tmp_path / 'more.csv'}', header = false)"
    assert query(run, sql, allow_files=True)[1] == [(7,)]


def test_all_columns_can_be_asked_for(run, capsys):
    names, rows = query(run, "SELECT * FROM games ORDER BY trial")
    row = dict(zip(names, rows[0], strict=True))
    assert len(rows) == 2 and row["started"].isoformat().startswith("2020-01-01")
    assert main(["query", str(run), "SELECT *, now() FROM games"]) == 0


# ------------------------------------------------------------------------------------------------------------- names


def test_markdown_shows_names_letter_by_letter(tmp_path):
    name = "a|b *c* `d` [e](http://f) <script> _g_ h_i &amp; \\j\nk"
    shown = "a\\|b \\*c\\* \\`d\\` \\[e](http://f) \\<script> \\_g\\_ h_i \\&amp; \\\\j k"
    text = markdown(name, [Heading(name), Table("", [name], [[name]])], tmp_path)
    assert text == f"# {shown}\n\n## {shown}\n\n| {shown} |\n| --- |\n| {shown} |\n"


def test_markdown_of_plain_texts_is_these_texts(tmp_path):
    plain = "BASELINE >> mast(epsilon_greedy(epsilon=0.2)), < 0.0001, -4.6 %, +3"
    assert markdown(plain, [], tmp_path) == f"# {plain}\n"


# ------------------------------------------------------------------------------------------------------ experiment.json


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e999"])
@pytest.mark.parametrize("key", ["seed", "trials"])
def test_a_number_that_is_none_in_experiment_json_is_told_in_a_sentence(run, capsys, key, number):
    path = run / store.EXPERIMENT
    settings = json.loads(path.read_text())
    path.write_text(json.dumps(settings | {key: "HERE"}).replace('"HERE"', number))
    assert main(["status", str(run)]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"experiments: {path} is damaged: ") and message.count("\n") == 1
