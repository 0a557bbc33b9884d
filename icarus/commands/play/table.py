"""A game at a table: what its agents and those who look at the page do in it, and a description that holds only what the seat may know."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from icarus.checks import count_text, is_integer
from icarus.commands.play.review import Review
from icarus.commands.play.sentences import ending_of, failure_text, progress_of
from icarus.commands.play.session import Played, Progress, Session, adviser_like
from icarus.commands.play.worker import Task, Worker
from icarus.engine.levels import number_of_levels
from icarus.engine.match import Agent
from icarus.engine.result import Result
from icarus.kernel import CHANCE
from icarus.kernel.state import State
from icarus.views.boards import COLOURS, SELECTED, drawing, label, marks, parts

WAIT = 20.0  # seconds that a page waits for news before it asks again
SHOWN = 6  # moves of a search under way
LATE = "the game has changed in the meantime; this is the current position"
POSITION = ("total", "over")  # of a description: what changes whenever the game goes on or back
HINT = "a hint"
REQUESTS = ("act", "undo", "resign", "strength", "review", "record", "hint", "why", "open", "save")  # a method of each
STRENGTHS = ("level", "iterations", "seconds")
ENDED = "the game has ended and everything is shown; start another one"

Answer = dict[str, Any]


@attrs.frozen
class LogEntry:
    """A line of the log.

    Attributes:
        index: of the action in the game.
        parts: of the board, where the action shows.
    """

    index: int
    text: str
    parts: list[str]


class Table:
    """A game, the worker who searches for its agents and for hints, and its description.

    Only the actions that the observer notices are listed and counted, so that nothing tells of the others.

    Attributes:
        observer: the seat that looks at the page; None where everything is open.
        levels: file of the levels that the page offers; by default those of the package.
        version: goes up whenever the description changes; a click on an older one is late.
        results: the searches whose trees the page may show, by name.
        problem: why the agents, or the review, cannot go on; a change of the game or of their strength has them try again.
        review: of the game, once it is over and somebody has asked for it.
    """

    def __init__(self, session: Session, adviser: Agent, observer: int | None, levels: Path | None = None) -> None:
        self.session, self.adviser, self.observer = session, adviser, observer
        self.version, self.problem, self.results = 0, "", dict[str, Result]()
        self._oldest = 0  # the first version with the position of now: a page that has it may act
        self.review: Review | None = None
        self.levels, self._number_of_levels = levels, number_of_levels(session.game, levels)
        self._agents_at_start = list(session.agents)
        self._strength_now = Answer()  # what was asked for since
        self._worker = Worker(self._due, self._hear)
        self._changed = self._worker.changed
        self._log, self._log_observer = list[LogEntry](), observer
        self._content = self._describe(None)  # loads all that a description needs before another thread runs

    def start(self) -> None:
        """Let chance and the agents act from now on."""
        self._worker.start()

    def close(self) -> None:
        """Let nothing more happen; a search under way is abandoned."""
        self._worker.close()

    def _due(self) -> Task | None:
        """What is to be done next: an action of chance or of an agent, or, once the game is over, a step of its review."""
        session, review = self.session, self.review
        if self.problem or session.waits_for is not None:
            return None
        if not session.over:
            player = session.state.current_player()
            agent = None if player == CHANCE else session.agents[player]
            return self._task("the agent", agent, session.choose, lambda choice: session.apply(*choice))
        if review is None or review.done:
            return None
        return Task(review.step, lambda nothing: None, self.adviser, "the review")

    def _task(self, name: str, agent: Agent | None, search: Callable[..., Any], enter: Callable[[Any], object]) -> Task:
        """A search that is watched where the page may show what it finds."""

        def search_and_watch(progress: Progress) -> Any:
            return search(progress, partial(_watch, task) if task.is_shown else None)

        task = Task(search_and_watch, enter, agent, name, is_shown=name == HINT or self._shows_searches())
        return task

    def _hear(self, task: Task) -> None:
        """Tell of a task that has been done."""
        if task.error is not None and task.name != HINT:
            self.problem = f"{task.name} cannot continue: {failure_text(task.error)}"
        self._update()

    def _go_on(self) -> None:
        """Abandon the search under way, forget what has failed, and look anew at what is due: game or agents have changed."""
        self._worker.task, self.problem = None, ""
        self._update()

    @property
    def live(self) -> Answer:
        """How far the search under way has come, and, where the page may show it, what it has found so far."""
        task = self._worker.task
        if task is None or task.agent is None or not task.iterations:
            return {}
        return {"said": progress_of(task), "moves": task.moves}

    def _update(self) -> None:
        """Count a new version if the observer can see that anything has changed."""
        before = self._content
        try:
            self._content = self._describe(None)
        except Exception as error:  # in a function of the user's own game; one can go back
            failed = f"the game cannot be shown: {failure_text(error)}"
            self._content = {**before, "moves": [], "undo": self._may_undo(), "status": failed}
        if self._content != before:
            self.version += 1
            if any(self._content[name] != before[name] for name in POSITION):
                self._oldest = self.version
        self._changed.notify_all()

    # --------------------------------------------------------------------------------------------------- the description

    def describe(self, since: int, at: int | None) -> Answer:
        """How the game stands, as the observer may know it; waits a while where nothing is new.

        Args:
            since: the version that the page has.
            at: after how many actions that the observer noticed; None for now.
        """
        with self._changed:
            self._changed.wait_for(lambda: self.version != since or self._worker.closed, WAIT if at is None else 0)
            content = self._content if at is None else self._describe(at)
            return {"version": self.version, **content}

    def _describe(self, at: int | None) -> Answer:
        session, over = self.session, self.session.over
        observer = None if over else self.observer
        log = self._log_of(observer)
        count = len(log) if at is None else max(0, min(at, len(log)))
        now = count == len(log)
        state = session.at(len(session.played) if now else log[count].index)
        picture = drawing(state, observer, player=session.waits_for)
        return {
            "game": str(session.game),
            "who": self._who(),
            "seat": session.people[0] if session.people else None,
            "hidden": observer is not None and session.game.determinize is not None,
            "at": count,
            "total": len(log),
            "board": picture.svg(),
            "text": picture.text(),
            "moves": _moves(state) if session.waits_for is not None and now else [],
            "select": session.game.name in SELECTED,
            "last": next((entry.parts for entry in reversed(log[:count]) if entry.parts), []),
            "log": [entry.text for entry in log],
            "status": self.problem or self._status(),
            "over": over,
            "undo": self._may_undo(),
            "hint": session.waits_for is not None and self._worker.task is None,
            "people": bool(session.people),
            "why": self._has_reasons(count),
            "strength": self._strength_now,
            "levels": self._number_of_levels,
            "review": self._number_reviews(log) if over and self.review is not None else None,
        }

    def _number_reviews(self, log: list[LogEntry]) -> Answer:
        """The review, with the place of each decision in the log."""
        assert self.review is not None
        places = {entry.index: place for place, entry in enumerate(log)}
        entries = [{**attrs.asdict(each), "at": places[each.index]} for each in self.review.entries]
        names = [self.session.name_of(i) for i in range(self.session.game.players)]
        return {"done": self.review.done, "entries": entries, "names": names}

    def _log_of(self, observer: int | None) -> list[LogEntry]:
        """An entry for each action that the observer noticed."""
        if observer != self._log_observer:
            self._log, self._log_observer = [], observer
        first = self._log[-1].index + 1 if self._log else 0
        for index in range(first, len(self.session.played)):
            if self.session.notices(observer, index):
                played, text = self.session.played[index], self.session.visible_text(observer, index)
                before = self.session.at(index)
                places = list(marks(before, played.action, text is not None))
                text = text and label(before, played.action)
                what = text or "-".join(places) or "(hidden from you)"
                self._log.append(LogEntry(index, f"{self.session.name_of(played.player)}: {what}", places))
        return self._log

    def _status(self) -> str:
        session = self.session
        if session.resigned is not None:
            return f"{session.name_of(session.resigned)} has resigned"
        if session.over:
            return ending_of(session)
        if session.waits_for is not None:
            return "it is your turn" if self._worker.task is None else "searching for a hint …"
        player = session.state.current_player()
        return (
            "the cards are dealt, or dice rolled …" if player == CHANCE else f"{session.name_of(player)} is thinking …"
        )

    def _who(self) -> str:
        """Who plays, in a line."""
        seats, colours = dict[str, list[str]](), COLOURS.get(self.session.game.name)
        for seat, agent in enumerate(self.session.agents):
            name = "you" if agent is None else str(agent)
            colour = f" ({colours[seat]})" if colours else ""
            seats.setdefault(name, []).append(f"{self.session.name_of(seat)}{colour}")
        you_first = sorted(seats.items(), key=lambda entry: entry[0] != "you")
        return "; ".join(f"{name}: {', '.join(names)}" for name, names in you_first)

    def _shows_searches(self) -> bool:
        """Whether the page may show what agents think: not where it would tell of cards or pieces that the seat does not see."""
        return self.observer is None or self.session.game.determinize is None or self.session.over

    def _is_shown_at_last(self) -> bool:
        """Whether the end of the game has shown what was hidden: there is no way back then."""
        return self.session.over and self.observer is not None and self.session.game.determinize is not None

    def _may_undo(self) -> bool:
        return not self._is_shown_at_last() and any(each.player in self.session.people for each in self.session.played)

    def _has_reasons(self, count: int | None = None) -> bool:
        """Whether the page may show why an agent acted, among so many lines of the log."""
        return self._shows_searches() and any(played.result is not None for played in self._upto(count))

    def _upto(self, count: int | None) -> list[Played]:
        """What has been played until so many lines of the log; all for None."""
        log = self._log_of(None if self.session.over else self.observer)
        if count is None or count >= len(log):
            return self.session.played
        return self.session.played[: log[count - 1].index + 1 if count > 0 else 0]

    # ------------------------------------------------------------------------------------------------------- the requests

    def request(self, name: str, arguments: Answer) -> Answer:
        """Do what the page asks for.

        Returns:
            The answer, with the version of the game that it left.

        Raises:
            ValueError: it cannot be done now, or not at all.
        """
        if name not in REQUESTS:
            raise ValueError(f"unknown request {name!r}")
        with self._changed:
            current = range(self._oldest, self.version + 1)
            if name in ("act", "undo", "resign") and arguments.get("version") not in current:
                raise ValueError(LATE)
            answer: Answer = getattr(self, f"_{name}")(arguments)
            return {"version": self.version, **answer}

    def _act(self, arguments: Answer) -> Answer:
        action = arguments.get("action")
        if not is_integer(action):
            raise ValueError(f"{action!r} is not an action")
        self.session.act(action)
        self._go_on()
        return {}

    def _undo(self, arguments: Answer) -> Answer:
        if self._is_shown_at_last():
            raise ValueError(ENDED)
        at = arguments.get("at")
        upto = self._log[at].index if isinstance(at, int) and 0 <= at < len(self._log) else None
        count = self.session.undo(upto, None if self.session.over else self.observer)
        self.review, self._log = None, []
        self._go_on()
        return {"said": f"{count_text(count, 'action')} taken back"}

    def _strength(self, arguments: Answer) -> Answer:
        """Another strength of the agents from now on: a level, or a budget of their strategies; that of the start, if nothing is given."""
        budget = {name: value for name in STRENGTHS if (value := arguments.get(name)) is not None}
        agents = [agent and self._of_strength(agent, budget) for agent in self._agents_at_start]
        self.session.agents[:], self._strength_now = agents, budget
        self.adviser = next((adviser_like(agent) for agent in agents if agent is not None), self.adviser)
        self._go_on()
        return {"said": self._who()}

    def _of_strength(self, agent: Agent, budget: Answer) -> Agent:
        if not budget:
            return agent
        if "level" in budget:
            return Agent.at_level(self.session.game, budget["level"], self.levels)
        return attrs.evolve(agent, **{"iterations": None, "seconds": None, **budget})

    def _review(self, arguments: Answer) -> Answer:
        if not self.session.over:
            raise ValueError("the game is not over yet")
        self.review = self.review or Review(self.session, self.adviser)
        self._update()
        return {}

    def _record(self, arguments: Answer) -> Answer:
        if not self._shows_searches():
            raise ValueError("the record of the game would reveal hidden facts; it is shown when the game is over")
        return {"said": self.session.record()}

    def _resign(self, arguments: Answer) -> Answer:
        if self.session.waits_for is None:
            raise ValueError("it is not your turn")
        self.session.resign(self.session.waits_for)
        self._go_on()
        return {}

    def _hint(self, arguments: Answer) -> Answer:
        if self.session.waits_for is None:
            raise ValueError("you have no decision to make now")
        if self._worker.task is not None:
            raise ValueError("a search for a hint is already running")
        enter = partial(self.results.__setitem__, "hint")
        task = self._worker.task = self._task(HINT, self.adviser, partial(self.session.hint, self.adviser), enter)
        self._update()
        if not self._worker.wait_for(task):
            raise ValueError("the search for a hint was stopped")
        if task.error is not None:
            raise ValueError(f"no hint can be given: {failure_text(task.error)}")
        return self._search_view("hint", "what a search finds in your place")

    def _save(self, arguments: Answer) -> Answer:
        try:
            return {"said": f"saved; {self.session.command(self.session.keep())} --browser continues from here"}
        except OSError as error:
            raise ValueError(f"the game cannot be saved: {error.strerror}") from None

    def _open(self, arguments: Answer) -> Answer:
        self.observer = None
        self._update()
        return {"said": "everything is shown from now on"}

    def _why(self, arguments: Answer) -> Answer:
        if not self._has_reasons():
            raise ValueError(
                'no search can be shown: none was made, or it would reveal hidden cards; "show all" reveals them'
            )
        at = arguments.get("at")
        searched = [played for played in self._upto(at if isinstance(at, int) else None) if played.result is not None]
        if not searched:
            raise ValueError("no search had been made by then")
        last = searched[-1]
        assert last.result is not None
        self.results["why"] = last.result
        return self._search_view("why", f"why {self.session.name_of(last.player)} played {last.text}")

    def _search_view(self, name: str, title: str) -> Answer:
        """A search for the page: its table, and where its tree is, if it has one: OOS has none."""
        result = self.results[name]
        return {"title": title, "said": str(result), "tree": f"/tree/{name}" if isinstance(result, Result) else None}


def _moves(state: State) -> list[Answer]:
    return [
        {"action": action, "text": label(state, action), "parts": list(parts(state, action))}
        for action in state.legal_actions()
    ]


def _watch(task: Task, result: Result) -> None:
    """Keep what a search has found so far, for the page."""
    order = np.argsort(-result.visits, kind="stable")[:SHOWN]
    task.moves = [
        [label(result.state, result.actions[i]), int(result.visits[i]), round(float(result.values[i]), 3)]
        for i in order
        if result.visits[i]
    ]
