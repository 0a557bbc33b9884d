"""The bench's own figures, against numbers that one can do by hand."""

import json
from pathlib import Path

import pytest

import icarus
from icarus import bench


def test_a_file_of_rates_names_its_machine_and_is_not_written_over(tmp_path: Path) -> None:
    rates = {"BASELINE": (3.0, 1.0, 2.0), bench.RAW: (8.0,), bench.PEER: (0.5,), bench.PEER_RAW: (4.0,)}
    path, measured = tmp_path / "rates.json", [bench.Measurement("othello", *each) for each in rates.items()]
    bench.save(path, measured)
    content = json.loads(path.read_text())
    assert content["machine"]["cores"] >= 1 and content["machine"]["icarus"] == icarus.__version__
    assert content["measurements"][0]["median"] == 2.0
    assert {row["subject"]: row["ratio"] for row in content["ratios"]} == {"BASELINE": 4.0, bench.RAW: 2.0}
    with pytest.raises(FileExistsError):
        bench.save(path, measured)
