"""A game between people and agents, talked about line by line, in the terminal and in a browser.

A `Session` is the game: what has been played, whose turn it is, a way back, and its file. A `Conversation` answers lines about it.
"""

import difflib
import json
import re
import shlex
import tempfile
import textwrap
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs
import numpy as np

from icarus import games
from icarus.algebra.parsing import Operand
from icarus.arena.player import parse_strategy
from icarus.checks import count_text
from icarus.engine.match import Agent
from icarus.engine.result import Result
from icarus.engine.scheme import MO_ISMCTS, parse_scheme
from icarus.kernel import CHANCE, UNSEEN
from icarus.kernel.game import AnyGame, seat_name
from icarus.kernel.state import State
from icarus.load_files import sentence_of
from icarus.views.boards import COLOURS, SELECTED, drawing, label, marks, parts

_CHANCE_STREAM, _SEARCH_STREAM, _HINT_STREAM = 0, 1, 2
_TAG = re.compile(r"^\[(\w+) (.*)\]$", re.MULTILINE)  # of a saved game: a name, and JSON
_MOVE = re.compile(r"^\d+\. [^:]+: (.*)$", re.MULTILINE)
DRAWS = 20  # determinizations in all of which an action is the only legal one, where a seat may know it
BUDGETS = {
    "iterations": 1000,
    "seconds": 1.0,
}  # and the least of a search for a hint: weak opponents give no good advice
WAIT = 20.0  # seconds that a page waits for news before it asks again
NO_BREAK = "\N{NO-BREAK SPACE}"
WIDTH = 80  # characters of a line
REWARDS = (-1.0, 1.0)  # what `Game.utilities` is where nothing is said
LATE = "the game has changed in the meantime; this is the current position"
ENDED = "the game has ended and everything is shown; start another one"
REVEALS = "that would reveal hidden cards or pieces; open reveals them from now on"
HELP = """\
an action   play it, by its name or its number in the list
moves       list all actions that are legal now
hint        what a search finds in your place
why         the table of the last search of another player; why @12, of the
            first 12 actions' last
open        show everything from now on, hidden cards and pieces too
undo        go back to before your last action; undo @12, to after 12 actions
save FILE   keep the game, for icarus play --resume FILE
resign      give up
quit        stop; the game is kept in a file"""
TAKING = ("why", "undo", "save")  # something after the word
VERBS = ("help", "moves", "hint", "open", "resign", *TAKING)

