"""Generations: games against itself, a fit to their positions, and a match that says whether it plays better than the one before.

Nothing but the settings decides what is played, so that the same settings and generations give the same evaluation, whoever plays. What is
kept, in a directory, are the rows of all games and the evaluation of each generation; the same call goes on from there.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import msgspec
import numpy as np

from icarus import checks
from icarus.arena.ledger import GameRow, Ledger, check_settings, write_settings, write_whole
from icarus.arena.match import Files, Match, load_unedited
from icarus.arena.player import Configuration, Entrant
from icarus.arena.workers import ALONE, Workers
from icarus.engine.match import first_state
from icarus.engine.scheme import MO_ISMCTS
from icarus.kernel import AnyGame, Evaluation, read_evaluation
from icarus.kernel.evaluation import facts_in, rules_of
from icarus.learn.encoding import fields_of, names_of
from icarus.learn.fitting import HELD_OUT, LEAST_HELD_OUT, Fit, Positions, Shape, begun

SETTINGS, ROWS = "learning.json", "games.jsonl"
KEY = ("stage", "generation", "opponent", "number", "seat")  # the fields of a row that name its game
SELF_PLAY, JUDGING = "self-play", "match"
STAGES = (SELF_PLAY, "fit", JUDGING)
SAMPLED = 200  # games whose states say which facts vary
