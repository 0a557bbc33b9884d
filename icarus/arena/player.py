"""Who plays, as text that rows can hold."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import msgspec
import numpy as np

from icarus import checks, games
from icarus.algebra import Enhancement, parsing
from icarus.algebra.parsing import Operand
from icarus.engine.lowering import reads_heuristic
from icarus.engine.match import Agent, ChosenAction, Player
from icarus.engine.scheme import MO_ISMCTS, Scheme, parse_scheme
from icarus.engine.search import Algorithm, SearchResult
from icarus.kernel import AnyGame, Evaluation, State, read_evaluation
from icarus.load_files import load_files
from icarus.specs import NAMES

DEFAULT_ITERATIONS = 5000
RANDOM_PLAY = "random play"
EVALUATION = ".npz"  # the end of the name of a file of a learned evaluation
_SHARE_STREAM = 1  # of random numbers of a decision: whether it is random

# ------------------------------------------------------------------------------------------- strategies and other algorithms


class AlgorithmSettings(Algorithm):
    """An algorithm whose text is a call with what differs from the defaults."""

    __slots__ = ()

    def __str__(self) -> str:
        texts = []
        for field in attrs.fields(type(self)):  # type: ignore[arg-type]
            value = checks.own_number(getattr(self, field.name))
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
        assert values.keys() <= set(names) and len(values) == len(call.keywords)
    except (AssertionError, SyntaxError, TypeError, ValueError):
        # by the second setting, where there are two
        example = (
            f"{title} as {name}({names[:2][-1]}=…) with any of {', '.join(names)}, or as {name}()"
        )
        raise ValueError(f"{text!r} is not a search; write {example}") from None
    return kind(**values)


def parse_strategy(text: str, enhancements: Mapping[str, Operand]) -> Enhancement | Algorithm:
    """The composition or the algorithm that a text describes.

    Args:
        enhancements: of one's own, by name.

    Raises:
        ValueError: it cannot be understood.
    """
    if names_algorithm(text):
        return parse_algorithm(text)
    return parsing.parse(text, {**NAMES, **enhancements})


# -------------------------------------------------------------------------------------------------------------------- players


@attrs.frozen
class Entrant:
    """Who plays in a match: a strategy, how it searches, and the budget of each decision; all as rows and files can hold it.

    Every setting but the strategy is optional. One more needs a field here, with its default, and nothing else: texts (`read_entrant`),
    `settings`, and the keywords of the `icarus.Agent` follow from the fields.

    Attributes:
        strategy: as `parse_strategy` reads it; empty for random play.
        scheme: as `icarus.parse_scheme` reads it, with its cut-off.
        move_decay: see `icarus.Agent`.
        random_moves: the share of its decisions that are random.
        evaluation: the file of a learned evaluation, and its digest: "othello.npz@1f0c2b9a6e55"; empty for the game's own heuristic.
        iterations, seconds: see `icarus.Agent`; in a race, whose protocol has the budget of all, both are None.
    """

    strategy: str = ""
    scheme: str = str(MO_ISMCTS)
    move_decay: float = 0.0
    random_moves: float = 0.0
    evaluation: str = ""
    iterations: int | None = None
    seconds: float | None = None

    def __attrs_post_init__(self) -> None:
        checks.real("random_moves", self.random_moves, 0, 1)

    def settings(self, *besides: str) -> dict[str, Any]:
        """The strategy, what is not as usual, and the settings of these names, as JSON can hold them."""
        always = "strategy", *besides
        return attrs.asdict(
            self, filter=lambda field, value: field.name in always or value != field.default
        )

    @property
    def search(self) -> Scheme:
        """The scheme that its text describes."""
        return parse_scheme(self.scheme)

    @property
    def text(self) -> str:
        """The strategy, the scheme where it is not the usual one, and an evaluation: as keys and rows of experiments have it."""
        text = self.strategy if self.search == MO_ISMCTS else f"{self.strategy} by {self.scheme}"
        return f"{text} with {self.evaluation}" if self.evaluation else text

    @property
    def caption(self) -> str:
        """The same as people must read it: a scheme that looks at hidden things says so."""
        text = self.search.label(self.strategy)
        return f"{text} with {self.evaluation}" if self.evaluation else text

    def agent(self, names: Mapping[str, Operand] = NAMES, **settings: Any) -> Agent:
        """The agent, whatever share of its decisions is random.

        Args:
            names: enhancements of one's own that the strategy may name.
            settings: what it has besides, such as a budget.

        Raises:
            ValueError: the strategy or the scheme cannot be read, or it is random play.
        """
        if not self.strategy:
            raise ValueError(
                "the strategy is empty: random play does not search; write one like RAVE >> MAST"
            )
        keywords = self.settings("scheme") | settings
        strategy = parse_strategy(keywords.pop("strategy"), names)
        scheme = parse_scheme(keywords.pop("scheme"))
        keywords.pop("random_moves", None)
        evaluation = evaluation_of(keywords.pop("evaluation", ""))
        return Agent(strategy, scheme=scheme, evaluation=evaluation, **keywords)

    def player(self, names: Mapping[str, Operand] = NAMES, **settings: Any) -> Player:
        """The player for `icarus.play`; arguments and errors as of `agent`."""
        if not self.strategy:
            return RandomPlayer()
        agent = self.agent(names, **settings)
        return PartlyRandom(agent, share=self.random_moves) if self.random_moves else agent

    def __str__(self) -> str:
        if not self.strategy:
            return RANDOM_PLAY
        changed = [
            f"{name} = {value}"
            for name, value in self.settings().items()
            if name not in _NOT_LISTED
        ]
        text = self.strategy
        if changed:
            text += f"   [{', '.join(changed)}]"
        if self.iterations is not None:
            text += f", {self.iterations} iterations"
        if self.seconds is not None:
            text += f", {self.seconds} s"
        return text


# at the end of an evaluation's text; a path may have other signs like it
_DIGEST = re.compile(r"@[0-9a-f]{12}\Z")


def evaluation_of(text: str) -> Evaluation | None:
    """The evaluation that an entrant names; None for "".

    Raises:
        OSError, ValueError: its file cannot be read, is no evaluation, or has another digest by now.
    """
    if not text:
        return None
    file = _DIGEST.sub("", text)
    evaluation = read_evaluation(file)
    digest = text.removeprefix(file)[1:]
    if digest not in ("", evaluation.digest):
        raise ValueError(f"{file} is another evaluation by now: {evaluation.digest}, not {digest}")
    return evaluation


def with_digest(text: str) -> str:
    """An entrant's evaluation with the digest of its file, as rows have it; arguments and errors as of `evaluation_of`."""
    evaluation = evaluation_of(text)
    return "" if evaluation is None else f"{_DIGEST.sub('', text)}@{evaluation.digest}"


