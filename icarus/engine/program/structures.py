"""A lowered composition as arrays of structures: what the playout loop reads at every decision.

What the loop only reads is a named tuple too, of which lowering makes the rows.
"""

from typing import NamedTuple

from icarus.kernel.structures import Address, structure


class Component:
    """What has a table of its own: the baseline first, then the enhancements of the strategy."""

    capture: Address  # of its kernel
    capture_parameters: Address
    backpropagation: Address  # of its kernel
    backpropagation_parameters: Address
    table: Address  # of its TABLE
    first: int  # the first of its updates in the present playout
    count: int  # and their number
    reads_simulation: int  # 0 or 1, as its capture function promises
    writes_simulation: int


class Program(NamedTuple):
    """A linear mixture of alternatives, of which one is drawn at each decision."""

    first_alternative: int
    alternatives: int
    constant: int  # 1 where the weights are constants, of which the algebra has seen that they sum to 1


class Alternative(NamedTuple):
    """A maxilinear mixture of leaves with the rule that chooses by it; or a majority vote."""

    first_weight: int
    weights: int  # of the alternative in its program
    first_leaf: int
    leaves: int  # of a majority vote: the programs of the voters
    rule: int  # RULE_… of `icarus.algebra.policy`
    parameter: float  # of the rule: τ or ε
    in_tree_only: int  # 1 where it is uniform unless a player has decided in the tree at a history that he cannot tell from this one


class Leaf(NamedTuple):
    """The policy of one component."""

    first_weight: int
    weights: int  # of the leaf in its alternative
    kernel: Address  # of the values of actions
    component: int  # whose table it reads
    parameters: Address
    uniform: int  # 1 where its value is +∞ for every action, and is not computed
    by_row: int  # 1 where it takes the rows that the loop has found, and not keys
    prior: Address  # of the kernel that inserts records that are asked about for the first time; 0 where θ_initial is constant
    prior_parameters: Address
    rule_parameters: int  # how many of its parameters come before those of the candidates function


class Weight(NamedTuple):
    """One factor of a weight, which is their product: a constant, λ, or 1 − λ."""

    constant: float
    kernel: Address  # of λ; 0 for a constant
    parameters: Address
    complement: int  # 1 for 1 − λ
    component: int  # whose records λ is asked about: the baseline's of the history, or those of a bandit over members


COMPONENT, PROGRAM, ALTERNATIVE, LEAF, WEIGHT = map(structure, (Component, Program, Alternative, Leaf, Weight))
