"""Audit of OpenSpiel's samplers: is what `resample_from_infostate` draws all that the player knows, and nothing that he does not know?

    from icarus.bridges.openspiel_audit import audit_sampler
    print(audit_sampler("leduc_poker"))

`python -m icarus.bridges.openspiel_audit` audits all games of OpenSpiel that can be asked.

Random games are played, and at decisions of players many states are drawn from the player's information set. A state contradicts where
he would know something else in it, or could do something else. The sampler leaks where its draws tell which of the states is the true
one: draws from the truth and from another state of the same information set are compared, state by state (chi-square test), or, where
hardly any state is drawn twice, by how near they come to the truth (Mann-Whitney). In games small enough to list all histories the draws
are compared with the probabilities of chance.
"""

import argparse
import contextlib
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator

import numpy as np
import pyspiel

from icarus.audit.report import AuditReport, Check
from icarus.audit.uniformity import FEWEST_EXPECTED
from icarus.bridges.openspiel import Determinize, game
from icarus.bridges.seats import draw_outcome, read_view
from icarus.checks import integer

FALSE_ALARM = 1e-6  # the p-value below which two distributions differ
LISTED = 20_000  # histories of a game that is small enough to be listed

CLAIMS = {
    "player": "the same player is about to act in every draw",
    "actions": "he has the same legal actions",
    "view": "the game's information state string for him is the same",
    "again": "a state can be drawn from a draw, and these claims hold again",
    "leak": "whichever state of an information set is the true one, the draws have the same chances",
    "truth": "every state that agrees with what he knows is among the draws",
    "chances": "states are drawn by the probabilities of chance",
}


Face = tuple[str | None, ...]


def _in_common(first: Face, second: Face) -> int:
    """How many characters of two faces are the same, place by place."""
    return sum(a == b for x, y in zip(first, second, strict=True) for a, b in zip(x or "", y or "", strict=False))


def audit_sampler(
    source: "str | pyspiel.Game",
    *,
    determinize: Determinize | None = None,
    games: int = 10,
    draws: int = 200,
    seed: int = 0,
) -> AuditReport:
    """Check `resample_from_infostate` of a game of OpenSpiel's, or a function in its place.

    Args:
        determinize: as in `icarus.bridges.openspiel.game`.
        games: random games to play.
        draws: at each decision.

    Raises:
        ValueError: no such game, or nothing that draws.
    """
    integer("games", games, 1)
    integer("draws", draws, 1)
    bridged = game(source, determinize=determinize)
    if bridged.determinize is None:
        raise ValueError(f"{bridged} hides nothing: there is nothing to audit")
    return _Audit(bridged.initial(None), determinize, games, draws, integer("seed", seed, 0)).report()


def _histories(state: "pyspiel.State", chance: float = 1.0) -> Iterator[tuple["pyspiel.State", float]]:
    """Every state in which a player decides, with the probability that chance contributes to it."""
    if state.is_terminal():
        return
    if state.is_chance_node():
        outcomes = state.chance_outcomes()
    else:
        yield state, chance
        outcomes = [(action, 1.0) for action in state.legal_actions()]
    for action, probability in outcomes:
        yield from _histories(state.child(action), chance * probability)


