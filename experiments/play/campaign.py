"""The campaign at work: blocks of section 8's games, the next most useful one each time, until every statement is decided.

    make campaign

runs `python -m experiments campaign`, which makes a clone of the repository at the campaign's tag and hands over to this file there,
so that nothing that is edited meanwhile touches the games. Each game is kept as it ends, and every few minutes the rows so far are
packed into the repository, from which a campaign continues on any machine.
"""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs

import icarus
from experiments.analysis import order
from experiments.plan import loading
from experiments.plan.campaign import CAMPAIGN, COMMIT, FIRST, INTERIM_GAMES, ITERATIONS, SEED, TAG, Sizes
from experiments.plan.definition import Cell, Experiment, Refusal
from experiments.plan.titles import duration
from experiments.play.matches import Match, git
from experiments.play.pool import ProcessPool
from experiments.play.progress import ProgressBar
from experiments.store import rows as store
from experiments.store.export import merge
from experiments.store.results import results_of
from icarus.row_files import UNFINISHED

PACK_SECONDS = 600.0  # between two copies into the repository
AUTOGROUP = Path("/proc/self/autogroup")  # see sched(7)
NICEST = 19  # the lowest priority
ROWS = "rows"  # the directory of the games played here
REPOSITORY = Path(__file__).parent.parent.parent
COPIES = Path("experiments") / "runs" / CAMPAIGN  # where the repository has them


@attrs.frozen
class Campaign:
    """A campaign and where its rows are.

    Attributes:
        rows: the directory of the games as they are played, by game.
        copies: the directory in the repository of the packed copies, by game.
        sizes: the games of a cell at each interim analysis.
    """

    rows: Path
    copies: Path
    iterations: int = ITERATIONS
    sizes: Sizes = INTERIM_GAMES

    def experiment(self, game: str) -> Experiment:
        """All cells of section 8 in one game."""
        trials = max(interims[-1] for (name, _), interims in self.sizes.items() if name == game)
        changes = {"games": [game], "trials": trials, "iterations": self.iterations, "seed": SEED}
        return attrs.evolve(loading.load("section8", changes), name=CAMPAIGN)

    def directory(self, game: str) -> Path:
        return self.rows / game


def restore(campaign: Campaign) -> int:
    """Bring in the games that the repository has and this machine has not; how many."""
    restored = 0
    for game in FIRST:
        if (campaign.copies / game / store.EXPERIMENT).exists():
            restored += merge(campaign.directory(game), [campaign.copies / game])[0]
    return restored


def pack(campaign: Campaign) -> None:
    """Copy the games so far into the repository."""
    for game in FIRST:
        if (campaign.directory(game) / store.RESULTS).exists():
            store.packed_copy(campaign.directory(game), campaign.copies / game)


@contextlib.contextmanager
def _writers(campaign: Campaign) -> Iterator[dict[str, store.Writer]]:
    with contextlib.ExitStack() as stack:
        yield {
            game: stack.enter_context(store.writer(campaign.directory(game), campaign.experiment(game)))
            for game in FIRST
        }


def next_block(campaign: Campaign, games: Mapping[Cell, int]) -> order.Block | None:
    """The block that the rows ask for."""
    if first := order.first_block(games, campaign.sizes):
        return first
    with results_of(*map(campaign.directory, FIRST)) as results:
        state = order.state_of(results, games, campaign.sizes)
    return order.next_block(state, campaign.sizes)


def games_of_cells(writers: Mapping[str, store.Writer], campaign: Campaign) -> dict[Cell, int]:
    """The games of each cell, without gaps from the first trial."""
    games = {}
    for game, writer in writers.items():
        for cell in campaign.experiment(game).cells:
            count = 0
            while (cell.key, count) in writer.done:
                count += 1
            games[cell] = count
    return games


def run(
    campaign: Campaign,
    pool: ProcessPool,
    log: Callable[[str], None] = lambda text: None,
    blocks: int | None = None,
    pack_seconds: float = PACK_SECONDS,
) -> None:
    """Play block after block; each game is kept as it ends, and all are packed now and then and at the end.

    Args:
        blocks: stop after so many.

    Raises:
        Refusal, Damage: see `store.writer` and `merge`; nothing has been played then.
        pool.MatchFailed: a game could not be played.
    """
    if restored := restore(campaign):
        log(f"{restored} games from {campaign.copies}")
    with _writers(campaign) as writers:
        packed = time.monotonic()
        try:
            for number in range(sys.maxsize if blocks is None else blocks):
                block = next_block(campaign, games_of_cells(writers, campaign))
                if block is None:
                    log("every statement is decided, or has no games left")
                    return
                games = list(_games(campaign, block, writers))
                log(f"block {number + 1}: {describe_block(block)}; {len(games)} games")
                packed = _play_games(games, pool, writers, campaign, packed, pack_seconds)
        finally:
            pack(campaign)


def _play_games(
    games: Sequence[Match],
    pool: ProcessPool,
    writers: Mapping[str, store.Writer],
    campaign: Campaign,
    packed: float,
    pack_seconds: float,
) -> float:
    """Play games, each kept as it ends, and pack all now and then; the time at which all were packed last."""
    with ProgressBar(CAMPAIGN, 0, len(games)) as bar:
        for row in pool.play(games):
            writers[row["game"]].append(row)
            bar.advance()
            if time.monotonic() - packed >= pack_seconds:
                pack(campaign)
                packed = time.monotonic()
    return packed


