"""Tables of experiments in which all agents of a game meet the same deals and chance."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from experiments.analysis.statistics import Estimate, holm, mcnemar, paired_effects, student_mean
from experiments.papers.suite import TABLE_1
from experiments.plan.definition import Cell
from experiments.plan.titles import title
from experiments.report.terminal import p_text
from experiments.store.results import Results
from experiments.store.summary import Columns, Outcomes, Tally, any_graded, baseline
from icarus.views.document import Block, Heading, Table

FEW = 6  # agents of a game: of so many every pair is compared, deal by deal
GAMES, REWARD = "Games won more", "Mean reward more"  # of differences


def discordance_table(tallies: list[Tally], discordant: dict[Cell, tuple[int, int]]) -> Table:
    """The same deals: what the agent won and the opponent in its place did not, and the other way round."""
    discordances = [(tally.cell.agent, *discordant[tally.cell]) for tally in tallies if tally.cell in discordant]
    adjusted = holm([mcnemar(alone, lost) for _, alone, lost in discordances])
    return Table(
        "The same deals and chance. p: McNemar's exact test.",
        ["Agent", "won alone", "lost alone", "p (Holm)"],
        [
            [agent, str(alone), str(lost), p_text(p)]
            for (agent, alone, lost), p in zip(discordances, adjusted, strict=True)
        ],
    )


def reward_table(tallies: list[Tally], rewards: Outcomes) -> Iterator[Table]:
    """The same deals: the agent's reward less that of the opponent in its place."""
    even = baseline(tallies)
    gains = [
        (tally.cell.agent, _gain(rewards, even.cell, tally.cell)) for tally in tallies if even and tally is not even
    ]
    lines = [[agent, *gain] for agent, gain in gains if gain]
    if lines:
        caption = "The same deals and chance: the reward less the opponent's in its place. Intervals are Student's, over the deals."
        yield Table(caption, ["Agent", REWARD, "95 % interval", "Deals"], lines)


def paired_blocks(columns: Columns, results: Results) -> Iterator[Block]:
    """The agents of each game with each other, and Figure 3, deal by deal; games by wins first, then those by graded rewards."""
    wins: Outcomes = results.wins()
    graded_columns = {column: tallies for column, tallies in columns.items() if any_graded(tallies)}
    kinds = [(GAMES, wins, {column: each for column, each in columns.items() if column not in graded_columns})]
    kinds += [(REWARD, results.rewards(), graded_columns)] if graded_columns else []
    agents = [_agents_table(*kind, columns) for kind in kinds]
    if any(table.rows for table in agents):
        yield Heading("The agents on the same deals")
        yield from (table for table in agents if table.rows)
    effects = [_effects_table(*kind, columns) for kind in kinds]
    if any(table.rows for table in effects):
        yield Heading("What each enhancement adds, on the same deals")
        yield from (table for table in effects if table.rows)


def _agents_table(unit: str, outcomes: Outcomes, columns: Columns, among: Columns) -> Table:
    """Each agent of a game less each before it, where they are few and have two deals in common at least."""
    lines = []
    for column, tallies in columns.items():
        cells = [tally.cell for tally in tallies] if len(tallies) <= FEW else []
        for first, second in itertools.combinations(cells, 2):
            if gain := _gain(outcomes, first, second, percent=unit == GAMES):
                lines.append([title(column, among), second.agent, first.agent, *gain])
    caption = "Each agent less each before it, deal by deal. Intervals are Student's, of the mean over the deals."
    return Table(caption, ["Game", "Agent", "less", unit, "95 % interval", "Deals"], lines)


def _effects_table(unit: str, outcomes: Outcomes, columns: Columns, among: Columns) -> Table:
    """Figure 3 on the same deals, where the sixteen combinations were played on two of them at least."""
    lines, trials = [], sorted({trial for _, trial in outcomes})
    for column, tallies in columns.items():
        keys_of = {tally.cell.spec.text: tally.cell.key for tally in tallies}
        if not keys_of.keys() >= set(TABLE_1.values()):
            continue
        keys = [keys_of[strategy] for strategy in TABLE_1.values()]
        complete = [
            [outcomes[key, trial] for key in keys] for trial in trials if all((key, trial) in outcomes for key in keys)
        ]
        if len(complete) > 1:
            for enhancement, effect in paired_effects(np.array(complete)).items():
                lines.append([title(column, among), enhancement, *_texts(effect, unit == GAMES), str(len(complete))])
    caption = "The difference between the averages of Figure 3, deal by deal. Intervals are Student's, of the mean over the deals."
    return Table(caption, ["Game", "Enhancement", unit, "95 % interval", "Deals"], lines)


def _gain(outcomes: Outcomes, first: Cell, second: Cell, percent: bool = False) -> Sequence[str]:
    """What the second agent got more than the first on the same deals, two at least: the mean, its interval, how many deals."""
    deals = [trial for key, trial in outcomes if key == first.key and (second.key, trial) in outcomes]
    if len(deals) < 2:
        return ()
    gain = student_mean([outcomes[second.key, trial] - outcomes[first.key, trial] for trial in deals])
    return *_texts(gain, percent), str(len(deals))


def _texts(gain: Estimate, percent: bool) -> tuple[str, str]:
    """A difference and its interval as texts."""
    value, low, high = (
        f"{100 * each:+.1f} %" if percent else f"{each:+.3f}" for each in (gain.value, gain.low, gain.high)
    )
    return value, f"{low} to {high}"
