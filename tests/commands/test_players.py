"""Strategies on the command line with the settings that a race prints behind its winner."""

import pytest

from icarus import MAST
from icarus.commands.cli import run
from icarus.commands.options import agent_settings
from icarus.engine.scheme import MO_ISMCTS, SO_ISMCTS


@pytest.mark.parametrize(
    ("text", "scheme", "decay"),
    [
        ("MAST", SO_ISMCTS, 0.25),  # by the options
        ("MAST   [move_decay = 0.5]", SO_ISMCTS, 0.5),
        ("MAST   [scheme = MO_ISMCTS with cutoff=4]", MO_ISMCTS.with_cutoff(4), 0.25),
        ("MAST [scheme = MO_ISMCTS with cutoff=4, move_decay = 1.0]", MO_ISMCTS.with_cutoff(4), 1.0),
    ],
)
def test_what_stands_in_brackets_goes_before_the_options(text: str, scheme: object, decay: float) -> None:
    assert agent_settings(text, {}, SO_ISMCTS, 0.25) == {"strategy": MAST, "scheme": scheme, "move_decay": decay}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["match", "kuhn-poker", "MAST [scheme = NONE]", "MAST"], "'NONE' is not a scheme"),
        (["match", "kuhn-poker", "MAST [decay = 1]", "MAST"], "the strategy 'MAST [decay = 1]' cannot be read"),
        (["play", "kuhn-poker", "--against", "MAST [move_decay = 1]"], "icarus play searches each position anew"),
        (["exploitability", "kuhn-poker", "--strategy", "MAST [move_decay = 1]"], "searches each decision anew"),
    ],
)
def test_settings_that_cannot_be_taken_are_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    assert run(arguments) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())
