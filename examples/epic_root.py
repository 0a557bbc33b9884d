"""An experiment as a file: does it matter that (EPIC-6) visits the record of the move to the root in every iteration?

python -m experiments run examples/epic_root.py --out results/epic-root
"""

import attrs

from icarus import EPIC
from icarus.specs.epic import capture_positions

EPIC_AFTER_ROOT = attrs.evolve(EPIC, name="EPIC_AFTER_ROOT", capture=capture_positions(first=1))

EXPERIMENT = {
    "games": ["dou-di-zhu", "knockout-whist(players=2)"],
    "iterations": 300,
    "trials": 1000,
    "paired": True,
    "opponent": "EPIC",
    "agents": {"literal": EPIC, "after the root": EPIC_AFTER_ROOT},
}