Progress = Callable[[int, float], None]
Answer = dict[str, Any]
_NONE: Mapping[Any, Any] = MappingProxyType({})


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
        played: all actions so far, chance included.
        states: before each of them, and after the last.
        resigned: the seat that gave up.
        files: those that define its game and its strategies, as `--with` takes them, with digests of what they held.
    """

    def __init__(self, game: AnyGame, agents: list[Agent | None], seed: int = 0) -> None:
        self.game, self.agents, self.seed = game, agents, seed
        self.states: list[State] = [game.new_initial_state((seed, _CHANCE_STREAM))]
        self.played: list[Played] = []
        self.resigned: int | None = None
        self.files: dict[Path, str] = {}

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
        return self.resigned is not None or self.state.is_terminal()

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
        if action not in before.legal_actions():
            after.apply_action(action)  # refuses it, and says what would be right
        played = Played(before.current_player(), int(action), before.action_to_string(int(action)), result)
        after.apply_action(action)
        self.states.append(after)
        self.played.append(played)

    def choose(self, progress: Progress | None = None) -> tuple[int, Result | None]:
        """What chance or an agent does next, and the search that found it; nothing changes yet. Hook as of `Agent.search`."""
        player, legal = self.state.current_player(), self.state.legal_actions()
        if player == CHANCE:
            outcomes, probabilities = zip(*self.state.chance_outcomes(), strict=True)
            return int(np.random.default_rng(self._key(_CHANCE_STREAM)).choice(outcomes, p=probabilities)), None
        agent = self.agents[player]
        assert agent is not None, "a person is to act"
        if len(legal) == 1:
            return legal[0], None
        result = agent.search(self.state, self._key(_SEARCH_STREAM), progress=progress)
        return result.action, result

    def hint(self, agent: Agent, progress: Progress | None = None) -> Result:
        """What an agent would find in a person's place, knowing what the person knows."""
        if agent.scheme.cheats:  # its agents may see what is hidden, but not show it
            agent = attrs.evolve(agent, scheme=MO_ISMCTS.with_cutoff(agent.scheme.cutoff))
        return agent.search(self.state, self._key(_HINT_STREAM), progress=progress)

    def _key(self, stream: int) -> tuple[int, int, int]:
        return self.seed, stream, len(self.played)

    def go_back(self, count: int) -> None:
        """Go back to when so many actions had been played."""
        self.resigned = None
        del self.states[count + 1 :], self.played[count:]

    def view(self, seat: int | None, index: int) -> bool | None:
        """Whether a seat may know an action; None where it does not even notice that one was done. Seat None sees everything."""
        state, played = self.states[index], self.played[index]
        if seat in (None, played.player) or self.game.observe is None:
            return True
        move = state.observed(played.action)[seat]
        return None if move == UNSEEN else bool(move == played.action) or _is_forced(state, played.action, seat)

    # ------------------------------------------------------------------------------------------------------------ files

    def record(self) -> str:
        """The game as text, from which `resumed` takes it up: tags and a line for each action, as in PGN."""
        seats = [
            agent and {"strategy": str(agent.strategy), "scheme": str(agent.scheme), **_budget(agent)}
            for agent in self.agents
        ]
        files = {str(file): digest for file, digest in self.files.items()}
        tags = {"Game": str(self.game), "Seed": self.seed, "Seats": seats, "Resigned": self.resigned, "Files": files}
        lines = [f"[{name} {json.dumps(value)}]" for name, value in tags.items()]
        moves = [f"{i}. {self.name_of(each.player)}: {each.text}" for i, each in enumerate(self.played, 1)]
        result = " ".join(f"{reward:g}" for reward in self.state.returns()) if self.state.is_terminal() else "*"
        return "\n".join([*lines, "", *moves, result]) + "\n"

    def save(self, path: Path) -> str:
        """Write the game into a new file; returns what to type to go on with it.

        Raises:
            ValueError: the file exists.
        """
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(self.record())
        except FileExistsError:
            raise ValueError(f"{str(path)!r} exists and is not overwritten") from None
        files = [word for file in self.files for word in ("--with", str(file))]
        return shlex.join(["icarus", "play", "--resume", str(path), *files])

    def keep(self, directory: Path = Path()) -> str:
        """Save the game in a file named after it, in a directory, or where that takes none in the temporary one; as `save`."""
        names = (directory / f"{self.game.name}-{number}.txt" for number in range(1, 10_000))
        try:
            return self.save(next(name for name in names if not name.exists()))
        except OSError:
            if directory != Path():
                raise
            return self.keep(Path(tempfile.gettempdir()))

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
            text = path.read_text("utf-8-sig")
            tags = {name: json.loads(value) for name, value in _TAG.findall(text)}
            for name, digest in tags.get("Files", {}).items():
                if digest not in files.values():
                    loaded = Path(name).name in [file.name for file in files]
                    raise ValueError(
                        f"{name}, or a file that it imports, has changed" if loaded else f"give --with {name}"
                    )
            agents = [None if seat is None else _agent_of(seat, names) for seat in tags["Seats"]]
            session = cls(games.load(tags["Game"]), agents, int(tags["Seed"]))
            session.files = dict(files)
            for number, move in enumerate(_MOVE.findall(text), 1):
                if move not in map(session.state.action_to_string, session.state.legal_actions()):
                    raise ValueError(f"action {number}, {move!r}, is not legal")
                session.apply(session.state.string_to_action(move))
            session.resigned = tags["Resigned"]
        except KeyError as error:
            raise ValueError(f"{str(path)!r} is not a saved game: it has no {error.args[0]!r}") from None
        except (TypeError, ValueError) as error:
            raise ValueError(f"{str(path)!r} cannot be resumed: {error}") from None
        return session


def _is_forced(state: State, action: int, seat: int) -> bool:
    """Whether a seat can tell that no other action was legal: it knows, for example, that after the passes the cards are exchanged."""
    if state.legal_actions() != [action] or state.game.determinize is None:
        return state.legal_actions() == [action]
    return all(state.determinize(seat, seed=seed).legal_actions() == [action] for seed in range(DRAWS))


def _budget(agent: Agent) -> dict[str, Any]:
    return {name: value for name in BUDGETS if (value := getattr(agent, name)) is not None}


