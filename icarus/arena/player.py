"""Who plays, as text that rows can hold."""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from icarus import games
from icarus.algebra import Enhancement, parsing
from icarus.algebra.parsing import Operand
from icarus.engine.match import Agent, Player
from icarus.engine.scheme import MO_ISMCTS, parse_scheme
from icarus.engine.search import Algorithm
from icarus.kernel import AnyGame, Evaluation, State, read_evaluation
from icarus.load_files import load_files
from icarus.specs import NAMES

DEFAULT_ITERATIONS = 5000
EVALUATION = ".npz"  # the end of the name of a file of a learned evaluation

# ------------------------------------------------------------------------------------------- strategies and other algorithms


class AlgorithmSettings(Algorithm):
    """An algorithm whose text is a call with what differs from the defaults."""

    __slots__ = ()

    def __str__(self) -> str:
        texts = []
        for field in attrs.fields(type(self)):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value != field.default:
                texts.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(texts)})"

    __repr__ = __str__


_ALGORITHMS: dict[str, tuple[type[Algorithm], str]] = {}


def register(kind: type[Algorithm], title: str) -> None:
    """Have texts name an algorithm.

    Args:
        title: what messages call it.
    """
    _ALGORITHMS[kind.__name__] = kind, title


def names_algorithm(text: str) -> bool:
    """Whether a text begins like the settings of an algorithm, such as "OOS(delta=0.5)"."""
    return isinstance(text, str) and text.split("(")[0].strip() in _ALGORITHMS


def parse_algorithm(text: str) -> Algorithm:
    """The settings written so: "OOS", "OOS(delta=0.5)"; `parse_algorithm(str(settings)) == settings`.

    Raises:
        ValueError: there are no such settings; the message names the valid ones.
    """
    if not names_algorithm(text):
        known_names = ", ".join(f"{name}()" for name in _ALGORITHMS)
        raise ValueError(f"{text!r} is not an algorithm; known algorithms: {known_names}")
    name = text.split("(")[0].strip()
    kind, title = _ALGORITHMS[name]
    names = [field.name for field in attrs.fields(kind)]  # type: ignore[arg-type]
    try:
        call = ast.parse(text.strip() if "(" in text else f"{name}()", mode="eval").body
        assert isinstance(call, ast.Call) and not call.args
        values = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
        assert values.keys() <= set(names)
    except (AssertionError, SyntaxError, TypeError, ValueError):
        example = f"{title} as {name}({names[min(1, len(names) - 1)]}=…) with any of {', '.join(names)}, or as {name}()"
        raise ValueError(f"{text!r} is not a search; write {example}") from None
    return kind(**values)


def parse_strategy(text: str, enhancements: Mapping[str, Operand]) -> Enhancement | Algorithm:
    """The composition or the algorithm that a text describes.

    Args:
        enhancements: of one's own, by name.

    Raises:
        ValueError: it cannot be understood.
    """
    return parse_algorithm(text) if names_algorithm(text) else parsing.parse(text, {**NAMES, **enhancements})


# -------------------------------------------------------------------------------------------------------------------- players


@attrs.frozen
class Configuration:
    """A strategy, and how it searches; all as text.

    Attributes:
        strategy: as `parse_strategy` reads it.
        scheme: as `icarus.parse_scheme` reads it, with its cut-off.
        move_decay: see `icarus.Agent`.
        evaluation: the file of a learned evaluation, and its digest: "othello.npz@1f0c2b9a6e55"; "" without one.
    """

    strategy: str
    scheme: str = str(MO_ISMCTS)
    move_decay: float = 0.0
    evaluation: str = ""

    def agent(self, names: Mapping[str, Operand] = NAMES, **settings: Any) -> Agent:
        """The player of a match.

        Args:
            names: enhancements of one's own that the strategy may name.
            settings: its budget, and what else an `icarus.Agent` takes.

        Raises:
            ValueError: the strategy or the scheme cannot be read.
        """
        strategy, evaluation = parse_strategy(self.strategy, names), evaluation_of(self.evaluation)
        how = {"scheme": parse_scheme(self.scheme), "move_decay": self.move_decay, "evaluation": evaluation}
        return Agent(strategy, **how, **settings)

    def __str__(self) -> str:
        usual = Configuration(self.strategy)
        changed = [f"{name} = {value}" for name, value in attrs.asdict(self).items() if value != getattr(usual, name)]
        return self.strategy + (f"   [{', '.join(changed)}]" if changed else "")


def evaluation_of(text: str) -> Evaluation | None:
    """The evaluation of a configuration; None for "".

    Raises:
        OSError, ValueError: its file cannot be read, is no evaluation, or has another digest by now.
    """
    if not text:
        return None
    file, _, digest = text.partition("@")
    evaluation = read_evaluation(file)
    if digest not in ("", evaluation.digest):
        raise ValueError(f"{file} is another evaluation by now: {evaluation.digest}, not {digest}")
    return evaluation


