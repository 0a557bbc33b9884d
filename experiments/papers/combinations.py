"""Table 1: the sixteen combinations of NAST, RAVE, MAST and LGRF, in the paper's order and with its names."""

import attrs

ENHANCEMENTS = ("NAST", "RAVE", "MAST", "LGRF")  # the bullets of Table 1, left to right: N, R, M, L
_SIMULATION = {"MAST": "MAST", "LGRF": "LGRF", "NAST": "NAST2"}  # in the order in which the paper adds them up


@attrs.frozen
class Combination:
    """A row of Table 1.

    Attributes:
        name: such as "NML"; "-" for the baseline.
        enhancements: those marked with a bullet, a subset of `ENHANCEMENTS`.
        strategy: the specification, as `icarus.parse` reads it.
    """

    name: str
    enhancements: frozenset[str]
    strategy: str


def _strategy(enhancements: frozenset[str]) -> str:
    tree = "RAVE" if "RAVE" in enhancements else "BASELINE"
    parts = [name for enhancement, name in _SIMULATION.items() if enhancement in enhancements]
    if not parts:
        return tree
    return f"{tree} >> {parts[0]}" if len(parts) == 1 else f"{tree} >> ({' + '.join(parts)})/{len(parts)}"


def _combination(number: int) -> Combination:
    """Table 1 counts in binary, with NAST as the lowest digit."""
    subset = [enhancement for digit, enhancement in enumerate(ENHANCEMENTS) if number >> digit & 1]
    name = "".join(enhancement[0] for enhancement in subset) or "-"
    return Combination(name, frozenset(subset), _strategy(frozenset(subset)))


COMBINATIONS = tuple(_combination(number) for number in range(1 << len(ENHANCEMENTS)))
BY_NAME = {combination.name: combination for combination in COMBINATIONS}
