"""`icarus play`, and playing in the terminal: plain lines in and out, for every game."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from icarus.checks import integer
from icarus.commands import options
from icarus.commands.console import print_note, print_text
from icarus.commands.conversation import Conversation, Session
from icarus.commands.options import integer_option, value_option
from icarus.commands.server import HOST, Server, Tables
from icarus.engine.match import Agent, levels_of
from icarus.load_files import digest_of, load_files, sentence_of

OF_AN_AGENT = ("against", "iterations", "seconds", "scheme", "cutoff")
LISTED = 24  # actions that are listed without being asked for


def play_command(
    context: typer.Context,
    game: Annotated[str | None, typer.Argument(metavar="GAME", help=options.GAME_HELP)] = None,
    seat: Annotated[int, integer_option("Your seat; the first is 0.", min=None)] = 0,
    against: Annotated[
        list[str] | None,
        value_option(
            "STRATEGY", "Strategy of the others, or repeated, of each other seat in order."
        ),
    ] = None,
    level: Annotated[
        int | None,
        integer_option(
            f"Strength of the others, in place of --against: {options.LEVEL_HELP}", min=None
        ),
    ] = None,
    levels: options.Levels = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Only watch: agents play all seats.")
    ] = False,
    iterations: options.Iterations = None,
    seconds: options.Seconds = None,
    scheme: options.SchemeText = options.DEFAULT_SCHEME,
    cutoff: options.Cutoff = None,
    seed: options.Seed = 0,
    resume: Annotated[
        Path | None, value_option("FILE", "Continue a saved game; it brings its game.")
    ] = None,
    browser: Annotated[
        bool,
        typer.Option("--browser", help="Play in a browser on this machine, not in the terminal."),
    ] = False,
    host: Annotated[
        str | None,
        value_option(
            "NAME",
            "Serve a local network under this name or address of this machine; who knows the printed address can play.",
        ),
    ] = None,
    files: options.With = None,
    evaluation: options.Learned = None,
) -> None:
    """Play a game against agents, here or in a browser.

    During a game, type help for a list of commands.
    """
    if level is not None:
        options.refuse_options(
            context, (*OF_AN_AGENT, "resume"), "--level sets the others' strategy and budget"
        )
    browser |= host is not None
    if watch:
        options.refuse_options(context, ["seat"], "--watch leaves all seats to agents")
    files = files or []
    if game is not None:
        options.refuse_options(
            context, ["resume"], "a saved game brings its own game; without GAME"
        )
        loaded = options.chosen_game(game, files, evaluation)
        agents = options.level_agents(loaded.game, level, levels) or [
            loaded.agent(text, scheme, cutoff, iterations=iterations, seconds=seconds)
            for text in against or ["BASELINE"]
        ]
        if any(agent.move_decay for agent in agents):
            raise ValueError(
                "icarus play searches each position anew: leave out move_decay; icarus match can reuse records"
            )
        if any(agent.evaluation for agent in agents):
            raise ValueError("a saved game keeps one evaluation, of all: give it by --evaluation")
        for hint in loaded.hints(agents):
            print_note(hint)
        players = loaded.game.players
        seats: list[Agent | None] = [
            *options.each_of("--against", agents, players if watch else players - 1)
        ]
        if not watch:
            seats.insert(integer("--seat", seat, 0, players - 1), None)
        names = loaded.names
        session = Session(loaded.game, seats, seed, _digests(loaded.files), level)
    elif resume is not None:
        ignored = ["seat", "watch", "seed", *OF_AN_AGENT]
        if not browser:  # there one may begin another game, at a level
            ignored.append("levels")
        options.refuse_options(
            context, ignored, "--resume FILE brings seats, agents and seed of its own"
        )
        names = load_files(files)
        if evaluation is not None:
            files = [*files, evaluation]
        session = Session.resumed(resume.read_bytes(), _digests(files), names, resume)
    elif not browser:
        raise ValueError(
            "give a game, as in icarus play othello, --browser to choose one there, or --resume FILE; icarus games lists the games"
        )
    elif evaluation or levels:
        raise ValueError("--evaluation and --levels are of one game: give GAME")
    else:
        options.refuse_options(
            context,
            ("seat", "watch", "seed", "level", *OF_AN_AGENT),
            "without GAME the page asks for the game and its agents",
        )
        names = load_files(files)
        _serve(Tables(_digests(files), names=names), host)
        return
    if browser:
        if levels is not None:
            levels_of(session.game, levels)  # refused here, not silently by the page
        tables = Tables(session.files, {str(session.game): levels}, names)
        tables.add(session)
        _serve(tables, host)
    elif len(session.people) > 1:
        raise ValueError("two persons play this game, each at a page: add --browser")
    else:
        talk(Conversation(session, *session.people), _ask, print_text)


def _serve(tables: Tables, host: str | None) -> None:
    """Serve games to this machine, or by a name of it to a network, until Ctrl-C; then those under way are saved."""
    if host is not None:
        print_text(
            f"{host}: who knows an address below can play, and read what is sent on the way; nobody is asked for more than its token"
        )
    server = Server(tables, host or HOST)
    print_text(f"play at {server.address} (Ctrl-C stops the server; games under way are saved)")
    server.serve()
    for table in tables.games.values():
        keep(table.session, print_text)


def _digests(files: Sequence[Path]) -> dict[Path, str]:
    return {file: digest_of(file) for file in files}


def _ask(prompt: str) -> str:
    if sys.stdin is None:  # closed, as by <&-
        raise EOFError
    line = input(prompt)
    if not sys.stdin.isatty():
        print(line)  # so that a log of piped input reads like the game
    return line


Say = Callable[[str], None]


def talk(conversation: Conversation, ask: Callable[[str], str], say: Say) -> None:
    """Play until the game is over or the person stops; `ask(prompt)` reads a line and raises EOFError at the end of input.

    Raises:
        ValueError: the agents cannot go on; the game is kept.
    """
    session, viewer = conversation.session, conversation.viewers[0]
    view, position = conversation.contents[viewer], None
    try:
        while not session.over:
            before = view["total"]
            has_acted = conversation.step()
            view = conversation.contents[viewer]
            for number, text in enumerate(view["log"][before:], before + 1):
                say(text)
                if not session.people:
                    say(conversation.describe(at=number)["text"] + "\n")
            if conversation.problem:
                raise ValueError(conversation.problem)
            if has_acted:
                continue
            if view != position:
                position = view
                say("\n" + view["text"])
                legal = len(view["moves"])
                if legal <= LISTED:
                    say(conversation.say("moves")["said"])
                else:
                    say(
                        f"{legal} actions are legal; type moves for the legal actions, help for the commands"
                    )
            line = ask("you> ").strip()
            if line in ("quit", "exit", "q"):
                raise EOFError
            try:
                answer = conversation.say(line, viewer=viewer)
                for text in filter(None, (answer["said"], answer.get("table"))):
                    say(text)
            except (ValueError, OSError) as error:  # the game goes on
                say(sentence_of(error) or str(error))
        say(f"\n{conversation.contents[viewer]['text']}")
        say(conversation.status(viewer))
    except (EOFError, KeyboardInterrupt):
        pass
    finally:
        keep(session, say)


def keep(session: Session, say: Say) -> None:
    """Save a game that is not over, if a person has played in it."""
    if not session.over:
        say("")
        if session.by_people:
            say(f"stopped; {session.save()} continues from here")
