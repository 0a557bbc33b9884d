"""A game between people and agents: what has been played, whose turn it is, and a way back. It knows nothing of terminals and pages."""

import json
import re
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs
import numpy as np

from icarus import games
from icarus.algebra.parsing import Operand
from icarus.checks import count_text
from icarus.engine.match import Agent
from icarus.engine.result import Result
from icarus.engine.scheme import MO_ISMCTS, parse_scheme
from icarus.equilibrium.search import parse_strategy
from icarus.kernel import CHANCE, UNSEEN
from icarus.kernel.game import AnyGame
from icarus.kernel.seats import seat_name
from icarus.kernel.state import State

_CHANCE_STREAM, _SEARCH_STREAM, _HINT_STREAM = 0, 1, 2
_TAG = re.compile(r"^\[(\w+) (.*)\]$", re.MULTILINE)  # of a saved game: a name, and JSON
_MOVE = re.compile(r"^\d+\. [^:]+: (.*)$", re.MULTILINE)
ADVICE = 1000  # iterations of a search for a hint: weak opponents give no good advice
DRAWS = 20  # determinizations in all of which an action is the only legal one, where a seat may know it
_BUDGETS = ("iterations", "seconds")
_NONE: Mapping[Any, Any] = MappingProxyType({})

Progress = Callable[[int, float], None]
Watch = Callable[[Result], None]


def adviser_like(agent: Agent) -> Agent:
    """An agent for hints and reviews: as strong as another, and of `ADVICE` iterations or a second at least."""
    iterations, seconds = agent.iterations, agent.seconds
    return attrs.evolve(
        agent,
        iterations=None if iterations is None else max(iterations, ADVICE),
        seconds=None if seconds is None else max(seconds, 1.0),
    )


@attrs.frozen
class Played:
    """One action of a game: who, what, how it is written, and the agent's search where there was one."""

    player: int
    action: int
    text: str
    result: Result | None = None


