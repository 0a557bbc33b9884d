"""A thread that searches, and the one way to abandon a search: another task, or none, takes its place."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import attrs

from icarus.commands.play.session import Progress
from icarus.engine.match import Agent

PATIENCE = 2.0  # seconds in which a search that is abandoned has ended, if the functions of its game return at all


class Abandoned(Exception):
    """Raised in a search whose task is not wanted any more."""


@attrs.define(eq=False)
class Task:
    """A search to be made.

    Attributes:
        search: `search(progress)`, made without the lock; `progress` ends it when it is abandoned.
        enter: `enter(result)`, called with the lock, unless the task has been abandoned.
        agent: who searches; None where nothing is searched.
        name: what it is, for who looks on.
        iterations, seconds: made and spent so far.
        moves: what the search has found so far, where it may be shown.
        error: why it has failed.
        done: whether it has ended, and was not abandoned.
        is_shown: whether what it finds may be shown.
    """

    search: Callable[[Progress], Any]
    enter: Callable[[Any], object]
    agent: Agent | None
    name: str
    iterations: int = 0
    seconds: float = 0.0
    moves: list[list[Any]] = attrs.field(factory=list)
    error: Exception | None = None
    done: bool = False
    is_shown: bool = False


class Worker:
    """A thread that does one task after the other. While it searches the lock is free.

    Attributes:
        changed: the lock of all that tasks and their owner share, and the news of it.
        task: what the thread is at, or does next. Who puts another there, or None, abandons the one before.
        closed: whether nothing more is done.
    """

    def __init__(self, due: Callable[[], Task | None], done: Callable[[Task], object]) -> None:
        """With the lock, `due()` says what is to be done next and `done(task)` hears of what has been done."""
        self.changed, self.closed = threading.Condition(), False
        self.task: Task | None = None
        self._due, self._done = due, done
        self.thread = threading.Thread(target=self._run, name="icarus-play", daemon=True)

    def start(self) -> None:
        """Do what is due from now on."""
        self.thread.start()

    def close(self) -> None:
        """Abandon what is under way, and do nothing more."""
        with self.changed:
            self.closed, self.task = True, None
            self.changed.notify_all()
        if self.thread.is_alive():
            self.thread.join(PATIENCE)

    def wait_for(self, task: Task) -> bool:
        """With the lock: wait until a task has been done; False if it has been abandoned."""
        self.changed.wait_for(lambda: self.task is not task)
        return task.done

    def _run(self) -> None:
        while (task := self._next()) is not None:
            result = None
            try:
                result = task.search(partial(self._go_on, task))
            except Exception as error:  # a slot or a game of the user's own: it is told, and nothing is lost
                task.error = error
            with self.changed:
                if self.task is task:
                    self.task = None
                    self._enter(task, result)

    def _next(self) -> Task | None:
        with self.changed:
            while not self.closed:
                self.task = self.task or self._due()
                if self.task is not None:
                    return self.task
                self.changed.wait()
            return None

    def _go_on(self, task: Task, iterations: int, seconds: float) -> None:
        with self.changed:
            if self.task is not task:
                raise Abandoned
            task.iterations, task.seconds = iterations, seconds

    def _enter(self, task: Task, result: Any) -> None:
        if task.error is None:
            try:
                task.enter(result)
            except Exception as error:
                task.error = error
        task.done = True
        self._done(task)
        self.changed.notify_all()
