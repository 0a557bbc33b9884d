"""Lowering: a game and a composition become a few small arrays of addresses and numbers, which the playout loop runs.

Only one policy of a sequence is active in a phase, so a composition is two *programs*: one for the tree (selection and
expansion) and one for simulation; a third decides where choices are simultaneous, if the scheme has EXP3 do so. A program is a
linear mixture of *alternatives*; an alternative is a maxilinear mixture of *leaves*, usually just one; a leaf is the policy of one
component. Or an alternative is a majority vote, and its voters are programs themselves.
"""

import functools
from collections.abc import Iterable

import attrs
import numpy as np

from icarus.algebra import PLAYER, Enhancement, Weight
from icarus.algebra.adaptive import Share
from icarus.algebra.policy import RULE_ARGMAX, RULE_UNIFORM, RULE_VOTE
from icarus.algebra.slots import Capture, Values
from icarus.algebra.unions import SLOTS
from icarus.compiler.digest import attributes_read, kernel_cache
from icarus.compiler.kernel import Kernel
from icarus.compiler.memory import WORD_BYTES
from icarus.engine.program import requirements, structures
from icarus.engine.program.mixtures import IN_SIMULATION, TREE, Vote, asks_children, is_infinite, mixture, rule_of
from icarus.engine.program.priors import prior_kernel
from icarus.engine.program.slots import (
    backpropagation_kernel,
    capture_kernel,
    policy_kernel,
    share_kernel,
    weight_kernel,
)
from icarus.engine.program.structures import ALTERNATIVE, COMPONENT, LEAF, PROGRAM, WEIGHT
from icarus.engine.scheme import FRESH, MO_ISMCTS, ROOT_PLAYER, Scheme
from icarus.kernel.game import Game
from icarus.specs import BASELINE
from icarus.specs.trees import EXP3

VOTERS = 3  # the first program of voters
MOST = 256  # programs that are kept


@attrs.define(eq=False)
class Program:
    """A composition lowered for a game: arrays for the loop, and what their addresses refer to.

    Attributes:
        components: what has a table of its own, the baseline first; enhancements that differ in their policy only share one.
        table_of: the index of each enhancement's table.
        component, program, alternative, leaf, weight: the arrays; the programs of voters follow those of the decisions.
        steps_in_simulation: whether anything depends on the steps of the simulation phase.
        choices: whether a rule reads which decisions are simultaneous.
        moves_in_simulation, keys_in_simulation, episodes: which of these slots read.
        features_in_tree, features_in_simulation: which tables of what the game tells slots read, as bits (`icarus.kernel.features`).
        votes: whether any alternative is a majority vote.
    """

    components: list[Enhancement]
    table_of: dict[Enhancement, int]
    component: np.ndarray
    program: np.ndarray
    alternative: np.ndarray
    leaf: np.ndarray
    weight: np.ndarray
    steps_in_simulation: bool
    moves_in_simulation: bool
    keys_in_simulation: bool
    episodes: bool
    features_in_tree: int
    features_in_simulation: int
    choices: bool
    votes: bool
    references: list[Kernel | np.ndarray]

    @property
    def kernels(self) -> list[Kernel]:
        """The slots as machine code."""
        return [reference for reference in self.references if isinstance(reference, Kernel)]


def lower(game: Game, strategy: Enhancement, scheme: Scheme = MO_ISMCTS) -> Program:
    """The program of a strategy in a game. Compiles, or loads, what has not been used yet.

    Args:
        game: as the scheme sees it (`Scheme.view`).

    Raises:
        CompilationError: the compiler refuses a slot.
    """
    program = _lower(game, _Same(strategy), scheme)
    return attrs.evolve(program, component=program.component.copy())  # a search writes there where its tables are


class _Same:
    """A value that is the same as another if it is the very same object: what is equal, such as 1 and 1.0, may lower otherwise."""

    def __init__(self, value: Enhancement) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value


@functools.partial(kernel_cache, most=MOST)
def _lower(game: Game, strategy: _Same, scheme: Scheme) -> Program:
    """The program, kept for the next decisions of a match: lowering takes as long as dozens of iterations."""
    return _Lowering(game, strategy.value, scheme).result()


