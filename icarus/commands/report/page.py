"""A report as a page that needs no network, and as sentences."""

from collections.abc import Iterator
from html import escape

import numpy as np

from icarus.audit import AuditReport
from icarus.commands.report.matches import EVEN, REFERENCE
from icarus.commands.report.measures import AHEAD, Estimate, Measures
from icarus.commands.report.pictures import curves, histogram, intervals
from icarus.discovery.statistics import CONFIDENCE
from icarus.ladder.rating import Rating
from icarus.views.document import page

NONE, NO_BREAK = "–", "\N{NO-BREAK SPACE}"
PROOF = f"{100 * CONFIDENCE:g} %"  # of the intervals of a race
NO_GAMES = "<p>No game has been played yet.</p>"


def page_of(game: str, report: AuditReport, measures: Measures | None) -> str:
    """The page; without measures, of a game that the audit refuses."""
    sections = [("In short", _list(sentences(report, measures)))]
    if measures is not None:
        sections += [
            ("How games go", _course(measures)),
            ("When the winner is known", _tension(measures)),
            ("Skill and levels", _levels(measures)),
            ("Enhancements", _strategies(measures)),
            ("The best composition", _composition(measures)),
            ("A game with comments", _comments(measures)),
        ]
    sections.append(("Audit", f'<pre tabindex="0">{escape(str(report))}</pre>'))
    return page(
        "sections",
        f"{game}: what the game is like",
        sections="".join(f"<section><h2>{escape(title)}</h2>{body}</section>" for title, body in sections),
    )


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


def _course(measures: Measures) -> str:
    """How long games are, how much there is to choose, and what seats get: in random play and where a search plays itself."""
    games = {kind: game for kind, game in measures["course"].items() if game["games"]}
    if not games:
        return NO_GAMES
    columns = [_cells_of(game) for game in games.values()]
    table = _table(["measure", *games], [[name, *(cells[name] for cells in columns)] for name in columns[0]])
    lengths = histogram("actions of a game", {kind: game["length"]["all"] for kind, game in games.items()})
    choices = curves("choices", {kind: game["choices_by_part"] for kind, game in games.items()}, 0)
    return f"{table}{_pictures(lengths, choices)}"


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


def _tension(measures: Measures) -> str:
    tension = measures["tension"]
    if not tension["stake"]:
        return NO_GAMES
    pictures = [curves("reward that a decision is worth", {"": tension["stake_by_part"]}, 0)]
    text = "<p>No game had a single winner.</p>" if tension["changes"] else "<p>Nobody wins against another.</p>"
    if tension["known"]:
        low, middle, high = tension["known"]["quartiles"]
        text = (
            f"<p>The winner takes the final lead before {middle:.0%} of the game (median; quartiles {low:.0%} and {high:.0%}; "
            f"{tension['known']['games']} games). The lead changes {tension['changes']} times.</p>"
        )
        shares = [None if share is None else 100 * share for share in tension["right_by_part"]]
        pictures.insert(0, curves("% of games that the leader wins", {"": shares}))
    return f"""{text}<p class="faint">The searches of the players decide who leads, each by what its player may observe: the leader expects
the highest reward, and a player who expects {AHEAD} more takes the lead. Where no player leads, a guess is counted. The worth of a decision
is the value of the chosen action minus the mean of all legal ones.</p>{_pictures(*pictures)}"""


def _levels(measures: Measures) -> str:
    skill, levels = measures["skill"], measures["levels"]
    if not levels:
        return NO_GAMES
    names = [f"level {level['level']}: {_iterations(level['agent']['iterations'])}" for level in levels]
    cells = [
        [name, str(_rating(level)), str(_rating(level["step"])), str(level["games"])]
        for name, level in zip(names, levels, strict=True)
    ]
    ratings = dict(zip(names, map(_rating, levels), strict=True))
    if measures["composition"] and measures["composition"].get("rating"):
        ratings[f"best composition: {_iterations(measures['plan']['iterations'])}"] = measures["composition"]["rating"]
    picture = intervals(
        "rating in Elo, random play at 0",
        {name: (rating.value, rating.low, rating.high) for name, rating in reversed(ratings.items())},
    )
    longer = f"{skill['player']} score {percent(skill['score'])} against {skill['opponent']}: ½ would show no skill."
    command = _code(f"icarus play {_file_or_game(measures)} --level 3 --levels DIR")
    text = f"""<p>Each level is {REFERENCE} with twice the iterations of the one below; the first stands above random play. {escape(longer)}
To play against a level: {command}, where DIR is the directory of this page.</p>"""
    return f"{text}{_table(['level', 'Elo', 'above the one below', 'games'], cells)}{_pictures(picture)}"