_NOT_LISTED = ("strategy", "iterations", "seconds")  # in the brackets of a text
_NAME = f"(?:{'|'.join(field.name for field in attrs.fields(Entrant)[1:])})"
_TEXT = re.compile(
    rf"(?P<strategy>.+?)(?:\s+\[(?P<settings>{_NAME} = .+)\])?"
    r"(?:, (?P<iterations>\S+) iterations)?(?:, (?P<seconds>\S+) s)?"
)
_SETTING = re.compile(rf"({_NAME}) = (.+?)(?:, (?={_NAME} = )|$)")


def read_entrant(text: str | Entrant, folder: Path | None = None) -> Entrant:
    """The entrant that a text of `str(entrant)` stands for; or itself. Its evaluation has the digest of its file.

    Args:
        folder: where the entrant's evaluation is looked for first, by its name and digest.

    Raises:
        ValueError: `text` is not one, it has a budget, which all players have in common, or see `evaluation_of`. TypeError: it is no
            text. OSError: see `evaluation_of`.
    """
    entrant = text if isinstance(text, Entrant) else _entrant_of(text)
    if entrant.iterations is not None or entrant.seconds is not None:
        raise ValueError(
            f"{str(entrant)!r} has a budget of its own; leave it out, and give iterations or seconds of all who play"
        )
    evaluation = entrant.evaluation
    if folder is not None and evaluation:
        try:
            return attrs.evolve(entrant, evaluation=with_digest(str(folder / evaluation)))
        except (OSError, ValueError):
            if not Path(_DIGEST.sub("", evaluation)).exists():
                raise
    return attrs.evolve(entrant, evaluation=with_digest(evaluation))


