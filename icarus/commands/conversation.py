"""A game between people and agents, talked about line by line, in the terminal and in a browser.

A `Session` is the game: what has been played, whose turn it is, a way back, and its file. A `Conversation` answers lines about it.
"""

import codecs
import functools
import itertools
import math
import re
import shlex
import textwrap
import threading
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import attrs
import msgspec
import numpy as np

from icarus.algebra.parsing import Operand
from icarus.arena.ledger import new_file, write_whole
from icarus.arena.player import EVALUATION, Entrant, game_with
from icarus.checks import count_text, integer
from icarus.engine.match import Agent
from icarus.engine.result import Result
from icarus.engine.scheme import MO_ISMCTS
from icarus.engine.search import Progress
from icarus.kernel import CHANCE, CONTINUES, UNSEEN, AnyGame, State, draw_outcome, seat_name
from icarus.kernel.scene import Scene
from icarus.load_files import sentence_of
from icarus.specs import BASELINE
from icarus.views import boards
from icarus.views.boards import parts, seen_parts, svg

_CHANCE_STREAM, _SEARCH_STREAM, _HINT_STREAM = range(3)
_LEAST_ADVICE = 1000  # iterations: of fewer an estimate says nothing
USUAL = Agent(BASELINE, iterations=_LEAST_ADVICE)  # who plays, and advises, where there is no level
_YOURS = {"you has": "you have", "you names": "you name", "you passes": "you pass"}
WAIT = 20.0  # seconds that a page waits for news before it asks again
# Where a game has no picture, a drawing is a hundred determinizations.
drawing = functools.lru_cache(maxsize=2)(boards.drawing)
CARD = re.compile(r"(10|[2-9JQKA])[♣♦♠♥]")
NO_BREAK = "\N{NO-BREAK SPACE}"
WIDTH = 80  # characters of a line
# states, beside the true one, that a seat may take for it, in which an action that he saw is looked for
_DRAWS = 23
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

Natural = Annotated[int, msgspec.Meta(ge=0)]
Answer = dict[str, Any]


def colours_of(game: AnyGame) -> tuple[str, ...]:
    """The colours of the seats' pieces; () where the game names none."""
    return game.board.colours if game.board else ()


def _option_of(file: str) -> str:
    """The option of `icarus play` that takes a file of a game."""
    return "--evaluation" if file.endswith(EVALUATION) else "--with"


def _argument(file: str) -> str:
    """A file as a command takes it: what begins with "-" would be an option."""
    return f"./{file}" if file.startswith("-") else file


def _claim(path: Path) -> bool:
    """Make an empty file, which is to be written; False where there is one, as of another table that is saved at once."""
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


@attrs.frozen
class Played:
    """One action of a game.

    Attributes:
        before: the state in which it was done.
        player, action, text: who, what, and how it is written.
        result: the agent's search, where there was one.
    """

    before: State
    player: int
    action: int
    text: str
    result: Result | None = None

    def text_for(self, seat: int | None) -> str | None:
        """The action's text as a seat may know it: "" if it does not know which was done, None if it did not notice that one was.

        Seat None sees everything.
        """
        if seat in (None, self.player):
            return self.text
        move = self.before.observed(self.action)[self.before.game.perspective(seat)]
        if move == UNSEEN:
            return None
        return self.text if move == self.action else _told_text(self.before, move, seat)


class SavedGame(msgspec.Struct):
    """A game as its file keeps it: chance and searches follow from the seed."""

    game: str
    seed: Natural
    seats: list[Entrant | None]  # None for a person
    files: dict[str, str]
    moves: list[str]
    level: int | None = None