def storage_of(enhancement: Enhancement) -> tuple[object, ...]:
    """What decides an enhancement's records: every slot but the policy."""
    return tuple(getattr(enhancement, slot) for slot in SLOTS if slot != "policy")


def components_of(strategy: Enhancement, uses_exp3: bool) -> tuple[list[Enhancement], dict[Enhancement, int]]:
    """What has a table of its own in a search, the baseline first, and the index of each enhancement's table.

    Args:
        uses_exp3: whether EXP3 decides where choices are simultaneous.

    Raises:
        ValueError: a slot draws from np.random, whose numbers no seed of a search fixes.
    """
    for part in strategy.components:
        for slot in (part.policy.source, part.capture, part.backpropagation, part.initial.function):
            if slot is not None:
                requirements.refuse_unseeded(slot)
    components: list[Enhancement] = []
    table_of: dict[Enhancement, int] = {}
    for part in (BASELINE, *strategy.components, *[EXP3] * uses_exp3):
        storages = [storage_of(component) for component in components]
        if storage_of(part) not in storages:
            components.append(part)
        table_of[part] = [*storages, storage_of(part)].index(storage_of(part))
    return components, table_of


def names_read(captures: Iterable[Capture]) -> set[str]:
    """What capture functions read of a history, by its names."""
    return {name for capture in captures for name in attributes_read(capture.function)}


