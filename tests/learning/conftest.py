"""An evaluation of Kuhn poker that was learned in a moment."""

from typing import Any

import pytest

from icarus import learn

KUHN = "kuhn-poker"
JUDGE = "BASELINE [scheme = MO_ISMCTS with cutoff=0]"
SMALL: dict[str, Any] = {
    "games": 80,
    "rounds": 1,
    "deals": 2,
    "iterations": 8,
    "judge": JUDGE,
    "reference": "BASELINE",
    "generations": 2,
}


@pytest.fixture(scope="package")
def learned(tmp_path_factory):
    out = tmp_path_factory.mktemp("learned") / "kuhn.npz"
    return out, learn(KUHN, out=out, **SMALL)
