"""A game between people and agents, talked about line by line, in the terminal and in a browser.

A `Session` is the game: what has been played, whose turn it is, a way back, and its file. A `Conversation` answers lines about it.
"""

import functools
import shlex
import textwrap
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import attrs
import msgspec
import numpy as np

from icarus.algebra.parsing import Operand
from icarus.arena.player import Entrant, load_game
from icarus.checks import count_text
from icarus.engine.match import Agent
from icarus.engine.result import Result
from icarus.engine.scheme import MO_ISMCTS
from icarus.engine.search import Progress
from icarus.kernel import CHANCE, UNSEEN, AnyGame, State, draw_outcome, seat_name
from icarus.load_files import sentence_of
from icarus.specs import BASELINE
from icarus.views import boards
from icarus.views.boards import COLOURS, SELECTED, marks, parts
from icarus.views.document import write_new

_CHANCE_STREAM, _SEARCH_STREAM, _HINT_STREAM = 0, 1, 2
ADVISER = Agent(BASELINE, iterations=5000)  # where there are no others
WAIT = 20.0  # seconds that a page waits for news before it asks again
# Where a game has no picture, a drawing is a hundred determinizations.
drawing = functools.lru_cache(maxsize=2)(boards.drawing)
NO_BREAK = "\N{NO-BREAK SPACE}"
WIDTH = 80  # characters of a line
LATE = "the game has changed in the meantime; this is the current position"
REVEALS = "that would reveal hidden cards or pieces; open reveals them from now on"
HELP = """\
an action   play it, by its name or its number in the list
moves       list all actions that are legal now
hint        what a search would play in your place
why         the table of the last search of another player
open        show everything from now on, hidden cards and pieces too
undo        go back to before your last action
save FILE   keep the game, for icarus play --resume FILE
quit        stop; the game is kept in a file"""
VERBS = ("help", "moves", "hint", "why", "open", "undo", "save")

Answer = dict[str, Any]
_NONE: Mapping[Any, Any] = MappingProxyType({})


@attrs.frozen
class Played:
    """One action of a game.

    Attributes:
        player, action, text: who, what, and how it is written.
        views: the move that it is in each perspective.
        result: the agent's search, where there was one.
    """

    player: int
    action: int
    text: str
    views: list[int]
    result: Result | None = None


class SavedGame(msgspec.Struct):
    """A game as its file keeps it: chance and searches follow from the seed."""

    game: str
    seed: Annotated[int, msgspec.Meta(ge=0)]
    seats: list[dict[str, Any] | None]  # settings of an `Entrant`; None for a person
    files: dict[str, str]
    moves: list[str]


