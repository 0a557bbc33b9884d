"""`icarus play`: a game against agents, in the terminal or in a browser."""

import contextlib
import importlib
import sys
from pathlib import Path
from typing import Annotated

import attrs
import typer

from icarus import games
from icarus.checks import integer
from icarus.commands import options
from icarus.commands.console import print_text, show_compilation
from icarus.commands.options import agent_settings, integer_option, value_option
from icarus.commands.play.session import Session, adviser_like
from icarus.commands.play.table import Table
from icarus.commands.play.terminal import Terminal
from icarus.engine.match import Agent
from icarus.equilibrium.search import check_trees, read_scheme
from icarus.load_files import digest_of, load_files

OF_AN_AGENT = ("against", "iterations", "seconds", "scheme", "cutoff")
OF_A_NEW_GAME = ("seat", "watch", "seed", *OF_AN_AGENT)


def play_command(
    context: typer.Context,
    game: Annotated[str | None, typer.Argument(metavar="GAME", help=options.GAME_HELP)] = None,
    seat: Annotated[int, integer_option("Your seat; the first is 0.")] = 0,
    against: Annotated[
        list[str] | None, value_option("STRATEGY", "Strategy of the others, or repeated, of each other seat in order.")
    ] = None,
    level: Annotated[
        int | None, integer_option(f"Strength of the others, in place of --against: {options.LEVEL_HELP}")
    ] = None,
    levels: options.Levels = None,
    watch: Annotated[bool, typer.Option("--watch", help="Only watch: agents play all seats.")] = False,
    everything: Annotated[bool, typer.Option("--open", help="Show everything, also hidden cards and pieces.")] = False,
    iterations: options.Iterations = None,
    seconds: options.Seconds = None,
    scheme: Annotated[
        str, value_option("SCHEME", f"Search scheme of the agents. {options.SCHEMES_HELP}")
    ] = options.DEFAULT_SCHEME,
    cutoff: options.Cutoff = None,
    seed: options.Seed = 0,
    resume: Annotated[Path | None, value_option("FILE", "Continue a saved game; it brings its game.")] = None,
    browser: Annotated[
        bool, typer.Option("--browser", help="Play in a browser on this machine, not in the terminal.")
    ] = False,
    port: Annotated[int, integer_option("Port of the browser's page; 0 takes one that is free.")] = 0,
    files: options.With = None,
) -> None:
    """Play a game against agents, here or in a browser.

    During a game, type help for a list of commands.
    """
    if level is not None:
        options.refuse_options(context, (*OF_AN_AGENT, "resume"), "--level sets the others' strategy and budget")
    if not browser:  # whose page offers all levels
        options.check_levels(level, levels)
    if watch:
        options.refuse_options(context, ["seat"], "--watch leaves all seats to agents")
    if not browser and options.is_typed(context, "port"):
        raise ValueError("--port is of the page of --browser: give both")
    if game is not None:
        game, files = options.game_and_files(game, files)
    names, iterations = load_files(files or []), options.default_iterations(iterations, seconds)
    digests = {file: digest_of(file) for file in files or []}
    texts = against or ["BASELINE"]
    searched_by = read_scheme(scheme).with_cutoff(cutoff)
    settings = [agent_settings(text, names, searched_by) for text in texts]
    if any(each["move_decay"] for each in settings):
        raise ValueError(
            "icarus play searches each position anew: leave out move_decay; icarus match can reuse records"
        )
    agents = [Agent(iterations=iterations, seconds=seconds, **each) for each in settings]
    if level is not None and game is not None:
        agents = [Agent.at_level(games.load(game), level, levels)]
    if game is not None:
        options.refuse_options(context, ["resume"], "a saved game brings its own game; without GAME")
        session = _new_session(game, None if watch else seat, agents, seed)
        session.files = digests
    elif resume is not None:
        options.refuse_options(context, OF_A_NEW_GAME, "--resume FILE brings seats, agents and seed of its own")
        session = Session.resumed(resume, digests, names)
    else:
        raise ValueError("give a game, as in icarus play othello, or --resume FILE; icarus games lists the games")
    people, adviser = session.people, adviser_like(agents[0])
    observer = None if everything or not people else people[0]
    terminal = Terminal(session, adviser, observer, print_text)
    if browser:
        _serve(Table(session, adviser, observer, levels), integer("--port", port, 0, 65535), terminal)
        return
    with show_compilation() as status_of:
        terminal.status_of = status_of
        terminal.run(_ask if people else _nobody)


def _serve(table: Table, port: int, terminal: Terminal) -> None:
    """Serve the game's page until Ctrl-C, and keep the game."""
    server = importlib.import_module("icarus.commands.play.server").Server(table, port)
    with show_compilation():  # all that agents need is compiled before the address is printed
        _compile(table.session, table.adviser)
    terminal.say(f"play at {server.address} (Ctrl-C stops the server and saves the game)")
    with contextlib.suppress(KeyboardInterrupt):
        server.serve()
    terminal.keep()


def _compile(session: Session, adviser: Agent) -> None:
    """Search once as briefly as can be, from the first decision of the game."""
    state = session.state.clone()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    if not state.is_terminal():
        attrs.evolve(adviser, iterations=adviser.scheme.trees, seconds=None).search(state, 0)


def _new_session(name: str, seat: int | None, others: list[Agent], seed: int) -> Session:
    """A new game with a person in one seat and agents in the others."""
    game = games.load(name)
    check_trees(game, others)
    if seat is not None:
        integer("--seat", seat, 0, game.players - 1)
    integer("--seed", seed, 0)
    rest = [number for number in range(game.players) if number != seat]
    if len(others) not in (1, len(rest)):
        raise ValueError(
            f"--against is given {len(others)} times; {game} has {len(rest)} other seats; give it once, or once for each"
        )
    agents: list[Agent | None] = [None] * game.players
    for number, agent in zip(rest, others * (len(rest) // len(others)), strict=True):
        agents[number] = agent
    return Session(game, agents, seed)


def _ask(prompt: str) -> str:
    line = input(prompt)
    if not sys.stdin.isatty():
        print(line)  # so that a log of piped input reads like the game
    return line


def _nobody(prompt: str) -> str:
    raise EOFError
