"""A report as a page that needs no network, and as sentences."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from icarus.audit import AuditReport
from icarus.commands.report.matches import EVEN, REFERENCE
from icarus.commands.report.measures import AHEAD, Estimate, Measures
from icarus.discovery.statistics import CONFIDENCE
from icarus.ladder.rating import Rating
from icarus.views.canvas import BETTER, WORSE, intervals_svg, svg_of
from icarus.views.document import Block, Heading, Paragraph, Picture, Preformatted, Table, html

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NONE = "–"
PROOF = f"{100 * CONFIDENCE:g} %"  # of the intervals of a race
NO_GAMES = Paragraph("No game has been played yet.")
SERIES = BETTER, WORSE
BINS = 30


def page_of(game: str, report: AuditReport, measures: Measures | None) -> str:
    """The page; without measures, of a game that the audit refuses."""
    blocks: list[Block] = [Heading("In short"), *map(Paragraph, sentences(report, measures))]
    if measures is not None:
        for title, part in (
            ("How games go", _course),
            ("When the winner is known", _tension),
            ("Skill and levels", _levels),
            ("Enhancements", _strategies),
            ("The best composition", _composition),
            ("A game with comments", _comments),
        ):
            blocks += [Heading(title), *part(measures)]
    blocks += [Heading("Audit"), Preformatted(str(report))]
    return html(f"{game}: what the game is like", blocks)


def sentences(report: AuditReport, measures: Measures | None) -> list[str]:
    """The report in short."""
    if measures is None:
        return [
            f"The audit failed ({', '.join(report.failed)}). Nothing was played: correct the game first; run icarus check."
        ]
    unseen = f"; not checked: {', '.join(report.unchecked)}" if report.unchecked else ""
    return [f"The audit passed{unseen}.", *_of_course(measures), *_of_tension(measures), *_of_skill(measures)]


def _of_course(measures: Measures) -> Iterator[str]:
    game = measures["course"][EVEN]
    if not game["games"]:
        return
    lengths = game["length"]["all"]
    yield (
        f"A game has {game['length']['mean']:.1f} actions ({min(lengths)} to {max(lengths)}) and {game['decisions']:.1f} decisions, "
        f"with {game['choices']['mean']:.1f} choices each; {game['forced']:.0%} of them are forced."
    )
    if game["draws"] is None:  # of one player
        yield f"The mean reward is {game['seats'][0]['reward']}."
        return
    yield f"{percent(game['draws'])} of the games are drawn."
    unequal = [seat for seat in game["seats"] if not seat["reward"].low <= _mean_reward(game) <= seat["reward"].high]
    for seat in unequal:
        word = "an advantage" if seat["reward"].mean > _mean_reward(game) else "a disadvantage"
        yield f"The seat of {seat['name']} is {word}: a mean reward of {seat['reward']}."
    if not unequal:
        mean, rewards = _mean_reward(game), [seat["reward"] for seat in game["seats"]]
        most = max(max(reward.high - mean, mean - reward.low) for reward in rewards)
        yield f"No seat has a significant advantage; one of {most:.2f} in mean reward would be significant."


def _of_tension(measures: Measures) -> Iterator[str]:
    tension = measures["tension"]
    if tension["known"]:
        yield f"In half of the games the winner takes the final lead before {tension['known']['quartiles'][1]:.0%} of the game."
    if tension["changes"]:
        yield f"The lead changes {tension['changes']} times in a game."
    if tension["stake"]:
        yield f"A decision is worth {tension['stake']} of reward: the value of the chosen action minus the mean value of the legal actions."


def _of_skill(measures: Measures) -> Iterator[str]:
    skill = measures["skill"]["score"]
    if skill:
        word = "Longer searches play better" if skill.low > 0.5 else "Longer searches are not shown to play better"
        yield f"{word}: {measures['skill']['player']} score {percent(skill)} against {measures['skill']['opponent']}."
    better = [each for each in measures["strategies"] if each["gain"].low > 0]
    names = ", ".join(f"{each['strategy']} ({each['gain'].mean:+.3f})" for each in better)
    if measures["strategies"]:
        yield (
            f"Better than {REFERENCE}: {names}." if names else f"No enhancement is shown to be better than {REFERENCE}."
        )
    if measures["composition"]:
        yield from _of_composition(measures)
    if REFERENCE in measures["rates"]:
        yield f"A search makes {measures['rates'][REFERENCE]:,.0f} iterations a second."


def _of_composition(measures: Measures) -> Iterator[str]:
    """What a race proved, and where its winner stands among the levels."""
    race = measures["composition"]
    games, reference = f"{race['games']:,} games", race["reference"]
    if race["winner"] is None:
        excluded = f"a lead of more than {race['excluded']:.3f} in mean reward is excluded ({PROOF})"
        yield f"A race of {games} proved no composition better than {reference}; for its finalists {excluded}."
        return
    yield (
        f"The best composition is {race['winner']}, proven by a race of {games}: better than {reference} by {race['gain']} in mean reward "
        f"({PROOF}), on {race['gain'].number} units of new deals."
    )
    if race["rating"]:
        place = place_of(race["rating"], measures["levels"])
        yield f"With {measures['plan']['iterations']:,} iterations it has {race['rating']} Elo, {place}."


def place_of(rating: Rating, levels: list[Measures]) -> str:
    """Where a rating stands among those of the levels."""
    weaker = sum(level["elo"] <= rating.value for level in levels)
    if weaker == 0:
        return "less than level 1"
    return f"more than level {weaker}" if weaker == len(levels) else f"between levels {weaker} and {weaker + 1}"


def _mean_reward(game: Measures) -> float:
    return float(np.mean([seat["reward"].mean for seat in game["seats"]]))


def percent(estimate: Estimate | None) -> str:
    """A share with its interval, in percent."""
    if estimate is None:
        return NONE
    return f"{estimate.mean:.0%} [{max(0, estimate.low):.0%}, {min(1, estimate.high):.0%}]"


# ---------------------------------------------------------------------------------------------------------------- sections


def _course(measures: Measures) -> Iterator[Block]:
    """How long games are, how much there is to choose, and what seats get: in random play and where a search plays itself."""
    games = {kind: game for kind, game in measures["course"].items() if game["games"]}
    if not games:
        yield NO_GAMES
        return
    columns = [_cells_of(game) for game in games.values()]
    yield Table("", ["measure", *games], [[name, *(cells[name] for cells in columns)] for name in columns[0]])
    yield _histogram("actions of a game", {kind: game["length"]["all"] for kind, game in games.items()})
    yield _curves("choices", {kind: game["choices_by_part"] for kind, game in games.items()}, 0)


def _cells_of(game: Measures) -> dict[str, str]:
    """What the table says of games of one kind, by the names of its rows."""
    cells = {
        "games": f"{game['games']:,}",
        "actions": f"{game['length']['mean']:.1f} ± {game['length']['deviation']:.1f}",
        "decisions": f"{game['decisions']:.1f}",
        "choices of a decision, mean": f"{game['choices']['mean']:.1f}",
        "the most choices": str(game["choices"]["most"]),
        "forced decisions": f"{game['forced']:.0%}",
        "size of the game tree, about": f"10^{game['tree']:.0f}",
        "drawn games": percent(game["draws"]),
    }
    for seat in game["seats"]:
        cells |= {f"mean reward of {seat['name']}": str(seat["reward"]), f"{seat['name']} wins": percent(seat["best"])}
    return cells


def _tension(measures: Measures) -> Iterator[Block]:
    tension = measures["tension"]
    if not tension["stake"]:
        yield NO_GAMES
        return
    if tension["known"]:
        low, middle, high = tension["known"]["quartiles"]
        yield Paragraph(
            f"The winner takes the final lead before {middle:.0%} of the game (median; quartiles {low:.0%} and {high:.0%}; "
            f"{tension['known']['games']} games). The lead changes {tension['changes']} times."
        )
    else:
        yield Paragraph("No game had a single winner." if tension["changes"] else "Nobody wins against another.")
    yield Paragraph(
        "The searches of the players decide who leads, each by what its player may observe: the leader expects the highest "
        f"reward, and a player who expects {AHEAD} more takes the lead. Where no player leads, a guess is counted. The worth of "
        "a decision is the value of the chosen action minus the mean of all legal ones."
    )
    if tension["known"]:
        shares = [None if share is None else 100 * share for share in tension["right_by_part"]]
        yield _curves("% of games that the leader wins", {"": shares})
    yield _curves("reward that a decision is worth", {"": tension["stake_by_part"]}, 0)


def _levels(measures: Measures) -> Iterator[Block]:
    skill, levels = measures["skill"], measures["levels"]
    if not levels:
        yield NO_GAMES
        return
    names = [f"level {level['level']}: {_iterations(level['agent']['iterations'])}" for level in levels]
    longer = f"{skill['player']} score {percent(skill['score'])} against {skill['opponent']}: ½ would show no skill."
    yield Paragraph(
        f"Each level is {REFERENCE} with twice the iterations of the one below; the first stands above random play. {longer} "
        "To play against a level, where DIR is the directory of this page:"
    )
    yield Preformatted(f"icarus play {_file_or_game(measures)} --level 3 --levels DIR")
    rows = [
        [name, str(_rating(level)), str(_rating(level["step"])), str(level["games"])]
        for name, level in zip(names, levels, strict=True)
    ]
    yield Table("", ["level", "Elo", "above the one below", "games"], rows)
    ratings = dict(zip(names, map(_rating, levels), strict=True))
    if measures["composition"] and measures["composition"].get("rating"):
        ratings[f"best composition: {_iterations(measures['plan']['iterations'])}"] = measures["composition"]["rating"]
    marks = {name: (rating.value, rating.low, rating.high) for name, rating in reversed(ratings.items())}
    yield Picture(intervals_svg("rating in Elo, random play at 0", marks), f"Levels, {names[0]} to {list(ratings)[-1]}")


def _iterations(number: int) -> str:
    return f"{number:,} iteration{'s' if number > 1 else ''}"


def _rating(level: Measures) -> Rating:
    return Rating(level["elo"], level["low"], level["high"])


def _composition(measures: Measures) -> Iterator[Block]:
    if measures["composition"] is None:
        yield Paragraph(
            "No race was run. This searches for the best composition, proves it, and rates it among the levels:"
        )
        yield Preformatted(f"icarus describe {_file_or_game(measures)} --race 4000")
        return
    yield from map(Paragraph, _of_composition(measures))
    yield Paragraph("The race has a page of its own, race/result.html beside this one.")


def _file_or_game(measures: Measures) -> str:
    """What a command names the game by."""
    plan = measures["plan"]
    return str(plan["files"][-1] if plan["files"] else plan["game"])


def _strategies(measures: Measures) -> Iterator[Block]:
    results, rates, plan = measures["strategies"], measures["rates"], measures["plan"]
    if not results:
        yield NO_GAMES
        return
    alone = len(measures["course"][EVEN].get("seats", ())) == 1
    how = (
        "is compared with {}, {}, each alone and with the same chance"
        if alone
        else "plays {}, {}, both sides of each deal"
    )
    budget = f"both with {plan['iterations']:,} iterations for a decision"
    yield Paragraph(f"Each {how.format(REFERENCE, budget)}. The intervals are simultaneous.")
    rows = [
        [each["strategy"], str(each["gain"]), str(2 * each["gain"].number), f"{rates.get(each['strategy'], 0):,.0f}"]
        for each in results
    ]
    rows.append([REFERENCE, "0", NONE, f"{rates.get(REFERENCE, 0):,.0f}"])
    yield Table("", ["strategy", "score above ½", "games", "iterations a second"], rows)
    marks = {each["strategy"]: (each["gain"].mean, each["gain"].low, each["gain"].high) for each in results}
    yield Picture(intervals_svg("score above ½", marks), f"Score above ½ against {REFERENCE}")


def _comments(measures: Measures) -> Iterator[Block]:
    game = measures["commented"]
    if game is None:
        yield NO_GAMES
        return
    rows = [
        [
            str(number),
            step["player"],
            step["action"],
            f"{step['value']:.2f}" if "value" in step else "",
            step.get("comment", ""),
        ]
        for number, step in enumerate(game["steps"], 1)
    ]
    yield Table("", ["no.", "player", "action", "value", "comment"], rows)
    yield Paragraph(f"Rewards: {', '.join(f'{reward:g}' for reward in game['returns'])}.")
    for index, svg in game["pictures"].items():
        step = game["steps"][int(index)] if int(index) < len(game["steps"]) else None
        yield Picture(svg, f"before {int(index) + 1}: {step['player']} plays {step['action']}" if step else "the end")


# ---------------------------------------------------------------------------------------------------------------- pictures


def _histogram(name: str, values: Mapping[str, Sequence[int]]) -> Picture:
    """How often whole numbers occur, for one or two series, as shares."""
    samples = {label: np.array(each) for label, each in values.items() if len(each)}
    low, high = min(each.min() for each in samples.values()), max(each.max() for each in samples.values())
    bins = np.arange(low, high + 2) - 0.5 if high - low < BINS else np.linspace(low - 0.5, high + 0.5, BINS)

    def draw(axes: "Axes") -> None:
        for (label, each), colour in zip(samples.items(), SERIES, strict=False):
            weights = np.full(len(each), 100 / len(each))
            axes.hist(each, bins.tolist(), weights=weights, histtype="step", linewidth=1.8, color=colour, label=label)
        axes.set(xlabel=name, ylabel="% of the games")
        axes.legend(frameon=False)

    return Picture(svg_of(draw), name)


def _curves(name: str, values: Mapping[str, Sequence[float | None]], floor: float | None = None) -> Picture:
    """Means over the parts of a game, from its beginning to its end."""

    def draw(axes: "Axes") -> None:
        for (label, each), colour in zip(values.items(), SERIES, strict=False):
            points = [(100 * (i + 0.5) / len(each), value) for i, value in enumerate(each) if value is not None]
            axes.plot(*zip(*points, strict=True), marker="o", markersize=4, color=colour, label=label)
        axes.set(xlabel="% of the game", ylabel=name, xlim=(0, 100))
        axes.set_ylim(bottom=floor)
        if len(values) > 1:
            axes.legend(frameon=False)

    return Picture(svg_of(draw), name)