def _entrant_of(text: str) -> Entrant:
    if not isinstance(text, str):
        raise TypeError(
            f"who plays must be an Entrant or a str, such as 'RAVE >> MAST', not {text!r}"
        )
    if text.strip() == RANDOM_PLAY:
        return Entrant()
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} does not say who plays")
    settings = match.groupdict()
    settings |= dict(_SETTING.findall(settings.pop("settings") or ""))
    try:
        return msgspec.convert(settings, Entrant, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(f"{text!r} does not say who plays: {error}") from None


@attrs.frozen
class LoadedGame:
    """A game, what files define for strategies to name, and these files."""

    game: AnyGame
    names: Mapping[str, Operand]
    files: Sequence[Path]

    def agent(
        self,
        text: str,
        scheme: str = str(MO_ISMCTS),
        cutoff: int | None = None,
        move_decay: float = 0,
        **settings: Any,
    ) -> Agent:
        """An agent by its options; "[scheme = …, move_decay = …]" at the end of the text, as a race prints it, takes their place.
        A cut-off is that of the brackets, or where they have none, that of the option.

        Args:
            settings: as of an `icarus.Agent`, with DEFAULT_ITERATIONS where neither they nor a time are given.

        Raises:
            ValueError: the strategy or an option cannot be understood, or the strategy cannot play the game.
        """
        player = read_entrant(text) if text.rstrip().endswith("]") else Entrant(text)
        if player.random_moves:
            raise ValueError(
                f"{text!r} is to play at random, which no search does; leave out random_moves"
            )
        # `str(entrant)` leaves defaults out: a text that names another scheme keeps it, any other text has that of the option.
        chosen = player.search
        if player.scheme == Entrant().scheme:
            chosen = parse_scheme(scheme).with_cutoff(cutoff)
        elif chosen.cutoff is None:
            chosen = chosen.with_cutoff(cutoff)
        player = attrs.evolve(player, scheme=str(chosen))
        if settings.get("iterations") is None and settings.get("seconds") is None:
            settings["iterations"] = DEFAULT_ITERATIONS
        agent = attrs.evolve(player, move_decay=player.move_decay or move_decay).agent(
            self.names, **settings
        )
        if isinstance(agent.strategy, Algorithm):
            agent.strategy.check_playable(self.game)
        return agent

    def hints(self, agents: Sequence[Agent]) -> Iterator[str]:
        """What a person should know before some agents search: that none of them reads the learned evaluation that is given."""
        is_given = any(file.suffix == EVALUATION for file in self.files)
        is_read = any(reads_heuristic(agent.strategy, agent.scheme) for agent in agents)
        if is_given and not is_read:
            names = ", ".join(dict.fromkeys(str(agent.strategy) for agent in agents))
            yield (
                f"the evaluation has no effect: no playout is cut off, and no heuristic is read by {names}; "
                'a strategy that reads it is "PUCT >> BASELINE [scheme = MO_ISMCTS with cutoff=0]"'
            )


def load_game(game: str | AnyGame, files: Iterable[str | Path]) -> LoadedGame:
    """A game by its name, which may be that of a game in one of the files, or itself; with these files.

    Args:
        files: of Python, with games and enhancements; and one with a learned evaluation, which the game then has.

    Raises:
        ValueError: see `load_files`, `games.load` and `AnyGame.with_evaluation`.
    """
    paths = [Path(file) for file in files]
    names = load_files([path for path in paths if path.suffix != EVALUATION])
    return LoadedGame(game_with(game, paths), names, paths)


def game_with(game: str | AnyGame, files: Iterable[Path]) -> AnyGame:
    """A game by its name, or itself, with the evaluation that is among some files; errors as of `load_game`."""
    loaded = games.load(game) if isinstance(game, str) else game
    for path in files:
        if path.suffix == EVALUATION:
            loaded = loaded.with_evaluation(path)
    return loaded


class RandomPlayer:
    """Plays any legal action, each as likely: the zero of every ladder."""

    def seated(self, game: AnyGame) -> "RandomPlayer":
        return self

    def search(self, state: State, seed: Sequence[int]) -> ChosenAction:
        return ChosenAction(int(np.random.default_rng(seed).choice(state.legal_actions())))

    def __str__(self) -> str:
        return "random"


@attrs.frozen
class PartlyRandom:
    """A player some of whose moves are random.

    Attributes:
        plies: of the opening: the first actions of a game are random, the same whoever plays them.
        share: of the decisions after it that are random too.
    """

    player: Any
    plies: int = 0
    share: float = 0.0

    def seated(self, game: AnyGame) -> "PartlyRandom":
        return attrs.evolve(self, player=self.player.seated(game))

    def search(self, state: State, seed: Sequence[int]) -> SearchResult:
        is_random = len(state.history) < self.plies
        if self.share and not is_random:
            is_random = np.random.default_rng((*seed, _SHARE_STREAM)).random() < self.share
        return (RandomPlayer() if is_random else self.player).search(state, seed)

    def __getattr__(self, name: str) -> Any:
        # his memory and his scheme are the player's, if that has any
        if name in ("remembers", "memory", "recall", "scheme"):
            return getattr(self.player, name)
        raise AttributeError(f"{type(self).__name__} has no {name}")

    def __str__(self) -> str:
        return str(self.player)