class Session:
    """A game under way.

    The deal, chance and every search follow from the seed and from what has been played before, so that a game that goes back, or
    that is saved and taken up again, goes on as it would have.

    Attributes:
        agents: of each seat; None where a person plays.
        files: those that define its game and its strategies, as `--with` takes them, with digests of what they held.
        played: all actions so far, chance included.
        states: before each of them, and after the last.
    """

    def __init__(
        self, game: AnyGame, agents: list[Agent | None], seed: int = 0, files: Mapping[Path, str] = _NONE
    ) -> None:
        self.game, self.agents, self.seed, self.files = game, agents, seed, files
        self.states: list[State] = [game.new_initial_state((seed, _CHANCE_STREAM))]
        self.played: list[Played] = []

    @property
    def state(self) -> State:
        """As the game stands."""
        return self.states[-1]

    @property
    def people(self) -> list[int]:
        """The seats that people play."""
        return [seat for seat, agent in enumerate(self.agents) if agent is None]

    @property
    def over(self) -> bool:
        return self.state.is_terminal()

    @property
    def waits_for(self) -> int | None:
        """The person whose turn it is; None where an agent or chance is to act, or the game is over."""
        player = self.state.current_player()
        return player if not self.over and player in self.people else None

    def name_of(self, player: int) -> str:
        """What people call a player of this game."""
        return seat_name(self.game, player)

    def apply(self, action: int, result: Result | None = None) -> None:
        """Somebody's action, and the search that found it; nothing changes if a function of the game fails.

        Raises:
            ValueError: the action is not legal.
        """
        before, after = self.state, self.state.clone()
        after.apply_action(action)
        text, views = before.action_to_string(action), before.observed(action)
        self.states.append(after)
        self.played.append(Played(before.current_player(), action, text, views, result))

    def choose(self, progress: Progress | None = None) -> tuple[int, Result | None]:
        """What chance or an agent does next, and the search that found it; nothing changes yet. Hook as of `Agent.search`."""
        player, legal = self.state.current_player(), self.state.legal_actions()
        if player == CHANCE:
            return draw_outcome(self.state, np.random.default_rng(self.key(_CHANCE_STREAM))), None
        agent = self.agents[player]
        assert agent is not None, "a person is to act"
        if len(legal) == 1:
            return legal[0], None
        result = agent.search(self.state, self.key(_SEARCH_STREAM), progress=progress)
        return result.action, result

    def key(self, stream: int) -> tuple[int, int, int]:
        """The seed of what is drawn or searched now."""
        return self.seed, stream, len(self.played)

    def go_back(self, count: int) -> None:
        """Go back to when so many actions had been played."""
        del self.states[count + 1 :], self.played[count:]

    def view(self, seat: int | None, index: int) -> bool | None:
        """Whether a seat may know an action; None where it does not even notice that one was done. Seat None sees everything."""
        played = self.played[index]
        if seat in (None, played.player):
            return True
        move = played.views[self.game.perspective(seat)]
        return None if move == UNSEEN else move == played.action

    # ------------------------------------------------------------------------------------------------------------ files

    def save(self, path: Path) -> str:
        """Write the game into a new file; returns what to type to go on with it.

        Raises:
            ValueError: the file exists.
        """
        seats = [
            None
            if agent is None
            else Entrant(
                str(agent.strategy), str(agent.scheme), iterations=agent.iterations, seconds=agent.seconds
            ).settings()
            for agent in self.agents
        ]
        files = {str(file): digest for file, digest in self.files.items()}
        moves = [each.text for each in self.played]
        saved = SavedGame(str(self.game), self.seed, seats, files, moves)
        write_new(path, msgspec.json.format(msgspec.json.encode(saved)).decode() + "\n")
        words = [word for name in files for word in ("--with", name)]
        return shlex.join(["icarus", "play", "--resume", str(path), *words])

    def keep(self) -> str:
        """Save the game in a file named after it; as `save`."""
        names = (Path(f"{self.game.name}-{number}.txt") for number in range(1, 10_000))
        return self.save(next(name for name in names if not name.exists()))

    @classmethod
    def resumed(cls, path: Path, files: Mapping[Path, str] = _NONE, names: Mapping[str, Operand] = _NONE) -> "Session":
        """The game that a file keeps.

        Args:
            files: those that are loaded, with digests of what they hold and import.
            names: those that its strategies may use.

        Raises:
            ValueError: it is not such a file, what it says cannot be played, or it was played with other files: other rules would deal
                other cards.
        """
        try:
            saved = msgspec.json.decode(path.read_text("utf-8-sig"), type=SavedGame)
            for name, digest in saved.files.items():
                if digest not in files.values():
                    loaded = Path(name).name in [file.name for file in files]
                    changed = f"{name}, or a file that it imports, has changed"
                    raise ValueError(changed if loaded else f"give --with {name}")
            agents: list[Any] = []
            for seat in saved.seats:
                if seat is None:
                    agents.append(None)
                else:  # earlier files have strategy and scheme as a part of their own
                    settings = {**seat, **seat.get("configuration", {})}
                    agents.append(msgspec.convert(settings, Entrant).player(names))
            session = cls(load_game(saved.game, files).game, agents, saved.seed, files)
            for move in saved.moves:
                session.apply(session.state.string_to_action(move))
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"{str(path)!r} cannot be resumed: {error}") from None
        return session


# ------------------------------------------------------------------------------------------------------ the conversation


class Abandoned(Exception):
    """Raised in a search that is not wanted any more."""


@attrs.frozen
class LogEntry:
    """An action as the observer may know it: its number in the game, a text, and the parts of the board where it shows."""

    index: int
    text: str
    parts: list[str]