def _games(campaign: Campaign, block: order.Block, writers: Mapping[str, store.Writer]) -> Iterator[Match]:
    """The games of a block that are not there yet, its cells side by side."""
    experiments = {game: campaign.experiment(game) for game in {cell.column.game for cell in block.cells}}
    for trial in range(block.trials):
        for cell in block.cells:
            if (cell.key, trial) not in writers[cell.column.game].done:
                yield Match(cell, trial, experiments[cell.column.game].game_seed(cell, trial))


def describe_block(block: order.Block) -> str:
    """A block in words."""
    game = block.cells[0].column.game
    if len(block.cells) > 1:
        return f"{game}, {len(block.cells)} cells to {block.trials} games each"
    (cell,) = block.cells
    role = f" ({cell.column.role})" if cell.column.role else ""
    return f"{cell.agent} in {game}{role} to {block.trials} games"


# ------------------------------------------------------------------------------------------------------- a clone of its own


def clone(tag: str, out: Path, repository: Path = REPOSITORY) -> Path:
    """The repository at a tag, in a directory of its own under `out`, made where it is not there yet.

    Raises:
        Refusal: no such tag, or the clone is not what it should be.
    """
    commit = git(repository, "rev-parse", "--quiet", "--verify", f"refs/tags/{tag}^{{commit}}")
    if not commit and tag == TAG:
        commit = git(repository, "rev-parse", "--quiet", "--verify", f"{COMMIT}^{{commit}}")
    if not commit:
        raise Refusal(
            f"{repository} has no tag {tag!r}; the campaign is played at a fixed commit; tag it by git tag {tag}"
        )
    place = (out / tag).resolve()
    if not place.exists():
        unfinished = place.with_name(place.name + UNFINISHED)
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "--quiet", str(repository), str(unfinished)], check=True)
        subprocess.run(["git", "-C", str(unfinished), "checkout", "--quiet", "--detach", commit], check=True)
        unfinished.rename(place)
    if git(place, "rev-parse", "HEAD") != commit or git(place, "status", "--porcelain") != "":
        raise Refusal(
            f"{place} is not the repository at {tag} (it was changed); remove it, and the next start makes it again"
        )
    return place


def hand_over(source: Path, arguments: list[str]) -> None:
    """Become this file as it is in a clone, at the lowest priority. Does not return."""
    os.nice(NICEST)
    lower_session()
    environment = {**os.environ, "PYTHONPATH": str(source)}
    call = [sys.executable, "-m", "experiments.play.campaign", *arguments]
    os.chdir(source)
    os.execve(sys.executable, call, environment)


def lower_session() -> None:
    """Without a terminal, begin a session of one's own that counts less.

    Linux may share the processor out by sessions, and by priorities only within one. Whatever else is of the session that this process came
    from would stay slow after it. At a terminal Ctrl-C is for the programs of its session, so there this one stays in it.
    """
    with contextlib.suppress(OSError):
        if os.tcgetpgrp(sys.stdin.fileno()) >= 0:
            return
    with contextlib.suppress(OSError):
        if os.getsid(0) != os.getpid():
            os.setsid()
        AUTOGROUP.write_text(str(NICEST))


def arguments_of(
    rows: Path, copies: Path, workers: int, iterations: int, interims: str, blocks: int | None
) -> list[str]:
    """What `hand_over` passes on."""
    limit = [] if blocks is None else ["--blocks", str(blocks)]
    return [
        str(rows),
        str(copies),
        "--workers",
        str(workers),
        "--iterations",
        str(iterations),
        "--interims",
        interims,
        *limit,
    ]


def sizes_of(interims: str) -> Sizes:
    """The games of a cell at each interim analysis, the same in all games; those of the campaign if the text is empty.

    Raises:
        Refusal: not as many increasing numbers as there are interim analyses.
    """
    if not interims:
        return INTERIM_GAMES
    usual = next(iter(INTERIM_GAMES.values()))
    parts = [part.strip() for part in interims.split(",")]
    numbers = tuple(int(part) for part in parts if part.isdecimal())
    if (
        len(parts) != len(usual)
        or len(numbers) != len(parts)
        or list(numbers) != sorted(set(numbers))
        or numbers[0] == 0
    ):
        raise Refusal(
            f"interims: {interims!r} are not {len(usual)} increasing numbers of games such as {','.join(map(str, usual))}"
        )
    return dict.fromkeys(INTERIM_GAMES, numbers)


def main() -> int:
    """The campaign in the clone that this file is in."""
    parser = argparse.ArgumentParser(description="Play the campaign of section 8 (see make campaign).")
    parser.add_argument("rows", type=Path)
    parser.add_argument("copies", type=Path)
    parser.add_argument("--workers", type=int, required=True)
    parser.add_argument("--iterations", type=int, default=ITERATIONS)
    parser.add_argument("--interims", default="")
    parser.add_argument("--blocks", type=int)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a kill is a Ctrl-C: what was played is packed
    campaign = Campaign(arguments.rows, arguments.copies, arguments.iterations, sizes_of(arguments.interims))
    started = time.monotonic()
    try:
        if REPOSITORY not in Path(icarus.__file__).resolve().parents:
            raise Refusal(
                f"{Path(icarus.__file__).parent} is not the icarus of {REPOSITORY}; its games would not be those of the tag"
            )
        with ProcessPool(arguments.workers) as pool:
            run(campaign, pool, lambda text: print(text, file=sys.stderr, flush=True), arguments.blocks)
    except KeyboardInterrupt:
        print(
            f"Stopped after {duration(time.monotonic() - started)}; run the same command to continue.", file=sys.stderr
        )
        return 130
    except Refusal as error:
        print(f"campaign: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