class Session:
    """A game under way.

    The deal, chance and every search follow from the seed and from what has been played before, so that a game that goes back, or
    that is saved and taken up again, goes on as it would have.

    Attributes:
        agents: of each seat; None where a person plays.
        state: as it stands.
        played: all actions so far, chance included.
        resigned: the seat that gave up.
        files: those that define its game and its strategies, as `--with` takes them, with digests of what they held.
    """

    def __init__(self, game: AnyGame, agents: list[Agent | None], seed: int = 0) -> None:
        if len(agents) != game.players:
            raise ValueError(f"{game} has {count_text(game.players, 'seat')}, not {len(agents)}")
        self.game, self.agents, self.seed = game, agents, seed
        self.state: State = game.new_initial_state((seed, _CHANCE_STREAM))
        self.played: list[Played] = []
        self.resigned: int | None = None
        self.files: dict[Path, str] = {}

    @property
    def people(self) -> list[int]:
        """The seats that people play."""
        return [seat for seat, agent in enumerate(self.agents) if agent is None]

    @property
    def over(self) -> bool:
        return self.resigned is not None or self.state.is_terminal()

    @property
    def waits_for(self) -> int | None:
        """The person whose turn it is; None where an agent or chance is to act, or the game is over."""
        player = self.state.current_player()
        return player if not self.over and player in self.people else None

    def act(self, action: int) -> Played:
        """A person's action.

        Raises:
            ValueError: no person is to act, or the action is not legal.
        """
        if self.waits_for is None:
            raise ValueError("the game is over" if self.over else "it is not your turn")
        return self.apply(action)

    def apply(self, action: int, result: Result | None = None) -> Played:
        """Whoever's action, and the search that found it. The state of before stays as it is, also if a function of the game fails.

        Raises:
            ValueError: the action is not legal.
        """
        player, after = self.state.current_player(), self.state.clone()
        if action not in self.state.legal_actions():
            after.apply_action(action)  # refuses it, and says what would be right
        played = Played(player, int(action), self.state.action_to_string(int(action)), result)
        after.apply_action(action)
        self.state = after
        self.played.append(played)
        return played

    def step(self) -> Played:
        """The next action of chance or of an agent; raises what `choose` does."""
        return self.apply(*self.choose())

    def choose(self, progress: Progress | None = None, watch: Watch | None = None) -> tuple[int, Result | None]:
        """What chance or an agent does next, and the search that found it; nothing changes yet.

        Args:
            progress, watch: see `Agent.search`.

        Raises:
            ValueError: a person is to act, or the game is over.
        """
        if self.over or self.waits_for is not None:
            raise ValueError("the game is over" if self.over else f"player {self.waits_for} is to act")
        player, legal = self.state.current_player(), self.state.legal_actions()
        if player == CHANCE:
            return self._outcome(), None
        agent = self.agents[player]
        assert agent is not None
        if len(legal) == 1:
            return legal[0], None
        result = agent.search(self.state, self._key(_SEARCH_STREAM), watch=watch, progress=progress)
        action = result.action if agent.preference is None else result.preferred(agent.preference)
        return action, result

    def steps(self, status_of: Callable[[int], AbstractContextManager] = nullcontext) -> Iterator[Played]:
        """Let chance and agents act until a person is asked or the game is over, each in the status shown for its player."""
        while not self.over and self.waits_for is None:
            with status_of(self.state.current_player()):
                played = self.step()
            yield played

    def _key(self, stream: int) -> tuple[int, int, int]:
        return self.seed, stream, len(self.played)

    def _outcome(self) -> int:
        outcomes, probabilities = zip(*self.state.chance_outcomes(), strict=True)
        return int(np.random.default_rng(self._key(_CHANCE_STREAM)).choice(outcomes, p=probabilities))

    def hint(self, agent: Agent, progress: Progress | None = None, watch: Watch | None = None) -> Result:
        """What an agent would find in a person's place, knowing what the person knows; `progress` and `watch` as in `choose`.

        Raises:
            ValueError: no person is to act.
        """
        if self.waits_for is None:
            raise ValueError("you have no decision to make now")
        if agent.scheme.cheats:  # its agents may see what is hidden, but not show it
            agent = attrs.evolve(agent, scheme=MO_ISMCTS.with_cutoff(agent.scheme.cutoff))
        return agent.search(self.state, self._key(_HINT_STREAM), watch=watch, progress=progress)

    def resign(self, seat: int) -> None:
        """Give up.

        Raises:
            ValueError: the game is over.
        """
        if self.over:
            raise ValueError("the game is over")
        self.resigned = seat

    def undo(self, upto: int | None = None, seat: int | None = None) -> int:
        """Go back to when so many actions had been played, by default before a person's last.

        Returns how many actions that a seat noticed are taken back; None is a seat that sees everything.

        Raises:
            ValueError: so many actions have not been played.
        """
        if upto is None:
            mine = [index for index, each in enumerate(self.played) if each.player in self.people]
            upto = mine[-1] if mine else len(self.played)
        if upto >= len(self.played):
            raise ValueError("no action can be taken back, because you have not played yet")
        count = sum(self.notices(seat, index) for index in range(upto, len(self.played)))
        self.resigned = None
        self.state, self.played = self.at(upto), self.played[:upto]
        return count

    def at(self, count: int) -> State:
        """The state after so many actions, for looking back."""
        state = self.game.new_initial_state((self.seed, _CHANCE_STREAM))
        for entry in self.played[:count]:
            state.apply_action(entry.action)
        return state

    def notices(self, seat: int | None, index: int) -> bool:
        """Whether a seat notices at all that an action was done; None is a seat that sees everything."""
        if seat is None or self.game.observe is None:
            return True
        return bool(self.at(index).observed(self.played[index].action)[seat] != UNSEEN)

    def visible_text(self, seat: int | None, index: int) -> str | None:
        """The name of an action if a seat may know it; None where the seat observes only that an action was done, or nothing."""
        played = self.played[index]
        if seat in (None, played.player) or self.game.observe is None:
            return played.text
        state = self.at(index)
        in_view = state.observed(played.action)[seat] == played.action or _is_forced(state, played.action, seat)
        return played.text if in_view else None

    def name_of(self, player: int) -> str:
        """What people call a player of this game."""
        return seat_name(self.game, player)

    # ------------------------------------------------------------------------------------------------------------ files

    def record(self) -> str:
        """The game as text, from which `resumed` takes it up: tags and a line for each action, as in PGN."""
        seats = [None if agent is None else _agent_fields(agent) for agent in self.agents]
        files = {str(file): digest for file, digest in self.files.items()}
        tags = {"Game": str(self.game), "Seed": self.seed, "Seats": seats, "Resigned": self.resigned, "Files": files}
        lines = [f"[{name} {json.dumps(value)}]" for name, value in tags.items()]
        moves = [f"{i}. {self.name_of(each.player)}: {each.text}" for i, each in enumerate(self.played, 1)]
        result = " ".join(f"{reward:g}" for reward in self.state.returns()) if self.state.is_terminal() else "*"
        return "\n".join([*lines, "", *moves, result]) + "\n"

    def save(self, path: Path) -> None:
        """Write the game into a new file, from which `resumed` takes it up.

        Raises:
            ValueError: the file exists.
        """
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(self.record())
        except FileExistsError:
            raise ValueError(f"{str(path)!r} exists and is not overwritten") from None

    def command(self, path: Path) -> str:
        """What to type to go on with a file."""
        files = [word for file in self.files for word in ("--with", str(file))]
        return shlex.join(["icarus", "play", "--resume", str(path), *files])

    def keep(self) -> Path:
        """Save the game in a new file, named after the game: of the current directory, or where that takes none, of the temporary one."""
        try:
            return self._keep_in(Path())
        except OSError:
            return self._keep_in(Path(tempfile.gettempdir()))

    def _keep_in(self, directory: Path) -> Path:
        names = (directory / f"{self.game.name}-{number}.txt" for number in range(1, 10_000))
        path = next(name for name in names if not name.exists())
        self.save(path)
        return path

    @classmethod
    def resumed(cls, path: Path, files: Mapping[Path, str] = _NONE, names: Mapping[str, Operand] = _NONE) -> "Session":
        """The game that a file keeps.

        Args:
            files: those that are loaded, with digests of what they hold.
            names: those that its strategies may use.

        Raises:
            ValueError: it is not such a file, what it says cannot be played, or it was played with other files.
        """
        try:
            text = path.read_text("utf-8-sig")
            tags = {name: json.loads(value) for name, value in _TAG.findall(text)}
            _check_files(tags.get("Files", {}), files)
            agents = [None if seat is None else _agent_of(seat, names) for seat in tags["Seats"]]
            session = cls(games.load(tags["Game"]), agents, int(tags["Seed"]))
            session.files = dict(files)
            for move in _MOVE.findall(text):
                session.apply(session._action_named(move))
            session.resigned = tags["Resigned"]
        except OSError as error:
            raise ValueError(f"{str(path)!r} cannot be read: {error.strerror}") from None
        except KeyError as error:
            raise ValueError(f"{str(path)!r} is not a saved game: it has no {error.args[0]!r}") from None
        except (TypeError, ValueError) as error:
            raise ValueError(f"{str(path)!r} cannot be resumed: {error}") from None
        return session

    def _action_named(self, text: str) -> int:
        """The legal action that is written so."""
        if text not in map(self.state.action_to_string, self.state.legal_actions()):
            raise ValueError(f"action {len(self.played) + 1}, {text!r}, is not legal")
        return self.state.string_to_action(text)


