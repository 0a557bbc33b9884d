"""What is said of a game: how it has ended, how far a search has come, and what has failed."""

import traceback
from pathlib import Path

from icarus.commands.play.session import Session
from icarus.commands.play.worker import Task
from icarus.compiler.digest import PACKAGE

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")  # places that are not the last of eight
REWARDS = (-1.0, 1.0)  # what `Game.utilities` is where nothing is said


def failure_text(error: Exception) -> str:
    """What has failed, and where, if it is not one of this package's own sentences."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    if PACKAGE in Path(last.filename).parents:
        return str(error)
    return f"{type(error).__name__}: {error}, in {last.name} ({last.filename}, line {last.lineno})"


def progress_of(task: Task) -> str:
    """How much of its budget a search has spent; where it is not shown, nothing else, such as how fast it is."""
    agent, texts = task.agent, list[str]()
    assert agent is not None
    if agent.iterations is not None:
        texts.append(f"{task.iterations:,} of {agent.iterations:,} iterations")
    elif task.is_shown:
        texts.append(f"{task.iterations:,} iterations so far")
    if agent.seconds is not None:
        texts.append(f"{task.seconds:.0f} of {agent.seconds:g} s")
    return ", ".join(texts)


def ending_of(session: Session) -> str:
    """How a game has ended, first for the person who plays."""
    rewards, (least, most) = session.state.returns(), session.game.utilities
    # In the game's own units where it has them, such as chips; otherwise rewards from 0 to 1.
    gains = rewards if session.game.utilities == REWARDS else [least + (most - least) * reward for reward in rewards]
    every = ", ".join(f"{session.name_of(seat)}: {gain:g}" for seat, gain in enumerate(gains))
    every = f"{'rewards of ' if gains is rewards else 'won or lost: '}{every}"
    if len(session.people) != 1:
        return f"the game is over; {every}"
    return f"{_verdict(rewards, session.people[0])}; {every}"


def _verdict(rewards: list[float], seat: int) -> str:
    """What a game has come to for a seat, in words."""
    if len(rewards) == 1:
        return "the game is over"
    better = sum(reward > rewards[seat] for reward in rewards)
    if min(rewards) == max(rewards):
        return "the game is drawn"
    if better == 0:
        return "you have won"
    return "you have lost" if rewards[seat] == min(rewards) else f"you have come {ORDINALS[better]}"