class Conversation:
    """What is said of a game, line by line, and a description of it that holds only what the observer may know.

    Searches are made without the lock (`changed`); whatever changes the game meanwhile abandons them.

    Attributes:
        observer: the seat that looks; None where everything is open.
        adviser: the agent for hints, as strong as the others.
        content: the description of the game as it stands; `version` goes up whenever it changes.
        live: stands for the search under way; None where none is.
        shown: the last search that was shown.
        problem: why the agents cannot go on; a change of the game has them try again.
    """

    def __init__(self, session: Session, observer: int | None) -> None:
        adviser = next(filter(None, session.agents), ADVISER)
        if adviser.scheme.cheats:  # the others may see what is hidden, but not show it
            adviser = attrs.evolve(adviser, scheme=MO_ISMCTS.with_cutoff(adviser.scheme.cutoff))
        self.session, self.observer, self.adviser = session, observer, adviser
        self.version, self.problem, self.closed = 0, "", False
        self.live: object = None
        self.shown: Any = None
        self.changed = threading.Condition(threading.Lock())
        self.content = self._describe(None)  # loads all that a description needs before another thread runs

    # ------------------------------------------------------------------------------------------------------ the searches

    def run(self) -> None:
        """Let chance and the agents act whenever it is due, until `close`."""
        while not self.closed:
            if not self.step():
                with self.changed:
                    self.changed.wait_for(lambda: self._is_due() or self.closed)

    def close(self) -> None:
        """Let nothing more happen; a search under way is abandoned."""
        with self.changed:
            self.closed, self.live = True, None
            self.changed.notify_all()

    def _is_due(self) -> bool:
        return not (self.problem or self.session.over) and self.session.waits_for is None

    def step(self) -> bool:
        """Let chance or an agent act, if it is due."""
        with self.changed:
            if not self._is_due():
                return False
            try:
                self.session.apply(*self._search(self.session.choose))
            except Abandoned:
                return True
            except Exception as error:  # in a slot or a game of the user's own: it is told, and nothing is lost
                self.problem = f"the agent cannot continue: {sentence_of(error) or repr(error)}"
            self._update()
            return True

    def _search(self, search: Callable[[Progress], Any]) -> Any:
        """What a search finds, without the lock.

        Raises:
            Abandoned: the game has changed meanwhile.
        """
        live = self.live = object()
        self._update()

        def progress(iterations: int, seconds: float) -> None:
            if self.live is not live:
                raise Abandoned

        self.changed.release()
        try:
            return search(progress)
        finally:
            self.changed.acquire()
            progress(0, 0)
            self.live = None

    def _go_on(self) -> None:
        """Abandon the search under way, forget what has failed, and look anew at what is due: the game has changed."""
        self.live, self.problem = None, ""
        self._update()

    def _update(self) -> None:
        """Count a new version if the observer can see that anything has changed."""
        before = self.content
        try:
            self.content = self._describe(None)
        except Exception as error:  # in a function of the user's own game; one can go back
            failed = f"the game cannot be shown: {sentence_of(error) or repr(error)}"
            self.content = {**before, "moves": [], "status": failed}
        self.version += self.content != before
        self.changed.notify_all()

    # -------------------------------------------------------------------------------------------------- the description

    def describe(self, since: int = -1, at: int | None = None) -> Answer:
        """How the game stands, as the observer may know it; waits a while where nothing is new.

        Args:
            since: the version that the page has.
            at: after how many actions that the observer noticed; None for now.
        """
        with self.changed:
            self.changed.wait_for(lambda: self.version != since or self.closed, WAIT if at is None else 0)
            return {"version": self.version, **(self.content if at is None else self._describe(at))}

    def _describe(self, at: int | None) -> Answer:
        session, log = self.session, self.log()
        colours = COLOURS.get(session.game.name, ("",) * session.game.players)
        names = [f"{session.name_of(seat)} ({colour})".removesuffix(" ()") for seat, colour in enumerate(colours)]
        count = len(log) if at is None else max(0, min(at, len(log)))
        now = count == len(log)
        state = session.state if now else session.states[log[count].index]
        picture = drawing(state, None if session.over else self.observer, player=session.waits_for)
        moves = state.legal_actions() if session.waits_for is not None and now else []
        return {
            "game": str(session.game),
            "who": "; ".join(f"{name}: {agent or 'you'}" for name, agent in zip(names, session.agents, strict=True)),
            "at": count,
            "total": len(log),
            "board": picture.svg(),
            "text": picture.text(),
            "moves": [{"name": state.action_to_string(move), "parts": list(parts(state, move))} for move in moves],
            "select": session.game.name in SELECTED,
            "last": next((entry.parts for entry in reversed(log[:count]) if entry.parts), []),
            "log": [entry.text for entry in log],
            "status": self.status(),
        }

    def log(self) -> list[LogEntry]:
        """An entry for each action that the observer noticed, so that nothing tells of the others."""
        session, log = self.session, list[LogEntry]()
        observer = None if session.over else self.observer
        for index, (played, before) in enumerate(zip(session.played, session.states, strict=False)):
            if (in_view := session.view(observer, index)) is not None:
                places = list(marks(before, played.action, in_view))
                what = played.text if in_view else "-".join(places) or "a hidden choice"
                log.append(LogEntry(index, f"{session.name_of(played.player)}: {what}", places))
        return log

    def status(self) -> str:
        """What the game waits for, or how it has ended."""
        session, player = self.session, self.session.state.current_player()
        if self.problem:
            return self.problem
        if session.over:
            return ending_of(session)
        if session.waits_for is not None:
            return "it is your turn" if self.live is None else "searching for a hint …"
        return "chance is drawn …" if player == CHANCE else f"{session.name_of(player)} is thinking …"

    # --------------------------------------------------------------------------------------------------------- the lines

    def say(self, line: str, at: int | None = None) -> Answer:
        """Do what a line asks for: an action, or a word of `HELP`.

        Args:
            at: how many actions are known to who says it; an action after more is late.

        Returns:
            `said`, a text; of a search a `title`, its `table`, whether it has a `tree`, and of a hint the name of the `move`.

        Raises:
            ValueError: it cannot be done now, or not at all.
        """
        line, (word, _, rest) = line.strip(), line.strip().partition(" ")
        with self.changed:
            is_name = self.session.waits_for is not None and line in _names(self.session.state)
            is_word = not is_name and word in VERBS and (word == "save" or not rest)
            if at not in (None, len(self.log())) and (not is_word or word == "undo"):
                raise ValueError(LATE)
            if not is_word:
                return self._act(line)
            return self._save(rest.strip()) if word == "save" else getattr(self, f"_{word}")()

    def _act(self, line: str) -> Answer:
        self._my_turn()
        state, names = self.session.state, _names(self.session.state)
        name = next((each for each in (line, line.upper(), line.lower()) if each in names), line)
        legal = state.legal_actions()
        is_number = name not in names and name.isdecimal() and 1 <= int(name) <= len(legal)
        self.session.apply(legal[int(name) - 1] if is_number else state.string_to_action(name))
        self._go_on()
        return {"said": ""}

    def _my_turn(self) -> int:
        """The person whose turn it is.

        Raises:
            ValueError: it is nobody's.
        """
        seat = self.session.waits_for
        if seat is None:
            raise ValueError("the game is over" if self.session.over else "it is not your turn")
        return seat

    def _undo(self) -> Answer:
        session = self.session
        mine = [index for index, each in enumerate(session.played) if each.player in session.people]
        if not mine:
            raise ValueError("no action can be taken back, because you have not played yet")
        count = sum(entry.index >= mine[-1] for entry in self.log())
        session.go_back(mine[-1])
        self._go_on()
        return {"said": f"{count_text(count, 'action')} taken back"}

    def _open(self) -> Answer:
        self.observer = None
        self._update()
        return {"said": "everything is shown from now on"}

    def _save(self, name: str) -> Answer:
        command = self.session.save(Path(name)) if name else self.session.keep()
        return {"said": f"saved; {command} continues from here"}

    def _help(self) -> Answer:
        return {"said": HELP}

    def _moves(self) -> Answer:
        state = self.session.state
        names = [f"{i}: {state.action_to_string(move)}" for i, move in enumerate(state.legal_actions(), 1)]
        whole = "  ".join(name.replace(" ", NO_BREAK) for name in names)
        return {"said": textwrap.fill(whole, WIDTH, break_on_hyphens=False).replace(NO_BREAK, " ")}

    def _hint(self) -> Answer:
        self._my_turn()
        if self.live is not None:
            raise ValueError("a search is already running")
        state, seed = self.session.state, self.session.key(_HINT_STREAM)
        try:
            result = self._search(lambda progress: self.adviser.search(state, seed, progress=progress))
        except Abandoned:
            raise ValueError("the search was stopped") from None
        finally:
            self._update()
        move, share = state.action_to_string(result.action), result.policy[result.actions.index(result.action)]
        worth = "" if np.isnan(result.value) else f"; its mean reward is {result.value:.2f}"
        sentence = f"hint: {move}. A search of {result.iterations:,} iterations tries it in {share:.0%} of them{worth}."
        return {**self._show(result, "what a search finds in your place"), "said": sentence, "move": move}

    def _why(self) -> Answer:
        """The last search of another; not where it would tell of cards or pieces that the seat does not see."""
        if not (self.observer is None or self.session.game.determinize is None or self.session.over):
            raise ValueError(REVEALS)
        searched = [each for each in self.session.played if each.result is not None]
        if not searched:
            raise ValueError("no other player has searched yet")
        played = searched[-1]
        return self._show(played.result, f"why {self.session.name_of(played.player)} played {played.text}")

    def _show(self, result: Any, title: str) -> Answer:
        self.shown = result
        return {"said": "", "title": title, "table": str(result), "tree": bool(result.records)}


def _names(state: State) -> list[str]:
    """How the legal actions are written."""
    return [] if state.is_terminal() else list(map(state.action_to_string, state.legal_actions()))


def ending_of(session: Session) -> str:
    """How a game has ended, first for the person who plays."""
    rewards, verdict = session.state.returns(), "the game is over"
    if len(session.people) == 1 and len(rewards) > 1:
        mine = rewards[session.people[0]]
        verdicts = {min(rewards): "you have lost", max(rewards): "you have won"}
        verdict = "the game is drawn" if len(set(rewards)) == 1 else verdicts.get(mine, verdict)
    every = ", ".join(f"{session.name_of(seat)}: {reward:g}" for seat, reward in enumerate(rewards))
    return f"{verdict}; rewards of {every}"