@attrs.define(eq=False)
class Session:
    """A game under way.

    The deal, chance and every search follow from the seed and from what has been played before, so that a game that goes back, or
    that is saved and taken up again, goes on as it would have.

    Attributes:
        agents: of each seat; None where a person plays.
        files: those that define its game and its strategies, as `--with` takes them, with digests of what they held.
        level: of the agents, if it was measured.
        seconds: that the agents may think, in place of their own budgets.
        file: in which it was saved last, or from which it comes.
        played: all actions so far, chance included.
        state: as the game stands.
    """

    game: AnyGame
    agents: list[Agent | None]
    seed: int = 0
    files: Mapping[Path, str] = {}
    level: int | None = None
    seconds: float | None = None
    file: Path | None = None
    played: list[Played] = attrs.field(factory=list)
    state: State = attrs.field()

    @state.default
    def _at_the_start(self) -> State:
        return self.game.new_initial_state((self.seed, _CHANCE_STREAM))

    @property
    def people(self) -> list[int]:
        """The seats that people play."""
        return [seat for seat, agent in enumerate(self.agents) if agent is None]

    @property
    def by_people(self) -> list[int]:
        """The indices in `played` of the actions that people have chosen."""
        return [index for index, each in enumerate(self.played) if each.player in self.people]

    @property
    def over(self) -> bool:
        return self.state.is_terminal()

    @property
    def waits_for(self) -> int | None:
        """The person whose turn it is; None where an agent or chance is to act, or the game is over."""
        player = self.state.current_player()
        return player if player in self.people else None

    def name_of(self, player: int, viewer: int | None = None) -> str:
        """What a viewer calls a player: "you", or by his seat if it has a name, or "Bot"."""
        if player == viewer:
            return "you"
        if player == CHANCE or self.game.seat_names or viewer is None:
            return seat_name(self.game, player)
        if self.agents[player] is None:
            return "the other person"
        return "Bot" if len(self.people) == self.game.players - 1 else f"Bot {player + 1}"

    def worded(self, text: str, viewer: int | None) -> str:
        """A text with the players as a viewer calls them; unchanged if it numbers them from 1."""
        player = r"\bplayer (\d+)\b(?: \(you\))?"
        if any(int(number) >= self.game.players for number in re.findall(player, text)):
            return text
        named = re.sub(player, lambda words: self.name_of(int(words[1]), viewer), text)
        return re.sub(r"\byou (has|names|passes)\b", lambda words: _YOURS[words[0]], named)

    def who(self, viewer: int | None) -> str:
        """Who plays, for a viewer."""
        players = []
        for seat, agent in enumerate(self.agents):
            words = [self.name_of(seat, viewer)]
            words += colours_of(self.game)[seat : seat + 1]
            if agent is not None:
                words.append(self._kind_of(agent))
            players.append(", ".join(words))
        return "; ".join(players)

    def _kind_of(self, agent: Agent) -> str:
        """How strong an agent is, or what it is."""
        if self.level:
            return f"level {self.level}"
        return "a short search" if agent == USUAL else str(agent)

    def apply(self, action: int, result: Result | None = None) -> None:
        """Play an action of whoever is to act; nothing changes if a function of the game fails.

        Args:
            result: the search that found it.

        Raises:
            ValueError: the action is not legal.
        """
        before, after = self.state, self.state.clone()
        after.apply_action(action)
        text = before.action_to_string(action)
        self.played.append(Played(before, before.current_player(), action, text, result))
        self.state = after

    def choose(self, progress: Progress | None = None) -> tuple[int, Result | None]:
        """The next action of chance or an agent, and the search that found it; nothing is played yet.

        Args:
            progress: as of `Agent.search`.
        """
        player, legal = self.state.current_player(), self.state.legal_actions()
        if player == CHANCE:
            return draw_outcome(self.state, np.random.default_rng(self.key(_CHANCE_STREAM))), None
        agent = self.agents[player]
        assert agent is not None, "a person is to act"
        if len(legal) == 1:
            return legal[0], None
        if self.seconds is not None:
            agent = attrs.evolve(agent, iterations=None, seconds=self.seconds)
        result = agent.search(self.state, self.key(_SEARCH_STREAM), progress=progress)
        return result.action, result

    def key(self, stream: int) -> tuple[int, int, int]:
        """The seed of what is drawn or searched now."""
        return self.seed, stream, len(self.played)

    def goes_on(self, index: int) -> bool:
        """Whether the action of this index goes on with the move of the one before: the same player acts again, in the same episode."""
        state = self.played[index].before if index < len(self.played) else self.state
        if not index or state.current_player() != self.played[index - 1].player:
            return False
        return self.game.episode is None or self.game.ask("episode", state.data) == CONTINUES

    def move_of(self, index: int) -> int:
        """The index of the first action of the move that the action of this index is a part of."""
        while self.goes_on(index):
            index -= 1
        return index

    def go_back(self, count: int) -> None:
        """Go back to the state after `count` actions."""
        self.state = self.played[count].before
        del self.played[count:]

    # ------------------------------------------------------------------------------------------------------------ files

    def save(self, path: Path | None = None) -> str:
        """Write the game into a file; returns the command that resumes it.

        Args:
            path: of the file; None for `file`, or if there is none, for a new file named after the game.

        Raises:
            ValueError: another file of this name exists.
        """
        seats = [
            None
            if agent is None
            else Entrant(
                str(agent.strategy),
                str(agent.scheme),
                iterations=agent.iterations,
                seconds=agent.seconds,
            )
            for agent in self.agents
        ]
        files = {str(file): digest for file, digest in self.files.items()}
        moves = [each.text for each in self.played]
        saved = SavedGame(str(self.game), self.seed, seats, files, moves, self.level)
        content = msgspec.json.format(msgspec.json.encode(saved)) + b"\n"
        names = (Path(f"{self.game.name}-{number}.txt") for number in itertools.count(1))
        if path is None:
            path = self.file or next(filter(_claim, names))
        elif path != self.file:
            new_file(path).touch(exist_ok=False)
        try:
            write_whole(path, content)
        except BaseException:
            if path != self.file:
                path.unlink()  # the empty one that was made above
            raise
        self.file = path
        command = ["icarus", "play", "--resume", _argument(str(path))]
        if len(self.people) > 1:
            command.append("--browser")
        for name in files:
            command += _option_of(name), _argument(name)
        return shlex.join(command)

    @classmethod
    def resumed(
        cls,
        content: bytes,
        files: Mapping[Path, str] = {},
        names: Mapping[str, Operand] = {},
        file: Path | None = None,
    ) -> "Session":
        """The game that `save` has written.

        Args:
            content: of the file.
            files: those that are loaded, with digests of what they hold and import.
            names: enhancements of one's own that its strategies may name.
            file: in which the game is saved again.

        Raises:
            ValueError: the content is no saved game, its actions cannot be played, or it was played with other files: other rules
                would deal other cards.
        """
        content = content.removeprefix(codecs.BOM_UTF8).lstrip()
        try:
            if not content.startswith(b"{"):
                raise ValueError("it is no game that `save` in icarus play has written")
            saved = msgspec.json.decode(content, type=SavedGame)
            for name, digest in saved.files.items():
                if digest in files.values():
                    continue
                if Path(name).name in [each.name for each in files]:
                    raise ValueError(f"{name}, or a file that it imports, has changed")
                raise ValueError(f"give {_option_of(name)} {name}")
            agents = [None if seat is None else seat.agent(names) for seat in saved.seats]
            game = game_with(saved.game, files)
            if len(agents) != game.players:
                raise ValueError(
                    f"it has {count_text(len(agents), 'seat')}, and {game} has {game.players}"
                )
            session = cls(game, agents, saved.seed, files, saved.level, file=file)
            for move in saved.moves:
                session.apply(session.state.string_to_action(move))
        except (ValueError, TypeError, RecursionError, msgspec.DecodeError) as error:
            raise ValueError(f"{str(file or 'the file')!r} cannot be resumed: {error}") from None
        return session