_TEXT = re.compile(
    r"(?P<strategy>.+?)(\s+\[(scheme = (?P<scheme>.+?))?(, )?(move_decay = (?P<decay>[0-9.]+(e-[0-9]+)?))?"
    r"(, )?(evaluation = (?P<evaluation>[^\]]+?))?\])?"
)


def read_configuration(text: str) -> Configuration:
    """The configuration that a text of `str(configuration)` stands for.

    Raises:
        ValueError: `text` is not a configuration. TypeError: it is no text.
    """
    if not isinstance(text, str):
        raise TypeError(f"a configuration must be a Configuration or a str, such as 'RAVE >> MAST', not {text!r}")
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a configuration")
    file, evaluation = match["evaluation"] or "", evaluation_of(match["evaluation"] or "")
    learned = "" if evaluation is None else f"{file.partition('@')[0]}@{evaluation.digest}"
    return Configuration(match["strategy"], match["scheme"] or str(MO_ISMCTS), float(match["decay"] or 0), learned)


@attrs.frozen
class Entrant:
    """Who plays in a match: a configuration with the budget of each decision; random play without one, or in a share of the moves."""

    configuration: Configuration | None = None
    iterations: int | None = None
    seconds: float | None = None
    random: float = 0.0

    def player(self, names: Mapping[str, Operand]) -> Player:
        """The player for `icarus.play`; `names` as for `icarus.parse`."""
        if self.configuration is None:
            return RandomPlayer()
        agent = self.configuration.agent(names, iterations=self.iterations, seconds=self.seconds)
        return RandomPlayer(self.random, agent) if self.random else agent

    def __str__(self) -> str:
        budget = f"{self.seconds} s" if self.iterations is None else f"{self.iterations} iterations"
        return "random play" if self.configuration is None else f"{self.configuration}, {budget}"


@attrs.frozen
class LoadedGame:
    """A game, what files define for strategies to name, and these files."""

    game: AnyGame
    names: Mapping[str, Operand]
    files: Sequence[Path]

    def agent(
        self, text: str, scheme: str = str(MO_ISMCTS), cutoff: int | None = None, move_decay: float = 0, **settings: Any
    ) -> Agent:
        """An agent by its options; "[scheme = …, move_decay = …]" at the end of the text, as a race prints it, takes their place.

        Args:
            settings: as of an `icarus.Agent`, with DEFAULT_ITERATIONS where neither they nor a time are given.

        Raises:
            ValueError: the strategy or an option cannot be understood, or the strategy cannot play the game.
        """
        player = read_configuration(text) if text.rstrip().endswith("]") else Configuration(text)
        if player.scheme == Configuration(text).scheme:
            player = attrs.evolve(player, scheme=str(parse_scheme(scheme).with_cutoff(cutoff)))
        if settings["iterations"] is settings["seconds"] is None:
            settings["iterations"] = DEFAULT_ITERATIONS
        agent = attrs.evolve(player, move_decay=player.move_decay or move_decay).agent(self.names, **settings)
        if isinstance(agent.strategy, Algorithm):
            agent.strategy.check_playable(self.game)
        return agent


def load_game(game: str | AnyGame, files: Iterable[str | Path]) -> LoadedGame:
    """A game by its name, which may be that of a game in one of the files, or itself; with these files.

    Args:
        files: of Python, with games and enhancements; and one with a learned evaluation, which the game then has.

    Raises:
        ValueError: see `load_files`, `games.load` and `AnyGame.with_evaluation`.
    """
    paths = [Path(file) for file in files]
    evaluations = [path for path in paths if path.suffix == EVALUATION]
    names = load_files([path for path in paths if path not in evaluations])
    loaded = games.load(game) if isinstance(game, str) else game
    for path in evaluations:
        loaded = loaded.with_evaluation(path)
    return LoadedGame(loaded, names, paths)


class ChosenAction:
    """What `play` reads of a search, where nothing was searched: an action, and no statistics."""

    def __init__(self, action: int, seconds: float = 0.0) -> None:
        self.action, self.seconds = action, seconds
        self.actions, self.visits, self.values = (action,), (0,), (0.0,)
        self.iterations = self.depth = 0


@attrs.frozen
class RandomPlayer:
    """Plays any legal action, each as likely: the zero of every ladder; or does so in a share of the moves, and plays others as another."""

    share: float = 1.0
    other: Any = None

    def seated(self, game: AnyGame) -> "RandomPlayer":
        return self if self.other is None else RandomPlayer(self.share, self.other.seated(game))

    def search(self, state: State, seed: Sequence[int]) -> Any:
        luck = np.random.default_rng(seed)
        if self.other is not None and luck.random() >= self.share:
            return self.other.search(state, seed)
        return ChosenAction(int(luck.choice(state.legal_actions())))

    def __str__(self) -> str:
        return "random"
