"""Audit of a game's hidden information: is a determinization all that the observer knows, and nothing that he does not know?

Random games are played; at decisions of players many determinizations are drawn, and each check of HIDDEN is made, on all of them or on a
sample. Nothing is known of the game but its functions.

Two states are the same to the audit when all that everyone together can see of them is the same (`Faces`): the text of a compiled game, and
the actions of the episode as the environment recalls them; the facts of a state in plain Python, down to numbers and texts. So generators
of coming deals count for nothing. What a text leaves out is not compared; each text must hide equally many facts, or the draws would
not look uniform.

An information set is *small* where there were at least DRAWS_PER_STATE draws for each state found in it: a state is then missed
with a probability of e^-25, so what is not found is excluded, and the counts can be compared with the uniform distribution.

Deals are what is equally likely. Where data says less than the deal (ranks without their suits), or the rules make some data likelier,
`multiplicity(state)` must tell how many deals it stands for, or how likely it is, up to a common factor.

A step leads from a decision to the next one, by an action and the outcomes of chance after it. Another way is one that the observer cannot
tell from it: it begins in the truth or in a draw for him, of each of its actions he sees the same move, and at its end he knows the same,
and the same player acts, with the same legal actions if it is he. All these ways end in one information set: from any of its states
the same random numbers draw the same, and a draw says nothing that none of many ways' ends says.
"""

import contextlib
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from icarus.audit.contract import function_of
from icarus.audit.deals import FEW, UnlikeError, deals
from icarus.audit.draws import (
    DRAWS_PER_STATE,
    FAULTS,
    Drawn,
    Draws,
    Face,
    Faces,
    Name,
    Redraws,
    Told,
    Word,
    facts_known,
    uneven,
)
from icarus.audit.report import Check, both_texts, checks_of, indented, last_of, note_unchecked
from icarus.audit.subjects import Stream, fingerprint, stamp, view_of
from icarus.checks import count_text, positive
from icarus.compiler import defined_at, plain_below, seeded
from icarus.kernel import (
    CHANCE,
    CONTINUES,
    TERMINAL,
    UNSEEN,
    AnyGame,
    Game,
    State,
    StateData,
    random_action,
)
from icarus.kernel.functions import AUTHOR_ERRORS

HIDDEN = {
    "player": "the same player is about to act in every determinization",
    "actions": "he has the same legal actions, in the same order",
    "view": "the observer knows the same: label and moves of the episode; in plain Python his `observation` and the texts of his actions",
    "legal": "initial data and legal actions lead to the determinization",
    "history": "on that path the observer sees the moves that he has seen",
    "again": "a determinization can be determinized, and these claims hold again",
    "swap": "hidden facts change no draw: if a determinization is the true state, the same random numbers draw the same",
    "truth": "the true state is among the draws, and so is each state of the same deal that the observer cannot tell from it; where a "
    "draw is the true state, another player's draws have it",
    "uniform": "all states of an information set are equally likely, or weighted by multiplicity",
    "redraw": "the hidden facts of each other player are redrawn, and those that nobody sees",
    "unseen": "what the observer has not seen changes no draw: after another way that he cannot tell from the true one, the same random "
    "numbers draw the same",
    "seen": "draws agree with what he has seen of the last step: each fact of them is met in a game in which he sees the same; each "
    "fact after a deal, too",
    "sees all": "a draw for CHANCE, who sees everything, changes at most the luck to come: nothing that a player knows",
}
NO_SMALL_SET = "no information set was small enough for the number of draws"
NO_RETRACE = (
    "the game has no retrace(state, data), the way from a deal to a determinization: draws that contradict what a player has seen "
    "earlier may go unseen; with one they are found"
)
NO_OBSERVATION = {
    "view": "the game has no observation(state, player), all that a player may know: draws that change his own cards go unseen",
    "redraw": "the game has no observation(state, player): what others hold may be kept in all draws, and goes unseen",
}
UNCHECKED_NOTES = {
    "swap": "nothing was hidden at any decision",
    "again": "nothing was hidden at any decision",
    "truth": NO_SMALL_SET,
    "uniform": "no information set of several states was small enough for the number of draws",
    "seen": "steps tell something, but no single fact of which a draw could be missed",
    **dict.fromkeys(("legal", "history"), NO_RETRACE),
}
ABSENT_NOTES = {
    "unseen": "no step was met that a player cannot tell from another",
    "seen": "no step told a player anything that draws could contradict",
}
FEWEST_DRAWS = 200  # to compare, however small the set is
PROBE = 60  # draws at a decision; more are made only if they show a small information set
PROBED = 30  # where these are all different, the set is large
SWAPPED = 20  # drawn from another determinization, taken as the truth
TESTED = 60  # small information sets, in plain Python
LEAST = 1e-300  # p-value that has a logarithm
FALSE_ALARM = 1e-6  # the p-value below which draws are not uniform
GAMES_PER_DEAL = 2  # so that different actions after the same deal can look alike
REPLAYED = 2  # determinizations replayed at each decision
FOR_CHANCE = 4  # at one of four decisions is drawn for CHANCE, too
LOOKS = 2  # decisions of a game in plain Python that are looked at for sure; later ones are, ever more seldom
LAST_ACTIONS = 10  # of the history, told in an example
STEPS = 5  # of a game that are looked at for what was seen
COMPARED = 20  # draws after each of two ways
WAYS = 60  # ends of other ways, and draws, whose facts are compared
EXCHANGED = 10  # pairs of outcomes of chance that are exchanged to find another way
HOPELESS = 200  # draws that other ways begin in; after so many without a tenth of those wanted no more are tried
DEALS = 600  # beside those of the audit's games: of each is drawn once, or what players infer is looked at
# draws that say what no other way says, and how many times as many as the other way round
STRANGE = 50
MANY_TIMES = 3
HIDING = (
    "; but different data have the same text here: if they are different deals, the text hides what makes them differ "
    "(suits, say), and the alarm is false: show it, or give the game multiplicity(state), the number of deals of these data"
)
WEIGHING = "; if the rules make some likelier than others, give the game multiplicity(state)"