# ------------------------------------------------------------------------------------------------------ the conversation


class Abandoned(ValueError):
    """Raised in a search that is not wanted any more."""


@attrs.frozen
class LogEntry:
    """An action as a viewer may know it.

    Attributes:
        index, played: its index in the session's `played`, and the entry there.
        text: who has acted, and what the viewer saw of it.
        what: the action's text, or what the game says of its move (`move_text`); "" where the viewer does not know it.
    """

    index: int
    played: Played
    text: str
    what: str


class Conversation:
    """What is said of a game, line by line, and for each viewer a description of it that holds only what he may know.

    Searches are made without the lock (`changed`); whatever changes the game meanwhile abandons them.

    Attributes:
        viewers: the seats that look, each by itself; None, as by default, where everything is open.
        adviser: the agent for hints and for looking back, as strong as the others, or stronger.
        contents: of each viewer, the description of the game as it stands.
        live: stands for the search under way; None where none is.
        shown: of each viewer, the last search that was shown to him.
        problem: why the agents cannot go on; a change of the game has them try again.
        is_open: whether all is shown to everybody, since somebody said `open`.
        links: for each viewer, the address that gives him his seat.
        next: the game that was begun after this one.
    """

    def __init__(self, session: Session, *viewers: int | None) -> None:
        adviser = next(filter(None, session.agents), USUAL)
        scheme, iterations = adviser.scheme, adviser.iterations
        if scheme.cheats:  # agents may look at what is hidden, but hints must not show it
            scheme = MO_ISMCTS.with_cutoff(scheme.cutoff)
        if iterations:
            iterations = max(iterations, _LEAST_ADVICE)
        self.adviser = attrs.evolve(adviser, scheme=scheme, iterations=iterations)
        self.session = session
        self.viewers = viewers or (None,)
        self.is_open = False
        self.problem = ""
        self.closed = False
        self.live: object = None
        self.links = list[str]()
        self.next: Conversation | None = None
        self.shown = dict[int | None, Result]()
        self.changed = threading.Condition()
        # Made now, they load all that a description needs before another thread runs.
        self.contents = {viewer: self._describe(viewer) for viewer in self.viewers}

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
        """Let chance or an agent act if it is due. Returns False if it is not: then nothing is to be done until the game changes."""
        with self.changed:
            if not self._is_due():
                return False
            try:
                self.session.apply(*self._search(self.session.choose))
            except Abandoned:
                return True
            # an error in a slot or a game of the user's own: viewers are told, and the game is kept
            except Exception as error:
                self.problem = f"the agent cannot continue: {sentence_of(error) or repr(error)}"
            self._update()
            return True

    def _search(self, search: Callable[..., Any]) -> Any:
        """The result of a search, which is called without the lock.

        Raises:
            Abandoned: the game has changed meanwhile.
        """
        live = self.live = object()
        self._update()

        def progress(iterations: int, seconds: float) -> None:
            if self.live is not live:
                raise Abandoned("the search was stopped")

        self.changed.release()
        try:
            return search(progress=progress)
        finally:
            self.changed.acquire()
            progress(0, 0)  # the game may have changed after the last call
            self.live = None

    def _go_on(self) -> None:
        """Abandon the search under way, forget what has failed, and look anew at what is due: the game has changed."""
        self.live, self.problem = None, ""
        self._update()

    def _update(self) -> None:
        """Describe the game anew to each viewer."""
        for viewer, before in self.contents.items():
            try:
                self.contents[viewer] = self._describe(viewer)
            except Exception as error:  # in a function of the user's own game; one can go back
                failed = f"the game cannot be shown: {sentence_of(error) or repr(error)}"
                self.contents[viewer] = {
                    **before,
                    "moves": [],
                    "status": failed,
                    "version": zlib.crc32(failed.encode()),
                }
        self.changed.notify_all()

    # -------------------------------------------------------------------------------------------------- the description

    def describe(self, viewer: int | None = None, since: int = -1, at: int | None = None) -> Answer:
        """How the game stands, as a viewer may know it; waits up to `WAIT` seconds for a new version.

        Args:
            since: the version that the page has.
            at: the number of actions, of those that the viewer noticed, after which the game is described; None for now.

        Raises:
            ValueError: `at` is below 0.
        """
        with self.changed:
            if at is not None:
                return self._describe(viewer, integer("at", at, 0))
            views = self.contents
            self.changed.wait_for(lambda: views[viewer]["version"] != since or self.closed, WAIT)
            return views[viewer]

    def _describe(self, viewer: int | None, at: int | None = None) -> Answer:
        session = self.session
        game = session.game
        seat = self._sees(viewer)
        log = self.log(viewer)
        past = log[:at]
        is_now = len(past) == len(log)
        state = session.state if is_now else log[len(past)].played.before
        moves = state.legal_actions() if is_now and self._is_asked(viewer) else []
        scene = self._with_trick(drawing(state, seat), past, seat)
        # a viewer to whom everything is open still plays from his own row
        if viewer is not None and seat is None:
            scene = scene.opened_to(viewer)
        board = svg(scene)
        # the whole picture says whether it counts players from 0
        if session.worded(board, viewer) != board:
            board = svg(scene.with_words(functools.partial(session.worded, viewer=viewer)))
        answer = {
            "game": str(game),
            "who": session.who(viewer),
            "at": len(past),
            "total": len(log),
            "board": board,
            "text": session.worded(scene.text(), viewer),
            "moves": [
                {"name": state.action_to_string(move), "parts": parts(state, move, scene, seat)}
                for move in moves
            ],
            "select": bool(game.board and game.board.is_choice),
            "last": self._marks(past, scene, seat),
            "log": [entry.text for entry in log],
            "over": session.over,
            "level": session.level,
            "seat": viewer,
            "players": game.players,
            "refusals": self._refusals(viewer),
            "status": self.status(viewer),
        }
        # the version changes only with what the viewer sees
        return {**answer, "version": zlib.crc32(repr(answer).encode())}

    def _is_asked(self, viewer: int | None) -> bool:
        """Whether it is a viewer's turn; viewer None acts for every person."""
        return self.session.waits_for is not None and viewer in (None, self.session.waits_for)

    def _refusals(self, viewer: int | None) -> dict[str, str]:
        """For each word, and for an action ("act"), why it would do nothing if the viewer said it now; "" if it does something."""
        session = self.session
        act = undo = why = hidden = shared = ""
        if not self._is_asked(viewer):
            act = "the game is over" if session.over else "it is not your turn"
        if not session.by_people:
            undo = "no action can be taken back, because you have not played yet"
        if not any(played.result for played in session.played):
            why = "no other player has searched yet"
        if session.game.determinize is not None and self._sees(viewer) is not None:
            hidden = REVEALS
        if len(session.people) > 1:
            shared = "with two persons at the table nothing is taken back or opened"
        return {
            "help": "",
            "moves": act,
            "save": "",
            "act": act,
            "hint": act or ("a search is already running" if self.live else ""),
            "undo": shared or undo,
            "open": shared or ("" if hidden else "everything is shown already"),
            "why": hidden or why,
        }

    def _sees(self, viewer: int | None) -> int | None:
        """The seat by whose eyes a viewer sees; None sees everything."""
        return None if self.is_open or self.session.over else viewer

    def _marks(self, log: list[LogEntry], scene: Scene, seat: int | None) -> list[str]:
        """The parts of the scene in which the last move of a player shows."""
        marks = list[str]()
        of_players = [entry for entry in log if entry.played.player != CHANCE]
        first = self.session.move_of(of_players[-1].index) if of_players else 0
        for entry in of_players:
            if entry.index < first:
                continue
            before, action = entry.played.before, entry.played.action
            marked = seen_parts(before, action)
            # where the viewer was told something else, its parts would tell which action it was
            if entry.what == entry.played.text and not marked:
                marked = parts(before, action, scene, seat)
            marks += marked
        return marks

    def _with_trick(self, scene: Scene, log: list[LogEntry], seat: int | None) -> Scene:
        """The scene, which shows a finished trick until the next card is played.

        A game clears the middle as soon as a trick is finished. People want to see the whole trick: what lay there before its last card,
        and this card.
        """
        cards = [entry for entry in log if CARD.fullmatch(entry.what)]
        if not cards:
            return scene
        last = cards[-1]
        if scene.names_in(last.what):  # it still lies there
            return scene
        before = drawing(last.played.before, seat).middle
        card = seat_name(self.session.game, last.played.player), last.what
        # nothing is shown where none lay there before: this was no card of a trick
        return attrs.evolve(scene, middle=before and (*before, card))

    def log(self, viewer: int | None) -> list[LogEntry]:
        """An entry for each action that a viewer noticed; nothing in them tells of the others."""
        session = self.session
        seat = self._sees(viewer)
        log = list[LogEntry]()
        for index, played in enumerate(session.played):
            what = played.text_for(seat)
            if what is not None:
                marks = "-".join(seen_parts(played.before, played.action))
                text = session.worded(what or marks or "a hidden choice", viewer)
                name = session.name_of(played.player, viewer)
                log.append(LogEntry(index, played, f"{name}: {text}", what))
        return log

    def status(self, viewer: int | None) -> str:
        """What the game waits for, or how it has ended."""
        session, player = self.session, self.session.state.current_player()
        if self.problem:
            return self.problem
        if session.over:
            return ending_of(session, viewer)
        if self._is_asked(viewer):
            if self.live:
                return "searching for a hint …"
            return (
                "your move goes on" if session.goes_on(len(session.played)) else "it is your turn"
            )
        if player == CHANCE:
            return "chance is drawn …"
        name = session.name_of(player, viewer)
        return f"{name[:1].upper()}{name[1:]} is thinking …"

    # --------------------------------------------------------------------------------------------------------- the lines

    def say(self, line: str, at: int | None = None, viewer: int | None = None) -> Answer:
        """Do what a line asks for: an action, or a word of `HELP`.

        Args:
            viewer: who says it.
            at: how many entries of the log he has seen; if there are more by now, an action or `undo` is late.

        Returns:
            `said`, a text; of a search a `title`, its `table`, whether it has a `tree`, and of a hint the name of the `move`.

        Raises:
            ValueError: it cannot be done now, or not at all.
        """
        line = line.strip()
        word, _, rest = line.partition(" ")
        with self.changed:
            self.speaker = viewer
            # an action may have the name of a word, or begin with one; only `save` has more behind it
            is_name = self._is_asked(viewer) and line in _names(self.session.state)
            refusals = self._refusals(viewer)
            if is_name or word not in refusals or (rest and word != "save"):
                word = "act"
            if word in ("act", "undo") and at not in (None, len(self.log(viewer))):
                raise ValueError(LATE)
            if refusals[word]:
                raise ValueError(refusals[word])
            if word == "act":
                return self._act(line)
            if word == "save":
                return self._save(rest.strip())
            return getattr(self, f"_{word}")()

    def _act(self, line: str) -> Answer:
        state = self.session.state
        numbered = {str(i): action for i, action in enumerate(state.legal_actions(), 1)}
        is_number = line in numbered and line not in _names(state)
        self.session.apply(numbered[line] if is_number else state.string_to_action(line))
        self._go_on()
        return {"said": ""}

    def _undo(self) -> Answer:
        session = self.session
        first = session.move_of(session.by_people[-1])
        count = sum(entry.index >= first for entry in self.log(self.speaker))
        session.go_back(first)
        self._go_on()
        return {"said": f"{count_text(count, 'action')} taken back"}

    def _open(self) -> Answer:
        self.is_open = True
        self._update()
        return {"said": "everything is shown from now on"}

    def _save(self, name: str) -> Answer:
        command = self.session.save(Path(name) if name else None)
        return {"said": f"saved; {command} continues from here"}

    def _help(self) -> Answer:
        return {"said": HELP}

    def _moves(self) -> Answer:
        moves = [f"{i}: {name}" for i, name in enumerate(_names(self.session.state), 1)]
        whole = "  ".join(move.replace(" ", NO_BREAK) for move in moves)
        return {"said": textwrap.fill(whole, WIDTH, break_on_hyphens=False).replace(NO_BREAK, " ")}

    def _hint(self) -> Answer:
        viewer = self.speaker  # another one may speak before the search has ended
        state, seed = self.session.state, self.session.key(_HINT_STREAM)
        try:
            result = self._search(functools.partial(self.adviser.search, state, seed))
        finally:
            self._update()
        game, move = state.game, state.action_to_string(result.action)
        others = _values_of(result)
        value = others.pop(result.action, None)
        if len(result.actions) == 1:
            reason = "It is the only move"
        elif value is None:  # the others may be proven to be worse
            reason = "No playout has tried it"
        else:
            reason = f"It is worth {_reward_text(game, value)} from here"
            next_best = max(others.values(), default=math.inf)
            # the hint is the move of most visits, which may not be that of the greatest value
            if next_best <= value:
                reason += f", the next best {_reward_text(game, next_best)}"
        return {
            **self._show(viewer, result, "what a search finds in your place"),
            "said": f"hint: {move}. {reason}.",
            "move": move,
        }

    def _why(self) -> Answer:
        """The last search of an agent; `_refusals` keeps it from who would learn of hidden cards or pieces."""
        played = next(each for each in reversed(self.session.played) if each.result)
        return self._show(
            self.speaker,
            played.result,
            f"why {self.session.name_of(played.player, self.speaker)} played {played.text}",
        )

    # ------------------------------------------------------------------------------------------------------ looking back

    def judge(self, at: int | None, viewer: int | None) -> Answer:
        """Compare an action, after the end, with the one that a search finds: both values, and the parts to click for the better one.

        The answer is empty if nobody had a choice, or if no playout has tried one of the two. In a game of two whose rewards sum to 1
        they are `rivals`: what one of them loses, the other one wins.

        Args:
            at: the index of the action in the session's `played`.

        Raises:
            ValueError: the game is not over, or it has no such action.
        """
        session = self.session
        if not session.over:
            raise ValueError("the game is not over")
        at = integer("at", at, 0, len(session.played) - 1)
        played = session.played[at]
        state = played.before
        if played.player == CHANCE or len(state.legal_actions()) == 1:
            return {}
        result = self.adviser.search(state, (session.seed, _HINT_STREAM, at))
        values = _values_of(result)
        value, best = values.get(played.action), values.get(result.action)
        if value is None or best is None:
            return {}
        better, game = state.action_to_string(result.action), session.game
        rewards = session.state.returns()
        return {
            "mine": played.player == viewer,
            "rivals": len(rewards) == 2 and math.isclose(sum(rewards), 1),
            "value": value,
            "best": best,
            "better": parts(state, result.action, drawing(state)),
            "words": f"{played.text} instead of {better} is worth {_reward_text(game, value)}, not {_reward_text(game, best)}",
        }

    def _show(self, viewer: int | None, result: Any, title: str) -> Answer:
        self.shown[viewer] = result
        return {"said": "", "title": title, "table": str(result), "tree": bool(result.records)}


