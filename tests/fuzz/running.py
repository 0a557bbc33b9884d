"""A claim tested on so many inputs that a seed draws."""

from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, settings
from hypothesis.database import DirectoryBasedExampleDatabase

from tests.fuzz.claims import CLAIMS

CORPUS = Path(__file__).parent / "corpus"
SEEDS = CORPUS / "seeds.txt"


def failed_before() -> Iterator[tuple[str, int]]:
    """Claims and seeds that did not hold together once."""
    for line in SEEDS.read_text(encoding="utf-8").splitlines():
        name, _, seed = line.partition(" ")
        yield name, int(seed)


def fuzz(claim: Callable[..., None], examples: int, seed: int) -> int:
    """How many inputs were tried; an input that fails raises, made as small as possible, and is tried first the next time."""
    tried = [0]

    def counted(**drawn: object) -> None:
        tried[0] += 1
        claim(**drawn)

    counted.__name__ = counted.__qualname__ = claim.__name__
    run = settings(
        max_examples=examples,
        deadline=None,
        database=DirectoryBasedExampleDatabase(CORPUS / "inputs"),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )(hypothesis.seed(seed)(hypothesis.given(**CLAIMS[claim])(counted)))
    run()
    return tried[0]
