"""Playing in the terminal: plain lines in and out, for every game."""

import difflib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from icarus.checks import count_text
from icarus.commands.play.sentences import ending_of
from icarus.commands.play.session import Played, Session
from icarus.engine.match import Agent
from icarus.engine.result import Result
from icarus.views.boards import drawing

LISTED = 24  # actions that are listed without being asked for
WIDTH = 80

HELP = """\
an action   play it, by its name or its number in the list
moves       list all actions that are legal now
hint        what a search finds in your place
why         the table of the last search of another player; why ACTION, of the
            one that led to this action, by its name
open        show everything from now on, hidden cards and pieces too
tree FILE   write the last search shown, as a page for a browser
undo        go back to before your last action
save FILE   keep the game, for icarus play --resume FILE
resign      give up
quit        stop; the game is kept in a file"""


class Terminal:
    """A conversation about one game.

    Attributes:
        seat: the seat whose observations the person sees; None where everything is open.
        status_of: shows a text as long as a block lasts, where it can be taken back.
    """

    def __init__(self, session: Session, adviser: Agent, seat: int | None, say: Callable[[str], None]) -> None:
        self.session, self.adviser, self.seat, self.say = session, adviser, seat, say
        self.shown: Result | None = None  # the last table that was printed
        self.status_of: Callable[[str], AbstractContextManager[None]] = lambda text: nullcontext()

    def run(self, ask: Callable[[str], str]) -> None:
        """Play until the game is over or the person stops; `ask(prompt)` reads a line and raises EOFError at the end of input."""
        try:
            while True:
                self.catch_up()
                if self.session.over:
                    return self.end()
                self.board()
                while self.answer(ask(self.prompt()).strip()):
                    pass
        except (EOFError, KeyboardInterrupt):
            self.keep()

    def prompt(self) -> str:
        """The name of the player whose action is asked for."""
        waits_for = self.session.waits_for
        return "> " if waits_for is None else f"{self.session.name_of(waits_for)}> "

    def catch_up(self) -> None:
        """Let the others act, and print their actions."""
        session = self.session
        for played in session.steps(lambda player: self.status_of(f"{session.name_of(player)} is thinking …")):
            if session.notices(self.seat, len(session.played) - 1):
                self.say(self.describe(played))
            if not session.people and not session.over:
                self.say(drawing(session.state, self.seat).text() + "\n")

    def describe(self, played: Played) -> str:
        """The last action, as far as the person may see it."""
        text = self.session.visible_text(self.seat, len(self.session.played) - 1)
        return f"{self.session.name_of(played.player)}: {text or '(hidden from you)'}"

    def board(self) -> None:
        """Print the state and the actions."""
        self.say("")
        self.say(drawing(self.session.state, self.seat).text())
        legal = self.session.state.legal_actions()
        if len(legal) <= LISTED:
            self.list_moves()
        else:
            self.say(f"{len(legal)} actions are legal; type moves for the legal actions, help for the commands")

    def list_moves(self) -> None:
        state = self.session.state
        for line in in_columns([f"{i}: {state.action_to_string(a)}" for i, a in enumerate(state.legal_actions(), 1)]):
            self.say(line)

    def answer(self, line: str) -> bool:
        """Do what a line asks for; True where the person is to be asked again without a new board."""
        word, _, rest = line.partition(" ")
        try:
            if line in ("quit", "exit", "q"):
                raise EOFError
            if line in ("undo", "resign"):
                self.go_back() if line == "undo" else self.session.resign(self.session.waits_for or 0)
                return False
            if line in ("help", "?", "moves", "hint", "open") or word in ("why", "tree", "save"):
                self.talk(word, rest.strip())
                return True
            self.say(self.describe(self.session.act(self.action(line))))
            return False
        except ValueError as error:
            self.say(str(error))
        except OSError as error:  # of a file that was to be written; the game goes on
            self.say(f"{error.filename!r} cannot be written: {error.strerror}")
        return True

    def talk(self, word: str, rest: str) -> None:
        """What changes nothing in the game."""
        if word in ("help", "?"):
            self.say(HELP)
        elif word == "moves":
            self.list_moves()
        elif word == "hint":
            with self.status_of(f"a hint, from a search of {self._budget()} …"):
                result = self.session.hint(self.adviser)
            self.table(result)
        elif word == "why":
            self.table(self.last_search(rest))
        elif word == "open":
            self.seat = None
            self.board()
        elif not rest:
            raise ValueError(f"{word} needs a file: {word} mine.{'html' if word == 'tree' else 'txt'}")
        elif word == "save":
            self.session.save(Path(rest))
            self.say(f"saved; {self.session.command(Path(rest))} continues from here")
        elif self.shown is None:
            raise ValueError("there is no search to write yet; type hint or why first")
        elif not isinstance(self.shown, Result):
            raise ValueError(
                "the last search has no tree that can be written; its algorithm keeps the tree of the game"
            )
        else:
            self.shown.to_html(rest)
            self.say(f"tree: {rest}")

    def _budget(self) -> str:
        iterations, seconds = self.adviser.iterations, self.adviser.seconds
        return f"{seconds:g} s" if iterations is None else f"{iterations:,} iterations"

    def table(self, result: Result) -> None:
        self.shown = result
        self.say(str(result))

    def last_search(self, text: str = "") -> Result:
        """The last search of another player, or of one that led to an action, where looking at it shows nothing that is hidden."""
        if self.seat is not None and self.session.game.determinize is not None and not self.session.over:
            raise ValueError("that would reveal hidden cards or pieces; type open to reveal them from now on")
        searches = [(play.text, play.result) for play in self.session.played if play.result is not None]
        if not searches:
            raise ValueError("no other player has searched yet")
        matching = [result for action, result in searches if text.lower() in ("", action.lower())]
        if not matching:
            last = ", ".join(dict.fromkeys(action for action, _ in searches[-1:-4:-1]))
            raise ValueError(f"no search led to {text!r}; the last actions of searches: {last}")
        return matching[-1]

    def action(self, text: str) -> int:
        """The legal action of this name, or of this number in the list.

        Raises:
            ValueError: there is no such action; the message names the nearest ones.
        """
        state = self.session.state
        legal = state.legal_actions()
        named = list(dict.fromkeys(map(state.action_to_string, legal)))
        for spelling in (text, text.upper(), text.lower()):
            if spelling in named:
                return state.string_to_action(spelling)
        if text.isdecimal() and 1 <= int(text) <= len(legal):
            return legal[int(text) - 1]
        names = [*named, *_WORDS]
        near = difflib.get_close_matches(text, names, n=3) or difflib.get_close_matches(text.lower(), names, n=3)
        advice = (
            f"did you mean {' or '.join(near)}?" if near else "type moves for the legal actions, help for the commands"
        )
        raise ValueError(f"{text!r} is not legal here; {advice}" if text else "type an action, or help")

    def go_back(self) -> None:
        count = self.session.undo(seat=None if self.session.over else self.seat)
        self.say(f"{count_text(count, 'action')} taken back")

    def end(self) -> None:
        """Print the last position and how the game has ended."""
        session = self.session
        self.say("")
        if session.resigned is not None:
            self.say(
                f"{session.name_of(session.resigned)} has resigned after {count_text(len(session.played), 'action')}"
            )
            return
        self.say(drawing(session.state).text())
        self.say(ending_of(session))

    def keep(self) -> None:
        """Save the game that was broken off, if anybody has played in it."""
        self.say("")
        if not any(played.player in self.session.people for played in self.session.played):
            return
        self.say(f"stopped; {self.session.command(self.session.keep())} continues from here")


_WORDS = ("moves", "hint", "why", "open", "tree", "undo", "save", "resign", "quit", "help")


def in_columns(texts: list[str]) -> Iterator[str]:
    """Texts side by side, as many as a line takes."""
    width = max(map(len, texts)) + 2
    across = max(1, WIDTH // width)
    for first in range(0, len(texts), across):
        yield "".join(text.ljust(width) for text in texts[first : first + across]).rstrip()