def _values_of(result: Result) -> dict[int, float]:
    """The value of each action that a playout has tried."""
    values = zip(result.actions, result.values.tolist(), strict=True)
    return {action: value for action, value in values if not math.isnan(value)}


def _reward_text(game: AnyGame, reward: float) -> str:
    """A mean reward as a player counts it: in points of the game, or in wins, of which a draw or a second place may be a part."""
    low, high = game.utilities
    if (low, high) == (-1, 1):
        return f"{100 * reward:.0f} of 100 wins"
    points = round(low + reward * (high - low), 1)
    return f"{points + 0.0:.1f} points"  # a negative zero becomes a positive one


@functools.lru_cache(maxsize=4096)
def _told_text(before: State, move: int, seat: int) -> str:
    """The text of an action that a seat sees as this move; "" if the seat cannot know which action it was.

    Several actions can be seen as one move. The seat knows the text if all of them have it, in the true state and in states drawn for him.
    """
    if text := before.game.move_text_of(move):
        return text
    texts = _texts_seen_as(move, before, seat)
    for seed in range(_DRAWS):
        if len(texts) > 1:
            return ""
        try:
            state = before.determinize(seat, seed=seed)
        except ValueError:
            return ""  # the game cannot draw such a state
        texts |= _texts_seen_as(move, state, seat)
    return texts.pop() if len(texts) == 1 else ""