def _iterations(number: int) -> str:
    return f"{number:,} iteration{'s' if number > 1 else ''}"


def _rating(level: Measures) -> Rating:
    return Rating(level["elo"], level["low"], level["high"])


def _composition(measures: Measures) -> str:
    if measures["composition"] is None:
        command = _code(f"icarus describe {_file_or_game(measures)} --race 4000")
        return f"<p>No race was run. {command} searches for the best composition, proves it, and rates it among the levels.</p>"
    return f"{_list(list(_of_composition(measures)))}<p>The race has a page of its own, race/result.html beside this one.</p>"


def _code(command: str) -> str:
    return f"<code style='white-space: nowrap'>{escape(command)}</code>"


def _file_or_game(measures: Measures) -> str:
    """What a command names the game by."""
    plan = measures["plan"]
    return str(plan["files"][-1] if plan["files"] else plan["game"])


def _strategies(measures: Measures) -> str:
    results, rates, plan = measures["strategies"], measures["rates"], measures["plan"]
    if not results:
        return NO_GAMES
    cells = [
        [each["strategy"], str(each["gain"]), str(2 * each["gain"].number), f"{rates.get(each['strategy'], 0):,.0f}"]
        for each in results
    ]
    cells.append([REFERENCE, "0", NONE, f"{rates.get(REFERENCE, 0):,.0f}"])
    picture = intervals(
        f"score above ½ against {REFERENCE}",
        {each["strategy"]: (each["gain"].mean, each["gain"].low, each["gain"].high) for each in results},
    )
    alone = len(measures["course"][EVEN].get("seats", ())) == 1
    verb, sides = (
        ("is compared with", "each alone and with the same chance") if alone else ("plays", "both sides of each deal")
    )
    text = f"""<p>Each {verb} {REFERENCE}, both with {plan["iterations"]:,} iterations for a decision, {sides}. The intervals
are simultaneous.</p>"""
    return f"{text}{_table(['strategy', 'score above ½', 'games', 'iterations a second'], cells)}{_pictures(picture)}"


def _comments(measures: Measures) -> str:
    game = measures["commented"]
    if game is None:
        return NO_GAMES
    values = [f"{step['value']:.2f}" if "value" in step else "" for step in game["steps"]]
    cells = [
        [str(number), step["player"].replace(" ", NO_BREAK), step["action"], value, step.get("comment", "")]
        for number, (step, value) in enumerate(zip(game["steps"], values, strict=True), 1)
    ]
    pictures = "".join(
        f"<figure>{svg}<figcaption class='faint'>{_caption(game['steps'], int(index))}</figcaption></figure>"
        for index, svg in game["pictures"].items()
    )
    table = _table(["no.", "player", "action", "value", "comment"], cells, "words")
    rewards = ", ".join(f"{reward:g}" for reward in game["returns"])
    return f"{table}<p>Rewards: {rewards}.</p><div class='pictures'>{pictures}</div>"


def _caption(steps: list[Measures], index: int) -> str:
    if index == len(steps):
        return "the end"
    return f"before {index + 1}: {escape(steps[index]['player'])} plays {escape(steps[index]['action'])}"


def _table(header: list[str], rows: list[list[str]], kind: str = "") -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide" tabindex="0"><table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _list(lines: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _pictures(*pictures: str) -> str:
    return f"<div class='pictures'>{''.join(pictures)}</div>"