def _agent_of(fields: dict[str, Any], names: Mapping[str, Operand]) -> Agent:
    budget = {name: fields[name] for name in BUDGETS if name in fields}
    return Agent(parse_strategy(fields["strategy"], dict(names)), scheme=parse_scheme(fields["scheme"]), **budget)


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
        adviser: the agent for hints: as strong as the others, and of `BUDGETS` at least.
        content: the description of the game as it stands; `version` goes up whenever it, or what is live, changes.
        live: how far the search under way has come, a list of one text; None where none is.
        shown: the last search that was shown.
        problem: why the agents cannot go on; a change of the game has them try again.
    """

    def __init__(self, session: Session, adviser: Agent, observer: int | None) -> None:
        least = {name: max(value, BUDGETS[name]) for name, value in _budget(adviser).items()}
        self.session, self.observer, self.adviser = session, observer, attrs.evolve(adviser, **least)
        self.version, self.problem, self.closed = 0, "", False
        self.live: list[str] | None = None
        self.shown: Any = None
        self._log, self._log_observer = list[LogEntry](), observer
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
                player = self.session.state.current_player()
                agent = None if player == CHANCE else self.session.agents[player]
                self.session.apply(*self._search(self.session.choose, agent))
            except Abandoned:
                return True
            except Exception as error:  # in a slot or a game of the user's own: it is told, and nothing is lost
                self.problem = f"the agent cannot continue: {sentence_of(error) or repr(error)}"
            self._update()
            return True

    def _search(self, search: Callable[[Progress], Any], agent: Agent | None) -> Any:
        """What a search finds, without the lock.

        Raises:
            Abandoned: the game has changed meanwhile.
        """
        live = self.live = [""]
        self._update()

        def progress(iterations: int, seconds: float) -> None:
            with self.changed:
                if self.live is not live:
                    raise Abandoned
                if agent is not None:  # of a budget of seconds no iterations: they would tell how fast it is
                    counted = f"{iterations:,} of {agent.iterations:,} iterations" if agent.iterations else ""
                    live[0] = counted or f"{seconds:.0f} of {agent.seconds:g} s"
                    self.version += 1
                    self.changed.notify_all()

        self.changed.release()
        try:
            return search(progress)
        finally:
            self.changed.acquire()
            if self.live is not live:
                raise Abandoned
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
            content = self.content if at is None else self._describe(at)
            return {"version": self.version, "live": self.live and self.live[0], **content}

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
            "moves": [
                {"name": state.action_to_string(move), "text": label(state, move), "parts": list(parts(state, move))}
                for move in moves
            ],
            "select": session.game.name in SELECTED,
            "last": next((entry.parts for entry in reversed(log[:count]) if entry.parts), []),
            "log": [entry.text for entry in log],
            "status": self.status(),
        }

    def log(self) -> list[LogEntry]:
        """An entry for each action that the observer noticed, so that nothing tells of the others."""
        observer, session = None if self.session.over else self.observer, self.session
        if observer != self._log_observer:
            self._log, self._log_observer = [], observer
        for index in range(self._log[-1].index + 1 if self._log else 0, len(session.played)):
            if (in_view := session.view(observer, index)) is not None:
                played, before = session.played[index], session.states[index]
                places = list(marks(before, played.action, in_view))
                what = label(before, played.action) if in_view else "-".join(places) or "(hidden from you)"
                self._log.append(LogEntry(index, f"{session.name_of(played.player)}: {what}", places))
        return self._log

    def status(self) -> str:
        """What the game waits for, or how it has ended."""
        session, player = self.session, self.session.state.current_player()
        if self.problem:
            return self.problem
        if session.resigned is not None:
            return f"{session.name_of(session.resigned)} has resigned"
        if session.over:
            return ending_of(session)
        if session.waits_for is not None:
            return "it is your turn" if self.live is None else "searching for a hint …"
        return "chance is drawn …" if player == CHANCE else f"{session.name_of(player)} is thinking …"

    def _hides(self) -> bool:
        """Whether the observer does not see all of the game, before its end."""
        return self.observer is not None and self.session.game.determinize is not None

    def _shows_searches(self) -> bool:
        """Whether it may be shown what agents think: not where it would tell of cards or pieces that the seat does not see."""
        return self.session.over or not self._hides()

    # --------------------------------------------------------------------------------------------------------- the lines

    def say(self, line: str, at: int | None = None) -> Answer:
        """Do what a line asks for: an action, or a word of `HELP`.

        Args:
            at: how many actions are known to who says it; an action after more is late.

        Returns:
            `said`, a text; of a search a `title` and whether it has a `tree`.

        Raises:
            ValueError: it cannot be done now, or not at all.
        """
        line, (word, _, rest) = line.strip(), line.strip().partition(" ")
        with self.changed:
            is_name = self.session.waits_for is not None and line in _names(self.session.state)
            is_word = not is_name and (line in VERBS or word in TAKING)
            if at not in (None, len(self.log())) and (not is_word or word in ("undo", "resign")):
                raise ValueError(LATE)
            answer = getattr(self, f"_{word if is_word else 'act'}")(rest.strip() if is_word else line)
            return {"said": answer or ""} if answer is None or isinstance(answer, str) else answer

    def _act(self, line: str) -> None:
        session = self.session
        self._my_turn()
        session.apply(_action(session.state, line))
        self._go_on()

    def _my_turn(self) -> int:
        """The person whose turn it is.

        Raises:
            ValueError: it is nobody's.
        """
        seat = self.session.waits_for
        if seat is None:
            raise ValueError("the game is over" if self.session.over else "it is not your turn")
        return seat

    def _place(self, text: str) -> int:
        """How many lines of the log "@12" means; all of them without a text.

        Raises:
            ValueError: it is something else.
        """
        if text and not re.fullmatch(r"@\d{1,9}", text):
            raise ValueError(f"{text!r} is no place in the game, such as @12")
        return min(int(text[1:] or 0), len(self.log())) if text else len(self.log())

    def _undo(self, rest: str) -> str:
        session, log, place = self.session, self.log(), self._place(rest)
        mine = [index for index, each in enumerate(session.played) if each.player in session.people]
        if session.over and self._hides():
            raise ValueError(ENDED)
        if not mine or (rest and place == len(log)):
            raise ValueError("no action can be taken back, because you have not played yet")
        upto = log[place].index if rest else mine[-1]
        count = sum(entry.index >= upto for entry in log)
        session.go_back(upto)
        self._log = []
        self._go_on()
        return f"{count_text(count, 'action')} taken back"

    def _resign(self, rest: str) -> None:
        self.session.resigned = self._my_turn()
        self._go_on()

    def _open(self, rest: str) -> str:
        self.observer = None
        self._update()
        return "everything is shown from now on"

    def _save(self, rest: str) -> str:
        return f"saved; {self.session.save(Path(rest)) if rest else self.session.keep()} continues from here"

    def _help(self, rest: str) -> str:
        return HELP

    def _moves(self, rest: str) -> str:
        state = self.session.state
        names = [f"{i}: {state.action_to_string(move)}" for i, move in enumerate(state.legal_actions(), 1)]
        whole = "  ".join(name.replace(" ", NO_BREAK) for name in names)
        return textwrap.fill(whole, WIDTH, break_on_hyphens=False).replace(NO_BREAK, " ")

    def _hint(self, rest: str) -> Answer:
        self._my_turn()
        if self.live is not None:
            raise ValueError("a search is already running")
        try:
            result = self._search(partial(self.session.hint, self.adviser), self.adviser)
        except Abandoned:
            raise ValueError("the search was stopped") from None
        finally:
            self._update()
        return self._show(result, "what a search finds in your place")

    def _why(self, rest: str) -> Answer:
        if not self._shows_searches():
            raise ValueError(REVEALS)
        log, place = self.log(), self._place(rest)
        played = self.session.played if place == len(log) else self.session.played[: log[place].index]
        searched = [each for each in played if each.result is not None]
        if not searched:
            raise ValueError("no other player has searched yet")
        return self._show(
            searched[-1].result, f"why {self.session.name_of(searched[-1].player)} played {searched[-1].text}"
        )

    def _show(self, result: Any, title: str) -> Answer:
        self.shown = result
        return {"title": title, "said": str(result), "tree": bool(getattr(result, "records", None))}


def _names(state: State) -> list[str]:
    """How the legal actions are written."""
    return [] if state.is_terminal() else list(dict.fromkeys(map(state.action_to_string, state.legal_actions())))


def _action(state: State, text: str) -> int:
    """The legal action of this name, whose letters may be of the other case, or of this number in the list.

    Raises:
        ValueError: there is no such action; the message names the nearest ones.
    """
    legal, named = state.legal_actions(), _names(state)
    for spelling in (text, text.upper(), text.lower()):
        if spelling in named:
            return state.string_to_action(spelling)
    if text.isdecimal() and 1 <= int(text) <= len(legal):
        return legal[int(text) - 1]
    near = difflib.get_close_matches(text.lower(), [*named, *VERBS, "quit"])
    advice = f"did you mean {' or '.join(near)}?" if near else "moves lists the legal actions, help the commands"
    raise ValueError(f"{text!r} is not legal here; {advice}")


def ending_of(session: Session) -> str:
    """How a game has ended, first for the person who plays."""
    rewards, (least, most) = session.state.returns(), session.game.utilities
    # In the game's own units where it has them, such as chips; otherwise rewards from 0 to 1.
    gains = rewards if session.game.utilities == REWARDS else [least + (most - least) * reward for reward in rewards]
    every = ", ".join(f"{session.name_of(seat)}: {gain:g}" for seat, gain in enumerate(gains))
    every = f"{'rewards of ' if gains is rewards else 'won or lost: '}{every}"
    if len(session.people) != 1 or len(rewards) == 1:
        return f"the game is over; {every}"
    mine = rewards[session.people[0]]
    if min(rewards) == max(rewards):
        return f"the game is drawn; {every}"
    place = 1 + sum(reward > mine for reward in rewards)
    verdict = "won" if place == 1 else "lost" if mine == min(rewards) else f"come {place}. of {len(rewards)}"
    return f"you have {verdict}; {every}"