def _texts_seen_as(move: int, state: State, seat: int) -> set[str]:
    """The texts of the legal actions that a seat sees as this move."""
    column = state.game.perspective(seat)
    actions = (each for each in state.legal_actions() if state.observed(each)[column] == move)
    return set(map(state.action_to_string, actions))


def _names(state: State) -> list[str]:
    """The texts of the legal actions."""
    return list(map(state.action_to_string, state.legal_actions()))


def ending_of(session: Session, viewer: int | None) -> str:
    """How a game has ended, first for the viewer."""
    rewards, (low, high) = session.state.returns(), session.game.utilities
    points = [low + reward * (high - low) for reward in rewards]
    in_points = (low, high) != (-1, 1)
    count = len(rewards)
    if count == 1:
        worth = _points_text(points[0]) if in_points else f"a reward of {rewards[0]:g}"
        return f"the game has ended with {worth}"
    best = [seat for seat, reward in enumerate(rewards) if reward == max(rewards)]
    if len(best) == count:
        return "the game is drawn"
    if viewer is None:
        names = " and ".join(map(session.name_of, best))
        return f"{names} {'has' if len(best) == 1 else 'have'} won"
    mine = rewards[viewer]
    if viewer in best:
        text = "you win"
    elif len(set(rewards)) == 2:  # all who do not win have the same reward
        text = "you lose"
    else:
        text = f"you come in as number {1 + sum(reward > mine for reward in rewards)} of {count}"
    if count > 2:
        return f"{text} with others" if rewards.count(mine) > 1 else text
    margin = max(points) - min(points)
    if math.isclose(sum(points), 0, abs_tol=1e-9):  # one pays what the other gets
        margin /= 2
    return f"{text} by {_points_text(margin)}" if in_points else text


def _points_text(points: float) -> str:
    number = f"{round(points, 9) + 0.0:g}"  # without an error of rounding, or a negative zero
    return f"{number} point{'' if number == '1' else 's'}"
