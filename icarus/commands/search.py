"""`icarus search`: what a search of one position finds for each action."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from icarus.algebra import Enhancement
from icarus.commands import options
from icarus.commands.console import print_note, print_text, progress_of, show_compilation
from icarus.commands.options import agent_settings, value_option
from icarus.engine.algorithm import Algorithm
from icarus.engine.match import Agent
from icarus.engine.program.lowering import components_of
from icarus.engine.recommendation import most_visits, read_recommendation
from icarus.engine.result import SearchInterrupted, unknown_component
from icarus.engine.validation import check_cutoff
from icarus.equilibrium.search import check_trees, read_scheme
from icarus.kernel.game import AnyGame
from icarus.kernel.state import State
from icarus.specs import parse
from icarus.views.comparison import export, follow_search, write_comparison
from icarus.views.document import check_new_file
from icarus.views.playout import show_playout
from icarus.views.records import show_records
from icarus.views.tree_page import write_tree_page


def search_command(
    game: options.GameName,
    strategy: Annotated[str, value_option("STRATEGY", 'Such as "RAVE >> (MAST + NAST2)/2".')] = "BASELINE",
    iterations: options.Iterations = None,
    seconds: options.Seconds = None,
    seed: options.Seed = 0,
    moves: Annotated[
        str, value_option("MOVES", 'Moves to play before the search, in the notation of the game: "d3 c5".')
    ] = "",
    scheme: options.Scheme = options.DEFAULT_SCHEME,
    cutoff: options.Cutoff = None,
    recommendation: options.Recommendation = options.DEFAULT_RECOMMENDATION,
    threads: options.Threads = 1,
    html: Annotated[Path | None, value_option("FILE", "Write the tree to this new file, as an HTML page.")] = None,
    playout: Annotated[
        bool, typer.Option("--playout", help="Print one more playout step by step. With --html it is part of the page.")
    ] = False,
    records: Annotated[
        list[str] | None,
        value_option(
            "NAME",
            "Print what this component of the strategy has learned: its records with the most updates. Repeatable.",
        ),
    ] = None,
    beside: Annotated[
        list[str] | None, value_option("STRATEGY", "Another strategy for the same position, side by side. Repeatable.")
    ] = None,
    to_json: Annotated[
        Path | None,
        value_option("FILE", "Write the course of the search and its tree to this new file, as JSON.", "--json"),
    ] = None,
    files: options.With = None,
) -> None:
    """Search one position."""
    for path in (html, to_json):
        if path is not None:
            check_new_file(path)
    loaded, names, _ = options.load_game(game, files)
    agent = Agent(
        **agent_settings(strategy, names, read_scheme(scheme).with_cutoff(cutoff)),
        iterations=options.default_iterations(iterations, seconds),
        seconds=seconds,
        threads=threads,
        recommendation=read_recommendation(recommendation),
    )
    if isinstance(agent.strategy, Algorithm) and (html or to_json or playout or records or beside):
        raise ValueError(
            f"{strategy} keeps no tree and no records that could be shown; a composition of enhancements does"
        )
    if playout and (threads > 1 or agent.scheme.tree_parameter):
        raise ValueError("--playout shows a search of one tree in one thread")
    check_trees(loaded, [agent])
    if isinstance(agent.strategy, Enhancement):
        check_cutoff(loaded, agent.scheme)
        existing = [*map(str, components_of(agent.strategy, agent.scheme.uses_exp3(loaded))[1])]
        for name in records or []:
            if name not in existing:
                raise ValueError(unknown_component(name, existing))
    with show_compilation():
        state = state_after(loaded, seed, moves)
        print_text(str(state))
        if beside or to_json is not None:
            if seconds is not None or threads > 1 or playout or records or agent.recommendation is not most_visits:
                raise ValueError(
                    "--beside and --json show whole searches, by --iterations, --scheme and --cutoff alone"
                )
            _compare(agent, [parse(text, **names) for text in beside or []], state, seed, html, to_json)
            return
        with _shown_progress(agent.iterations) as progress:
            result = agent.search(state, seed, progress=progress)
    page = None
    if playout and isinstance(agent.strategy, Enhancement):
        page = show_playout(state, agent.strategy, seed, result.iterations, agent.scheme)
    if html is not None:
        write_tree_page(result, html, playout=page.playout if page else None)
    print_text("\n\n".join([str(result), *(str(show_records(result, name)) for name in records or [])]))
    if html is not None:
        print_text(f"{'tree and playout' if page else 'tree'}: {html}")
    elif page is not None:
        print_text(f"\n{page}")


def _compare(
    agent: Agent, others: list[Enhancement], state: State, seed: int, html: Path | None, to_json: Path | None
) -> None:
    """Search one position with several strategies, print what each finds, and write page and JSON."""
    assert agent.iterations is not None and isinstance(agent.strategy, Enhancement)
    courses = [follow_search(state, each, agent.iterations, seed, agent.scheme) for each in (agent.strategy, *others)]
    written = {path: write for path, write in ((html, write_comparison), (to_json, export)) if path is not None}
    for path, write in written.items():
        write(courses, path)
    print_text("\n\n".join([*(str(course.result) for course in courses), *(f"written: {path}" for path in written)]))


@contextlib.contextmanager
def _shown_progress(iterations: int | None) -> Iterator[Callable[[int, float], None]]:
    """The `progress` of a search within; one that is interrupted prints its result so far, and ends the command."""
    try:
        with progress_of("iterations", iterations, remaining=False) as show:
            yield lambda iterations, _: show(iterations)
    except SearchInterrupted as interrupted:
        print_text(str(interrupted.result))
        print_note(f"icarus: {interrupted}")
        raise typer.Exit(options.INTERRUPTED) from None


def state_after(game: AnyGame, seed: int, moves: str) -> State:
    """The state after some moves; chance that is due there is drawn by the seed.

    Args:
        moves: in the notation of the game, with spaces between them; a move may have spaces of its own.

    Raises:
        ValueError: a move is not legal.
    """
    state, words = game.new_initial_state(seed=seed), moves.split()
    while words:
        texts = [text.split() for text in map(state.action_to_string, state.legal_actions())]
        move = max((text for text in texts if text == words[: len(text)]), key=len, default=words[:1])
        state.apply_action(state.string_to_action(" ".join(move)))
        words = words[len(move) :]
    rng = np.random.default_rng(seed)
    while state.is_chance_node():
        outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(int(rng.choice(outcomes, p=probabilities)))
    return state