def _is_forced(state: State, action: int, seat: int) -> bool:
    """Whether a seat can tell that no other action was legal: it knows, for example, that after the passes the cards are exchanged."""
    if state.legal_actions() != [action]:
        return False
    if state.game.determinize is None:
        return True
    return all(state.determinize(seat, seed=seed).legal_actions() == [action] for seed in range(DRAWS))


def _check_files(played: Mapping[str, str], files: Mapping[Path, str]) -> None:
    """Refuse to go on with a game whose files are not loaded, or have changed: other rules would deal other cards.

    Raises:
        ValueError: it is so.
    """
    for name, digest in played.items():
        if digest in files.values():
            continue
        if Path(name).name in [file.name for file in files]:
            raise ValueError(f"{name} has changed since the game was saved")
        raise ValueError(f"it was played with {name}; give --with {name}")


def _agent_fields(agent: Agent) -> dict[str, Any]:
    budget = {name: getattr(agent, name) for name in _BUDGETS if getattr(agent, name) is not None}
    return {"strategy": str(agent.strategy), "scheme": str(agent.scheme), **budget}


def _agent_of(fields: dict[str, Any], names: Mapping[str, Operand]) -> Agent:
    budget = {name: fields[name] for name in _BUDGETS if name in fields}
    return Agent(parse_strategy(fields["strategy"], dict(names)), scheme=parse_scheme(fields["scheme"]), **budget)