_Step = tuple[State, State]  # a decision of a random game and the next one


class Hidden:
    """An audit under way, with the random game that is being played."""

    def __init__(
        self,
        game: AnyGame,
        determinizations: int,
        seed: tuple[int, ...],
        multiplicity: Callable[[Any], float] | None,
        errors: Check,
    ) -> None:
        self.game = game
        self.determinizations = determinizations
        self.seed = seed
        self.multiplicity = multiplicity
        self.compiled = isinstance(game, Game)
        self._errors = errors
        self.checks = checks_of(HIDDEN, ())
        self.decisions = self.draw_count = 0
        self._largest = 0  # small information set
        self._least_text = ""  # an example, of the draws with the least p-value
        # by what an observer has noticed: the true states, and the deals of each
        self._deals_by_face: dict[bytes, dict[Face, float]] = {}
        self._faces = Faces(game)
        self._redraws = Redraws(game)
        # the number of the game under way, and its actions
        self._number = 0
        self._texts: list[str] = []
        self._views: list[list[object]] = []  # of each state of the game, by player
        # of each decision the player, and what was legal
        self._choices: list[tuple[int, list[int]]] = []
        # of each action the moves, who knows it by them, and the label of the state before
        self._seen: list[tuple[list[int], list[bool], int]] = []
        self._places = set[Name]()  # where draws have had something else
        self._is_told = False  # whether a step was met that some draws before rule out
        self._strange = self._missing = self._strangest = 0
        self._strange_text = ""
        # how deals, and draws after them, are not as likely as they should be
        self._uneven_deals: list[str] = []

    # --------------------------------------------------------------------------------------------------- a random game

    def play(self, number: int) -> None:
        """Play a random game and look at decisions of it."""
        self._number = number
        self._texts = []
        if number == 0 and not self.compiled:
            # an error there is met again by the games that are looked at, or by those of the contract
            with contextlib.suppress(*AUTHOR_ERRORS):
                self._faces.learn(self.seed)
        self.luck = random.Random(f"{self.seed} {number}")
        self.rng = seeded((*self.seed, Stream.DRAWS, number))
        state = self._dealt(Stream.DEALS, number // GAMES_PER_DEAL)
        if state is not None:
            self._guarded(state, partial(self._play, state))
        self._faces.clear()

    def _dealt(self, stream: int, number: int) -> State | None:
        """A deal of a stream of games; None where an error is raised, which is told as what is wrong."""
        seed = *self.seed, stream, number
        try:
            return self.game.new_initial_state(seed)
        except AUTHOR_ERRORS as error:
            self._errors.count(f"new_initial_state(seed={seed}): {_error_text(error)}")
            return None

    def _play(self, state: State) -> None:
        """Play on from a deal; the state goes with the game."""
        deal = stamp(state.data)
        decisions = list[State]()
        for player in self._decisions_of(state):
            if not decisions:
                self._redraws.begin(state)
            decisions.append(state.clone())
            if self.compiled or self.luck.random() * len(decisions) < LOOKS:
                self._guarded(state, partial(self._decision, state, player, deal))
        # Steps are compared by what is played from draws, which must have the true player and the true actions for that.
        if not any(self.checks[name].failed for name in ("player", "actions", "legal")):
            self.luck = random.Random(f"{self.seed} {self._number} steps")
            self.rng = seeded((*self.seed, Stream.STEPS, self._number))
            self._look_at_steps([*itertools.pairwise(decisions)])

    def _decisions_of(self, state: State) -> Iterator[int]:
        """Play on from a deal at random, and stop at each decision: the player about to act. What was seen on the way is kept."""
        self._views = []
        self._choices = []
        self._seen = []
        has_luck = not self.compiled and bool(self._redraws.luck_in(state.data))
        while True:
            self._views.append(
                [view_of(self.game, state.data, each) for each in range(self.game.players)]
            )
            player = state.current_player()
            if player == TERMINAL:
                break
            if player != CHANCE:
                self._choices.append((player, state.legal_actions()))
                yield player
            action = random_action(state, self.luck)
            self._texts.append(state.action_to_string(action))
            moves = self._moves_seen(state, action)
            self._seen.append((moves, self._are_known(state, moves), state._label(state.data)))
            luck = self._redraws.luck_in(state.data) if has_luck else {}
            state.apply_action(action)
            if luck:
                self._redraws.note_luck(luck, state.data)

    def _seen_by(self, observer: int) -> tuple[object, ...]:
        """What an observer has known up to now by `observation`, and what was legal for him."""
        views = [views[observer] for views in self._views]
        choices = [legal for player, legal in self._choices if player == observer]
        return views, choices

    def _meet_sights_again(self) -> None:
        """Play more games, without draws, while it is in doubt whether a player infers what is never redrawn."""
        for number in range(DEALS):
            if not self._redraws.in_doubt():
                break
            self._number = number
            self._texts = []
            self.luck = random.Random(f"{self.seed} sights {number}")
            state = self._dealt(Stream.SIGHTS, number)
            if state is not None:
                self._guarded(state, partial(self._note_sights, state))

    def _note_sights(self, state: State) -> None:
        """Play on from a deal, and note what the player of each decision has seen."""
        for player in self._decisions_of(state):
            if len(self._choices) == 1:  # the first decision, which ends the deal
                self._redraws.begin(state)
            self._redraws.note_sight(state, player, self._seen_by(player))

    def _guarded(self, state: State, look: Callable[[], None]) -> None:
        """Look at a state; an error that a function raises is told as what is wrong."""
        try:
            look()
        except AUTHOR_ERRORS as error:
            self._errors.count(self._describe(state, _error_text(error)))

    def _moves_seen(self, state: State, action: int) -> list[int]:
        moves = state.observed(action)
        return [moves[self.game.perspective(player)] for player in range(self.game.players)]

    def _are_known(self, state: State, moves: list[int]) -> list[bool]:
        """Which players know an action by the move that they see of it, in a game in plain Python."""
        if self.compiled or self.game.observe is None:
            return [True] * self.game.players
        sights = [self._moves_seen(state, action) for action in state.legal_actions()]
        return [
            sum(sight[player] == move for sight in sights) == 1 for player, move in enumerate(moves)
        ]

    def _describe(self, state: State, what: str, data: StateData | None = None) -> str:
        """An example: where in which game, what is wrong, and the determinization that it is wrong with."""
        texts = self._texts[: len(state.history)]
        before = last_of(texts, LAST_ACTIONS)
        text = f"game {self._number + 1}, player {state.current_player()} after {before}: {what}"
        return text if data is None else indented(text, self._faces.text(data))

    # ------------------------------------------------------------------------------------------------------ a decision

    def _decision(self, state: State, observer: int, deal: object) -> None:
        """Make the checks of a decision: of many draws, and of those from a draw that is taken for the truth."""
        self.decisions += 1
        self._faces.clear()
        draws = Draws(state, observer)
        rng_before = self.rng.copy()
        worlds = self._draw(draws)
        self.draw_count += len(worlds)
        self._redraws.note(state, observer, worlds[:PROBE], self._seen_by(observer))
        luck = seeded((*self.seed, Stream.CHANCE, self.decisions))
        if self.decisions == 1 or plain_below(luck, FOR_CHANCE) == 0:
            self._draw_for_chance(draws, luck)
        faults = draws.faults(worlds)
        for name in FAULTS:
            self._count_faults(name, (name,), draws, worlds, faults)
        if not self.compiled:
            self._replay_as_deals(state, observer, worlds)
        elif getattr(self.game, "retrace", None) is not None:
            for data in worlds[:REPLAYED]:
                self._replay(state, observer, data)
        self._count(state, observer, worlds, deal)
        truth = self._faces(state.data)
        for world, (fault, _) in zip(worlds[:SWAPPED], faults, strict=False):
            if not fault and self._faces(world) != truth:
                self._swap(draws, world, worlds[:SWAPPED], rng_before)
                break

    def _swap(
        self, draws: Draws, rival: StateData, worlds: list[StateData], rng: np.ndarray
    ) -> None:
        """Take a draw without a fault for the truth: the same random numbers draw the same, for this observer; and draw for another."""
        again = self._compare("swap", draws, rival, worlds, rng)
        if again is not None:
            self._count_faults("again", FAULTS, draws, again, draws.faults(again))
            self._ask_another(draws.state, draws.observer, rival)

    def _draw(self, draws: Draws) -> list[StateData]:
        """As many draws as a small information set needs; only a few of a large one."""
        most = self.determinizations
        data = draws.state.data
        worlds = draws.draw(data, min(PROBE, most), self.rng)
        states = len(set(map(self._faces, worlds)))
        is_small = states <= most // DRAWS_PER_STATE
        if is_small and (self.compiled or self.checks["uniform"].checked < TESTED):
            count = min(most, max(FEWEST_DRAWS, 2 * states * DRAWS_PER_STATE))
            worlds += draws.draw(data, count - len(worlds), self.rng)
        return worlds

    def _count_once(
        self, name: str, state: State, wrong: str, data: StateData | None = None
    ) -> None:
        """Count a claim as tested once, with what is wrong; "" where nothing is."""
        self.checks[name].count(wrong and self._describe(state, wrong, data))

    def _count_faults(
        self,
        name: str,
        kinds: Sequence[str],
        draws: Draws,
        worlds: list[StateData],
        faults: list[tuple[str, str]],
    ) -> None:
        """Count the draws that have a fault of these kinds."""
        pairs = zip(worlds, faults, strict=True)
        wrong = [(words, world) for world, (fault, words) in pairs if fault in kinds]
        example = self._describe(draws.state, *wrong[0]) if wrong else ""
        self.checks[name].count(example, len(worlds), len(wrong))

    def _tally(self, worlds: list[StateData]) -> Drawn | None:
        """How often each state was drawn; None where the information set is not small."""
        tally = Drawn()
        for number, world in enumerate(worlds, 1):
            face = self._faces(world)
            tally.add(face, stamp(world))
            tally.deals[face] = tally.deals.get(face) or self._deals(world)
            states = len(tally.counts)
            all_differ = number == states == PROBED
            if all_differ or states > len(worlds) // DRAWS_PER_STATE:
                return None
            if number >= max(FEWEST_DRAWS, states * DRAWS_PER_STATE):
                break
        return tally

    def _deals(self, data: StateData) -> float:
        """The number of deals that a state stands for, or its weight."""
        if self.multiplicity is None:
            return 1.0
        number = self.multiplicity(self.game.facts_of(data))
        return positive(f"multiplicity{defined_at(self.multiplicity)}", number)

    def _draw_for_chance(self, draws: Draws, rng: np.ndarray) -> None:
        """Check that a draw for CHANCE has all facts that the truth and the draws for the player about to act have in common."""
        state = draws.state
        worlds = draws.draw(state.data, PROBED, rng)
        try:
            draw = state.from_data(self.game, state.redraw(CHANCE, state.beliefs(CHANCE), rng))
        except AUTHOR_ERRORS as error:  # whatever a game stumbles over is what there is to tell
            self._count_once("sees all", state, f"{error!r} where determinize draws for CHANCE")
            return
        words = set.intersection(*(self._faces.words(data) for data in (state.data, *worlds)))
        lost = [word for _, word in sorted(words - self._faces.words(draw.data))]
        if not lost and stamp(draw.data) != stamp(state.data):
            there, here = (
                (each.current_player(), each._label(each.data), each.legal_actions())
                for each in (state, draw)
            )
            if there != here:
                lost = ["the actions about to be done"]
        what = f"the player knows {lost[0]!r}, which a draw for CHANCE lacks:" if lost else ""
        self._count_once("sees all", state, what, draw.data)

    def _replay(self, state: State, observer: int, data: StateData) -> None:
        """Go the way that leads to a determinization."""
        replayed, wrong = self._retrace(state, data)
        self._count_once("legal", state, wrong, data)
        if replayed is None:
            return
        moves = list(replayed.moves(observer))
        observed = [sight[observer] for sight, _, _ in self._seen if sight[observer] != UNSEEN]
        observed = observed[len(observed) - len(moves) :]  # the last ones, as many as on the way
        what = ""
        if moves != observed:
            there, here = both_texts(observed, moves)
            what = f"he has seen the moves {there}, but here {here}"
        elif len(moves) == len(replayed.history):  # else he cannot tell how many actions there were
            number = self._first_other_view(state, observer, replayed)
            if number is not None:
                what = f"after {count_text(number, 'action')} he knew something else than on the way to this one, by `observation`:"
        self._count_once("history", state, what, data)

    def _replay_as_deals(self, state: State, observer: int, worlds: list[StateData]) -> None:
        """Play the actions again from the deals of a few draws, which are not the truth."""
        truth = self._faces(state.data)
        luck = random.Random(f"{self.seed} {self._number} {len(state.history)}")
        others = (world for world in worlds if self._faces(world) != truth)
        for world in itertools.islice(others, REPLAYED):
            ways: dict[str, tuple[str, str]] = {}
            with contextlib.suppress(UnlikeError):  # it is not known what was dealt
                for start, names in deals(state, world, self._faces, self._places, luck):
                    way = self._way_from(state, observer, start, names, self._faces(world))
                    if way is not None:
                        ways[f"{self._faces(start)}"] = way
                    if way == ("", ""):
                        break
            if len(ways) <= FEW and ways:
                illegal, unseen = min(ways.values())
                self._count_once("legal", state, illegal, world)
                self._count_once("history", state, unseen, world)

    def _way_from(
        self, state: State, observer: int, start: StateData, names: Mapping[Any, Any], end: Face
    ) -> tuple[str, str] | None:
        """What is wrong with a way to a draw: an action that was not legal, and what was seen otherwise; None if it leads elsewhere."""
        data = self.game.ask("copy", start)
        column = self.game.perspective(observer)
        illegal = unseen = ""
        try:
            for number, (player, action) in enumerate(state.history):
                moves, are_known, _ = self._seen[number]
                acts = self.game.ask("player", data)
                legal = self.game.ask("legal", data) if acts == player else []
                lookalikes = [
                    each
                    for each in legal
                    if self.game.observed_moves(data, each)[column] == moves[observer]
                ]
                # What is legal may be hidden, too: on this way other actions may look so, or only another one.
                if not are_known[observer] or lookalikes not in ([], [action]):
                    if player != CHANCE:
                        return None  # he may have done something else
                    action = names.get(action, action)  # the card that chance deals on this way
                if not illegal and action not in legal:
                    text = self.game.action_text_of(data, action)
                    illegal = (
                        f"player {player} could not have played {text} as action {number + 1}:"
                    )
                is_other = (
                    self.game.observed_moves(data, action)[column] != moves[observer]
                    or view_of(self.game, data, observer) != self._views[number][observer]
                )
                if is_other and not unseen:
                    unseen = f"before action {number + 1} he knew, or then he saw, something else than on the way to this one:"
                self.game.ask("apply", data, action)
            return (illegal, unseen) if self._faces(data) == end else None
        except AUTHOR_ERRORS:  # an impossible way may be more than the rules bear
            return None

    def _first_other_view(self, state: State, observer: int, replayed: State) -> int | None:
        """After how many actions of the game the observer knew something else than on another way to here.

        None if never, or if other players have acted on that way.
        """
        first = len(state.history) - len(replayed.history)
        players = [player for player, _ in state.history[max(first, 0) :]]
        players_there = [player for player, _ in replayed.history]
        if self.game.observation is None or players_there != players:
            return None
        states = itertools.chain([replayed.start], (data for _, _, data in replayed.replay()))
        for number, data in enumerate(states, first):
            if view_of(self.game, data, observer) != self._views[number][observer]:
                return number
        return None

    def _retrace(self, state: State, data: StateData) -> tuple[State | None, str]:
        """The state that the way to a determinization leads to, with its history; or what is wrong with that way."""
        assert isinstance(self.game, Game) and self.game.retrace is not None
        try:
            start, actions = self.game.retrace(state, data)
            replayed = State.from_data(self.game, start.copy())
            for action in actions:
                if action not in replayed.legal_actions():
                    text = self.game.action_text_of(replayed.facts, action)
                    return None, f"player {replayed.current_player()} could not have played {text}:"
                replayed.apply_action(action)
        except AUTHOR_ERRORS as error:  # whatever a way back stumbles over is what there is to tell
            return None, f"retrace fails: {error!r}"
        if not (replayed.data == data).all():
            return None, f"retrace leads to another state, by {replayed.history_str()}:"
        return replayed, ""

    def _count(self, state: State, observer: int, worlds: list[StateData], deal: object) -> None:
        """Where the information set is small: nothing that can be true is excluded, and all of it is equally likely."""
        tally = self._tally(worlds)
        if tally is None:
            return
        noticed: list[object] = []
        for moves, _, label in self._seen:
            if label != CONTINUES:
                noticed.append(f"label {label}")
            if moves[observer] != UNSEEN:
                noticed.append(moves[observer])
        key = deal, observer, noticed, state.legal_actions(), facts_known(state, observer)
        deals_of_face = self._deals_by_face.setdefault(fingerprint(key), {})
        deals_of_face[self._faces(state.data)] = self._deals(state.data)
        excluded = next(
            (face for face, deals in deals_of_face.items() if tally.excludes(face, deals)), None
        )
        what = ""
        if excluded is not None and not self._faces.has(state.data, worlds):
            what = "never drawn, although he cannot tell it from the true state:"
            what = indented(what, _face_text(excluded))
        self._count_once("truth", state, what)
        self._test(state, tally)

    def _ask_another(self, state: State, observer: int, data: StateData) -> None:
        """Whether a determinization can be the truth for somebody else."""
        players = [player for player in range(self.game.players) if player != observer]
        if not players:
            return
        player = self.luck.choice(players)
        worlds = self._draw(Draws(state.from_data(self.game, data), player))
        tally = self._tally(worlds)
        if tally is not None:
            what = ""
            excluded = tally.excludes(self._faces(data), self._deals(data))
            if excluded and not self._faces.has(data, worlds):
                what = f"never drawn for player {player} if this is the true state:"
            self._count_once("truth", state, what, data)

    def _test(self, state: State, tally: Drawn) -> None:
        """Add the p-value of the draws from a small information set; the smallest one is described."""
        counts, expected = tally.compared()
        if len(counts) < 2:
            return
        p = _goodness(counts, expected)
        check = self.checks["uniform"]
        check.checked += 1
        self._largest = max(self._largest, len(counts))
        if p < min(check.p_values, default=1.0):
            advice = WEIGHING if self.multiplicity is None else ""
            if tally.merged:
                advice = HIDING
            what = f"{uneven(counts, expected)} (p = {p:.2g}){advice}"
            self._least_text = self._describe(state, what)
        check.p_values.append(p)

    def _compare(
        self, name: str, draws: Draws, rival: StateData, first: list[StateData], rng: np.ndarray
    ) -> list[StateData] | None:
        """Draw once more, with the generator as it was, from what the observer cannot tell from the truth; None if that fails."""
        try:
            second = draws.draw(rival, len(first), rng)
        except AUTHOR_ERRORS as error:  # whatever a game stumbles over is what there is to tell
            self._count_once("again", draws.state, f"{error!r} when this is determinized:", rival)
            return None
        what = ""
        for number, (draw, draw_of_rival) in enumerate(zip(first, second, strict=True), 1):
            if self._faces(draw) != self._faces(draw_of_rival):
                what = f"draw {number} for player {draws.observer} is another one where this is the truth, which he cannot tell from it:"
                what = indented(what, self._faces.text(rival))
                states = draw_of_rival, draws.state.data, draw
                titles = "its draw:", "the true state:", "its draw: "
                for title, data in zip(titles, states, strict=True):
                    what = indented(indented(what, title), self._faces.text(data))
                break
        self._count_once(name, draws.state, what)
        return second

    # ---------------------------------------------------------------------------------------------------------- the steps

    def _look_at_steps(self, steps: list[_Step]) -> None:
        """Compare the draws after steps of the game, which has ended, with what other ways lead to."""
        for step in self.luck.sample(steps, min(STEPS, len(steps))):
            for observer in range(self.game.players):
                self._guarded(step[1], partial(self._look_unseen, step, observer))
            observer = step[1].current_player()
            if not self.compiled:
                observer = self.luck.randrange(self.game.players)
            self._guarded(step[1], partial(self._look_seen, step, observer))

    def _look_unseen(self, step: _Step, observer: int) -> None:
        """Compare the draws after the step with those after other ways to there."""
        start, end = step
        truth = self._faces(end.data)
        draws = Draws(end, observer)
        moves = _observed_moves(start, end, observer)
        rivals = [_way_alike(end, start.data, observer, moves, self.luck)]
        if observer == end.current_player():  # once for each end: the whole game is played again
            rivals.append(_exchanged(end, observer, self.luck))
        for rival in rivals:
            if rival is not None and self._faces(rival) != truth:
                rng_before = self.rng.copy()
                worlds = draws.draw(end.data, COMPARED, self.rng)
                self._compare("unseen", draws, rival, worlds, rng_before)

    def _look_seen(self, step: _Step, observer: int) -> None:
        """Compare the facts of draws with those of the ends of other ways, which begin in draws."""
        before, after = step
        moves = _observed_moves(before, after, observer)
        possible = Draws(before, observer)
        ends: list[set[Word]] = []
        led_on = set[Word]()  # facts of the draws before from which a way was found
        left = set[Word]()  # of the other draws
        tried = 0
        while len(ends) < WAYS:
            is_hopeless = tried >= HOPELESS and len(ends) < WAYS / 10
            if is_hopeless or tried >= 20 * WAYS:
                self._is_told = True
                return
            for start in possible.draw(before.data, WAYS // 2, self.rng):
                end = _way_alike(after, start, observer, moves, self.luck)
                if end is None:
                    left |= self._faces.words(start)
                else:
                    led_on |= self._faces.words(start)
                    ends.append(self._faces.words(end))
            tried += WAYS // 2
        self._is_told |= bool(left)
        self.checks["seen"].checked += bool(left - led_on)
        self._compare_facts(after, observer, ends)

    def _compare_facts(self, state: State, observer: int, ends: list[set[Word]]) -> None:
        """Count the draws that say what none of many ways' ends says, and the ends that say what no draw says."""
        draws = Draws(state, observer).draw(state.data, len(ends), self.rng)
        facts_of_draws = list(map(self._faces.words, draws))
        truth = self._faces.words(state.data)
        if 2 * ends.count(truth) < len(ends) and all(words == truth for words in facts_of_draws):
            what = f"all {len(draws)} draws for player {observer} are the true state, and from most ways to there he cannot tell it"
            if self.game.observation is None:
                what += "; if he can, write an observation(state, player) that says so"
            self._count_once("truth", state, what)
        ways = set.union(*ends, truth)
        words_of_draws = set.union(*facts_of_draws)
        strange = [k for k, words in enumerate(facts_of_draws) if words - ways]
        self._strange += len(strange)
        self._missing += sum(bool(words - words_of_draws) for words in ends)
        if len(strange) > self._strangest:
            self._strangest = len(strange)
            counts = Counter[Word]()
            for words in facts_of_draws:
                counts.update(sorted(words - ways))
            fact = " ".join(counts.most_common(1)[0][0]).strip()
            who = f"{len(strange)} of {len(draws)} draws for player {observer}"
            what = f"{who} say what no other way to there says, such as {fact}:"
            self._strange_text = self._describe(state, what, draws[strange[0]])

    def look_at_deals(self) -> None:
        """Draw once at the first decision of many deals: draws say what deals say, and as often; so do weights, in plain Python."""
        self.luck = random.Random(f"{self.seed} deals")
        self.rng = seeded((*self.seed, Stream.FIRST_DRAWS))
        self._texts = []
        deals = Told()
        draws = Told()
        tallies: dict[object, Drawn] = {}  # of the deals, by what the first player knows of them
        for number in range(2 * DEALS if self.compiled else DEALS):
            self._number = number
            state = self._dealt(Stream.FIRST_DEALS, number)
            if state is not None:
                self._guarded(state, partial(self._look_at_deal, state, deals, draws, tallies))
        if self.compiled:
            # what all deals have alike may be a set-up of the game that players are taken not to know
            dealt = {word for word, count in deals.words.items() if count < deals.count}
            for tally in deals, draws:
                tally.keep(dealt)
        who = f"of {draws.count} draws, one for the first player of each deal"
        strange = deals.lacks(draws)
        if strange:
            self.checks["seen"].count(f"{who}, {strange}, and no deal does")
        difference = deals.differs(draws)
        if difference:
            self._uneven_deals.append(
                f"{who}, {difference} of the deals: they are not as likely as these"
            )
        self._uneven_deals += filter(None, map(self._weighed, tallies.values()))

    def _look_at_deal(
        self, state: State, deals: Told, draws: Told, tallies: dict[object, Drawn]
    ) -> None:
        """Draw once at the first decision of a deal."""
        while state.is_chance_node():
            state.apply_action(random_action(state, self.luck))
        if state.is_terminal():
            return
        player = state.current_player()
        (draw,) = Draws(state, player).draw(state.data, 1, self.rng)
        for tally, data in ((deals, state.data), (draws, draw)):
            tally.add(self._faces.words(data), self._faces.words_in_order(data))
        if self.game.observation is not None and not self.compiled:
            view = player, *state.legal_actions(), facts_known(state, player)
            face = self._faces(state.data)
            tally_of_view = tallies.setdefault(view, Drawn())
            tally_of_view.add(face, None)
            tally_of_view.deals[face] = self._deals(state.data)

    def _weighed(self, tally: Drawn) -> str:
        """How the deals that a player cannot tell from one another differ from their weights, in words."""
        counts, expected = tally.compared()
        p = _goodness(counts, expected)
        if p * DEALS >= FALSE_ALARM:
            return ""
        advice = WEIGHING if self.multiplicity is None else "; multiplicity is wrong"
        return f"as dealt, {uneven(counts, expected)} (p = {p:.2g}){advice}"

    # ------------------------------------------------------------------------------------------------------ the report

    @property
    def broken(self) -> bool:
        """Whether what is drawn is wrong; of uniformity nothing is known before the end."""
        return any(check.failed for check in (*self.checks.values(), self._errors))

    def finish(self, contract_broken: bool) -> None:
        """Judge what only all draws together tell, and say why the other checks were not made."""
        if contract_broken:
            for check in self.checks.values():
                check.note = "not completed, because the game breaks its contract"
            return
        self._judge_uniformity()
        self._meet_sights_again()
        self._redraws.judge(self.checks["redraw"])
        if self.game.observation is None:
            for name, note in NO_OBSERVATION.items():
                if not self.checks[name].failed:
                    self.checks[name].checked = 0
                    self.checks[name].note = note
        if self._strange >= max(STRANGE, MANY_TIMES * self._missing):
            self.checks["seen"].count(self._strange_text, checked=0)
        # `absent` has the checks for which this game may have nothing to check: that is no gap. That `seen` was not checked is a gap only
        # if a step told something (`_is_told`), and if `legal`, which looks at the same with `history`, was not checked either.
        absent = {**ABSENT_NOTES}
        if self.checks["legal"].checked:
            absent["seen"] = "what a step tells is looked at by `legal` and `history`"
        elif self._is_told:
            absent.pop("seen")
        if not self.compiled:
            absent |= dict.fromkeys(
                ("legal", "history"),
                "of no draw it is known after which deal the same actions lead to it",
            )
        note_unchecked(self.checks, UNCHECKED_NOTES | absent, absent, "no player had a decision")

    def _judge_uniformity(self) -> None:
        """Judge the p-values of all small information sets; then count what `look_at_deals` has found.

        A p-value is wrong if it is too small even times their number (Bonferroni). All together are one more test (Fisher's method).
        """
        check = self.checks["uniform"]
        if check.checked:
            logarithms = np.log(np.maximum(check.p_values, LEAST))
            together = _chi_square_tail(2 * check.checked, -2 * logarithms.sum())
            check.note = (
                f"sets of up to {self._largest} states; the least p of {check.checked:,} is {min(check.p_values):.2g}, "
                f"all together p = {together:.2g}"
            )
            biased = [p for p in check.p_values if p * check.checked < FALSE_ALARM]
            check.failed = max(len(biased), int(together < FALSE_ALARM))
            check.examples = [self._least_text] if check.failed else []
        for example in self._uneven_deals:
            check.count(example)


def _error_text(error: BaseException) -> str:
    """What is wrong where a game raises an error, in words."""
    where = function_of(error)  # else it is an answer, and the error says of which function
    return f"{where} raises {error!r}" if where else str(error)


def _goodness(counts: list[int], expected: list[float]) -> float:
    """The p-value of counts by a chi-square test."""
    observed = np.array(counts, float)
    means = np.array(expected)
    statistic = ((observed - means) ** 2 / means).sum()
    return _chi_square_tail(len(counts) - 1, statistic)


def _chi_square_tail(freedom: int, statistic: float) -> float:
    """How likely a chi-square statistic is to be at least as large; 1 without a degree of freedom."""
    from scipy.special import chdtrc  # scipy.stats takes a second longer to load

    return float(chdtrc(freedom, statistic)) if freedom > 0 else 1.0


def _face_text(face: Face) -> str:
    """The facts of a face in words: the text of a compiled game's state, without the moves after it; of one in plain Python, each fact."""
    facts = (" ".join(fact) if isinstance(fact, tuple) else fact for fact in face)
    return ", ".join(fact for fact in facts if isinstance(fact, str))


# Of each action the move that is seen, and who is about to act after it with which label.
Noticed = list[tuple[int, int, int]]


def _observed_moves(start: State, end: State, observer: int) -> Noticed:
    """What an observer notices of the way from one state to another."""
    state = start.clone()
    column = start.game.perspective(observer)
    noticed = []
    for _, action in end.history[len(start.history) :]:
        move = state.observed(action)[column]
        state.apply_action(action)
        noticed.append((move, state.current_player(), state._label(state.data)))
    return noticed


def _way_alike(
    end: State,
    data: StateData,
    observer: int,
    moves: Noticed,
    luck: random.Random,
    actions: Sequence[int] = (),
) -> StateData | None:
    """The data at the end of a way that the observer cannot tell from the one to a state; None if it leads elsewhere.

    Args:
        data: where it begins.
        actions: of the way; where there are none, any that look to him as those did.
    """
    state = end.from_data(end.game, end.game.ask("copy", data))
    column = state.game.perspective(observer)
    for number, (move, player, label) in enumerate(moves):
        choices = [each for each in state.legal_actions() if state.observed(each)[column] == move]
        if not choices or actions and actions[number] not in choices:
            return None
        state.apply_action(actions[number] if actions else luck.choice(choices))
        if state.current_player() != player or state._label(state.data) != label:
            return None
    if player == observer and state.legal_actions() != end.legal_actions():
        return None
    return state.data if facts_known(state, observer) == facts_known(end, observer) else None


def _exchanged(state: State, observer: int, luck: random.Random) -> StateData | None:
    """The data to which the history leads if two outcomes of chance change places, and the observer cannot tell the new history from it.

    None if no such pair was found.
    """
    actions = [action for _, action in state.history]
    chances = [k for k, (player, _) in enumerate(state.history) if player == CHANCE]
    if len(chances) < 2:
        return None
    start = state.from_data(state.game, state.start)
    moves = _observed_moves(start, state, observer)
    for _ in range(EXCHANGED):
        i, j = sorted(luck.sample(chances, 2))
        if actions[i] == actions[j]:
            continue
        changed = [*actions]
        changed[i], changed[j] = actions[j], actions[i]
        end = _way_alike(state, state.start, observer, moves, luck, changed)
        if end is not None:
            return end
    return None