class _Lowering:
    def __init__(self, game: Game, strategy: Enhancement, scheme: Scheme) -> None:
        self.game, self.strategy, self.scheme = game, strategy, scheme
        self.uses_exp3 = scheme.uses_exp3(game)
        requirements.refuse_unseeded_rules(game)
        requirements.refuse_unknown(game, strategy)
        self.components, self.table_of = components_of(strategy, self.uses_exp3)
        requirements.refuse_hidden(self.components, game)
        self.alternatives: list[structures.Alternative] = []
        self.voters: list[structures.Program] = []
        self.leaves: list[structures.Leaf] = []
        self.weights: list[structures.Weight] = []
        self.references: list[Kernel | np.ndarray] = []
        self.read_in_simulation: set[str] = set()
        self.read: set[str] = set()

    def result(self) -> Program:
        programs = [
            self.lower_program(stage, strategy)
            for stage, strategy in enumerate((self.strategy, self.strategy, *[EXP3] * self.uses_exp3))
        ]
        if not self.uses_exp3:
            programs.append(programs[TREE])
        programs += self.voters
        captures = [component.capture for component in self.components]
        anywhere = self.read | names_read(captures)
        of_simulation = [capture for capture in captures if capture.reads_simulation]
        in_simulation = self.read_in_simulation | names_read(of_simulation)
        keys_in_simulation = self.read_in_simulation | names_read(c for c in of_simulation if c.writes_simulation)
        return Program(
            components=self.components,
            table_of=self.table_of,
            component=self.lower_components(),
            program=np.array(programs, PROGRAM),
            alternative=np.array(self.alternatives, ALTERNATIVE),
            leaf=np.array(self.leaves, LEAF),
            weight=np.array(self.weights, WEIGHT),
            steps_in_simulation=bool(of_simulation) or self.simulates_by_steps(programs[IN_SIMULATION]),
            moves_in_simulation="moves" in in_simulation,
            keys_in_simulation="keys" in keys_in_simulation,
            episodes=bool({"episodes", "episode"} & (self.read | in_simulation)),
            features_in_tree=requirements.tables_among(anywhere),
            features_in_simulation=requirements.tables_among(in_simulation),
            choices="choice" in anywhere,
            votes=bool(self.voters),
            references=self.references,
        )

    def simulates_by_steps(self, program: structures.Program) -> bool:
        """Whether the choices of the simulation phase depend on its steps."""
        if self.scheme.observer == ROOT_PLAYER:  # where they are uniform, then over moves, which only the steps hold
            return True
        return not self.is_uniform_program(program)

    def is_uniform_program(self, program: structures.Program) -> bool:
        """Whether a program chooses uniformly by definition; of several alternatives one is drawn, with numbers of the generator."""
        return program.alternatives == 1 and self.alternatives[program.first_alternative].rule == RULE_UNIFORM

    def lower_program(self, stage: int, strategy: Enhancement, votes: bool = False) -> structures.Program:
        """The program of a strategy, its alternatives added to those that are there.

        Args:
            votes: whether it is the program of a voter.
        """
        mixed = list(mixture(strategy, stage))
        alternatives = [
            self.lower_vote(stage, weight, parts)
            if isinstance(parts, Vote)
            else self.lower_alternative(stage, weight, parts, votes)
            for weight, parts in mixed
        ]
        self.alternatives += alternatives
        return structures.Program(
            first_alternative=len(self.alternatives) - len(alternatives),
            alternatives=len(alternatives),
            constant=not any(weight.functions for weight, _ in mixed),
        )

    def lower_vote(self, stage: int, weight: Weight, vote: Vote) -> structures.Alternative:
        voters = [self.lower_program(stage, member, votes=True) for member in vote.members]
        first = VOTERS + len(self.voters)
        self.voters += voters
        uniform = all(map(self.is_uniform_program, voters)) or all(
            self.simulates_uniformly(stage, member) for member in vote.members
        )
        return structures.Alternative(
            *self.weight(stage, weight),
            first_leaf=first,
            leaves=len(voters),
            rule=RULE_UNIFORM if uniform else RULE_VOTE,
            parameter=0.0,
            in_tree_only=False,
        )

    def lower_components(self) -> np.ndarray:
        rows = np.zeros(len(self.components), COMPONENT)
        for row, component in zip(rows, self.components, strict=True):
            capture, backpropagation = component.capture, component.backpropagation
            information = component.information.row(self.game.players)
            theta = information if capture.reads_theta else None
            row["capture"] = self.address(capture_kernel(capture.function, capture.kinds(), theta, capture.label()))
            row["capture_parameters"] = self.parameters(capture.values(self.game))
            words, by_player = information.itemsize // WORD_BYTES, component.contexts == PLAYER
            function, kinds, label = backpropagation.function, backpropagation.kinds(), backpropagation.label()
            kernel = backpropagation_kernel(function, kinds, information, words, label, by_player)
            row["backpropagation"] = self.address(kernel)
            row["backpropagation_parameters"] = self.parameters(backpropagation.values(self.game))
            row["reads_simulation"], row["writes_simulation"] = capture.reads_simulation, capture.writes_simulation
        return rows

    def lower_alternative(
        self, stage: int, weight: Weight, parts: list[tuple[Weight, Enhancement]], votes: bool
    ) -> structures.Alternative:
        first_leaf = len(self.leaves)
        uniform_values = [self.has_uniform_values(stage, part) for _, part in parts]
        for (leaf_weight, part), uniform in zip(parts, uniform_values, strict=True):
            self.leaves.append(
                structures.Leaf(
                    *self.weight(stage, leaf_weight),
                    *self.values(stage, part, uniform),
                    uniform,
                    self.takes_rows(stage, part),
                    *self.prior(stage, part, uniform),
                )
            )
        code, parameter = rule_of(parts, all(uniform_values), votes)
        in_tree_only = code != RULE_UNIFORM and all(
            is_infinite(stage, part, self.table_of[part]) or self.is_of_tree(stage, part) for _, part in parts
        )
        return structures.Alternative(
            *self.weight(stage, weight), first_leaf, len(parts), code, parameter, in_tree_only
        )

    def has_uniform_values(self, stage: int, part: Enhancement) -> bool:
        """Whether the values of an arg max in the simulation phase are +∞ for every action, whatever was learned.

        So for the baseline by definition; for what is declared so; and for records of the tree's histories and their children, where a
        history whose baseline record has n = 0 continues to histories that are new: an unseen move would leave it where it is,
        and where hidden facts say who moves next, a record names another player than that of a history of the same moves.
        """
        nothing_hidden = self.game.determinize is None or self.scheme.root != FRESH
        new = nothing_hidden and self.game.perspectives == 1 and self.scheme.observer != ROOT_PLAYER
        if is_infinite(stage, part, self.table_of[part]) or (new and self.is_of_tree(stage, part)):
            return True
        return self.scheme.observer != ROOT_PLAYER and is_uniform(stage, part)

    def simulates_uniformly(self, stage: int, strategy: Enhancement) -> bool:
        """Whether every alternative of a strategy is the baseline, in simulation."""
        return all(
            all(self.simulates_uniformly(stage, member) for member in parts.members)
            if isinstance(parts, Vote)
            else all(is_infinite(stage, part, self.table_of[part]) for _, part in parts)
            for _, parts in mixture(strategy, stage)
        )

    def is_of_tree(self, stage: int, part: Enhancement) -> bool:
        """Whether an arg max in simulation has records of histories in the tree and their children only; elsewhere all values are equal."""
        near_tree = not part.capture.writes_simulation and not part.initial.says_something
        return stage == IN_SIMULATION and near_tree and asks_children(part)

    def takes_rows(self, stage: int, part: Enhancement) -> bool:
        """Whether a policy reads just the records that the loop looks up to tell the phase: the baseline's, in the tree."""
        return stage == TREE and self.table_of[part] == 0 and part.policy.source == BASELINE.policy.source

    def values(self, stage: int, part: Enhancement, uniform: bool) -> tuple[int, int, int]:
        if uniform:
            return (0, 0, 0)
        names = attributes_read(part.policy.source.function)
        self.read |= names
        if stage == IN_SIMULATION and not is_uniform(stage, part):
            self.read_in_simulation |= names
        policy = part.policy
        parameters = self.parameters(policy.rule_parameters() + policy.source.values(self.game))
        kernel = policy_kernel(policy, part.information, self.game.players, self.takes_rows(stage, part))
        return (self.address(kernel), self.table_of[part], parameters)

    def prior(self, stage: int, part: Enhancement, uniform: bool) -> tuple[int, int, int]:
        """What inserts the records that a policy asks about for the first time, where a function says their information."""
        function = part.initial.function
        if function is None or uniform:
            return (0, 0, 0)
        names = attributes_read(function.function)
        self.read |= names
        if stage == IN_SIMULATION:
            self.read_in_simulation |= names
        kernel = prior_kernel(part, self.game.players)
        return (self.address(kernel), self.parameters(function.values(self.game)), len(part.policy.rule_parameters()))

    def weight(self, stage: int, weight: Weight) -> tuple[int, int]:
        first = len(self.weights)
        if weight.constant != 1.0:
            self.weights.append(structures.Weight(weight.constant, 0, 0, 0, 0))
        row = BASELINE.information.row(self.game.players)
        for function, complement in weight.functions:
            if isinstance(function, Share):
                address = self.address(share_kernel(function.bandit.information.row(self.game.players)))
                bandit = self.table_of[function.bandit]
                parameters = self.parameters(function.parameters)
                self.weights.append(structures.Weight(1.0, address, parameters, complement, bandit))
                continue
            if stage == IN_SIMULATION:
                self.read_in_simulation.add("keys")
            kernel = weight_kernel(function.function, function.kinds(), row, function.label())
            address, parameters = self.address(kernel), self.parameters(function.values())
            self.weights.append(structures.Weight(1.0, address, parameters, complement, 0))
        return first, len(self.weights) - first

    def address(self, kernel: Kernel) -> int:
        self.references.append(kernel)
        return kernel.address

    def parameters(self, values: tuple[float, ...]) -> int:
        """The address of parameters laid out in 8 bytes each, integers as integers."""
        words = [
            np.array([value], np.int64 if isinstance(value, int) else np.float64).view(np.int64) for value in values
        ]
        block = np.concatenate([*words, np.zeros(1, np.int64)])
        self.references.append(block)
        return int(block.ctypes.data)


def is_uniform(stage: int, part: Enhancement) -> bool:
    """Whether an arg max has been declared to be over values that are +∞ in simulation."""
    source = part.policy.source
    declared = isinstance(source, Values) and source.uniform_in_simulation
    return stage == IN_SIMULATION and declared and part.policy.rule.code == RULE_ARGMAX