class _Audit:
    """An audit under way."""

    def __init__(
        self, start: "pyspiel.State", determinize: Determinize | None, games: int, draws: int, seed: int
    ) -> None:
        from scipy import stats

        self.start, self.games, self.draws = start, games, draws
        self.game, self.luck = start.get_game(), np.random.default_rng(seed)
        self.draw = determinize or (lambda state, player, random: state.resample_from_infostate(player, random))
        self.stats = stats
        self.checks = {name: Check(name, claim) for name, claim in CLAIMS.items()}
        self.decisions, self.draw_count = 0, 0
        self.sets = self._information_sets()

    def report(self) -> AuditReport:
        started = time.perf_counter()
        for _ in range(self.games):
            state = self.start.clone()
            while not state.is_terminal():
                if state.is_chance_node():
                    state.apply_action(draw_outcome(state, self.luck))
                    continue
                self._decision(state)
                state.apply_action(int(self.luck.choice(state.legal_actions())))
        seconds, checks = time.perf_counter() - started, tuple(self.checks.values())
        return AuditReport(str(self.game), self.games, self.decisions, self.draw_count, False, checks, seconds)

    def _information_sets(self) -> dict[Hashable, dict[Face, float]] | None:
        """By what a player knows, the states that agree with it and their chances; None where the game is too large to list."""
        sets: dict[Hashable, dict[Face, float]] = defaultdict(lambda: defaultdict(float))
        for i, (state, chance) in enumerate(_histories(self.start)):
            if i == LISTED:
                return None
            player = state.current_player()
            sets[player, read_view(state, player)][self._face(state)] += chance
        return sets

    def _face(self, state: "pyspiel.State") -> Face:
        """What all players together know."""
        return tuple(read_view(state, player) for player in range(self.game.num_players()))

    def _sample(self, state: "pyspiel.State", count: int) -> list["pyspiel.State"]:
        player = state.current_player()
        self.draw_count += count
        return [self.draw(state, player, self.luck.random) for _ in range(count)]

    def _decision(self, state: "pyspiel.State") -> None:
        self.decisions += 1
        draws = self._sample(state, self.draws)
        sound = [self._agrees(state, draw) for draw in draws]
        counts = Counter(map(self._face, draws))
        truth = self._face(state)
        alternative = next(
            (draw for draw, good in zip(draws, sound, strict=True) if good and self._face(draw) != truth), None
        )
        if alternative is not None:
            self._from_another(state, alternative, counts)
        if self.sets is not None and all(sound):
            self._against_chance(state, counts)

    def _agrees(self, state: "pyspiel.State", draw: "pyspiel.State", name: str | None = None) -> bool:
        """Whether a draw is a state of the information set; counted under the claims, or all under one."""
        player = state.current_player()
        same = {"player": draw.current_player() == player}
        same["actions"] = same["player"] and draw.legal_actions() == state.legal_actions()
        same["view"] = read_view(draw, player) == read_view(state, player)
        for claim, good in same.items():
            self.checks[name or claim].count(1, not good, lambda: self._where(state, f"not so in {draw.history_str()}"))
        return all(same.values())

    def _from_another(self, state: "pyspiel.State", alternative: "pyspiel.State", counts: Counter) -> None:
        try:
            draws = self._sample(alternative, self.draws)
        except pyspiel.SpielError as error:
            why = str(error).splitlines()[0]
            self.checks["again"].count(1, 1, lambda: self._where(state, f"{why} in {alternative.history_str()}"))
            return
        for draw in draws[: min(10, len(draws))]:
            self._agrees(state, draw, "again")
        p = self._same_chances(self._face(state), counts, Counter(map(self._face, draws)))
        what = f"other draws where {alternative.history_str()} is true (p = {p:.1g})"
        self.checks["leak"].count(1, p < FALSE_ALARM, lambda: self._where(state, what))

    def _same_chances(self, truth: Face, counts: Counter, others: Counter) -> float:
        """The p-value of draws from the truth and from another state: state by state, or how near they come to the truth where few states
        are drawn twice."""
        faces = [face for face in {**counts, **others} if counts[face] + others[face] >= FEWEST_EXPECTED]
        table = np.array([[sample[face] for face in faces] for sample in (counts, others)])
        if len(faces) > 1 and table.sum() > 0.9 * 2 * self.draws and table.sum(1).all():
            return float(self.stats.chi2_contingency(table)[1])
        near, others_near = ([_in_common(truth, face) for face in each.elements()] for each in (counts, others))
        return float(self.stats.mannwhitneyu(near, others_near).pvalue)

    def _against_chance(self, state: "pyspiel.State", counts: Counter) -> None:
        assert self.sets is not None
        player = state.current_player()
        chances = self.sets[player, read_view(state, player)]
        expected = {face: self.draws * chance / sum(chances.values()) for face, chance in chances.items()}
        likely = [face for face, number in expected.items() if number >= FEWEST_EXPECTED]
        missed = [face for face in likely if not counts[face] and expected[face] >= 25]
        self.checks["truth"].count(1, bool(missed), lambda: self._where(state, f"never drawn: {missed[0]}"))
        if len(likely) > 1 and not missed:
            observed, fair = np.array([(counts[face], expected[face]) for face in likely], float).T
            p = float(self.stats.chisquare(observed, fair * observed.sum() / fair.sum())[1])
            self.checks["chances"].count(1, p < FALSE_ALARM, lambda: self._where(state, f"p = {p:.1g}"))

    def _where(self, state: "pyspiel.State", what: str) -> str:
        return f"player {state.current_player()} after {state.history_str() or 'nothing'}: {what}"


# ------------------------------------------------------------------------------------------------------------ all of them

LONGEST = 400  # actions of a random game that is short enough to be audited without being named


def resampled_games() -> list[str]:
    """The games of OpenSpiel that hide something, can redraw it, and are short enough to be audited by the dozen."""
    with _without_messages():
        return [kind.short_name for kind in pyspiel.registered_games() if _is_resampled(kind)]


@contextlib.contextmanager
def _without_messages() -> Iterator[None]:
    """Without what OpenSpiel itself writes to stderr of each refusal."""
    sys.stderr.flush()
    descriptor, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(descriptor, 2)
        os.close(descriptor)
        os.close(nowhere)


def _is_resampled(kind: "pyspiel.GameType") -> bool:
    hides = kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
    if not (hides and kind.default_loadable) or kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        return False
    try:
        state, luck = game(kind.short_name).initial(None), np.random.default_rng(0)
        for _ in range(LONGEST):
            if state.is_terminal():
                return True
            outcomes = (
                dict(state.chance_outcomes()) if state.is_chance_node() else dict.fromkeys(state.legal_actions(), 1.0)
            )
            chances = np.array(list(outcomes.values()))
            state.apply_action(int(luck.choice(list(outcomes), p=chances / chances.sum())))
    except (ValueError, pyspiel.SpielError):
        pass  # it cannot redraw, or has no bounds of its utilities
    return False


def main(arguments: list[str] | None = None) -> None:
    """Audit the samplers of the games named, or of all that can be asked, and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m icarus.bridges.openspiel_audit", description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="GAME", help="as pyspiel.load_game takes it")
    parser.add_argument("--games", type=int, default=5, help="random games of each")
    parser.add_argument("--draws", type=int, default=100, help="at each decision")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    for name in options.names or resampled_games():
        try:
            report = audit_sampler(name, games=options.games, draws=options.draws, seed=options.seed)
        except (ValueError, pyspiel.SpielError) as error:
            print(f"{name}: not audited: {str(error).splitlines()[0][:200]}", flush=True)
            continue
        print(report if options.names else _line(report), flush=True)


def _line(report: AuditReport) -> str:
    """The verdict in a line: of each claim that failed, how often."""
    failed = ", ".join(f"{name} ({report[name].failed:,} of {report[name].checked:,})" for name in report.failed)
    looked = f"{report.decisions} decisions, {report.determinizations:,} draws"
    return f"{report.game}: {looked}: {f'FAILED {failed}' if failed else 'passed'}"


if __name__ == "__main__":
    main()
