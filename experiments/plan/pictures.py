"""The pictures that can be drawn of results: what each shows, and of whom."""

from collections.abc import Mapping

import attrs

from experiments.papers import EPISODES, REUSE, TABLE_1, TREE


@attrs.frozen
class PictureKind:
    """A kind of picture.

    Attributes:
        caption: what people read below it.
        agents: whom it shows, by the names that they have in it; empty if all agents of an experiment.
        of_two: whether it shows games of two players whose agents keep to their seats.
    """

    caption: str
    agents: Mapping[str, str] = attrs.field(factory=dict)
    of_two: bool = False


PICTURES = {  # in the order in which a report shows those that an experiment did not ask for
    "figure4": PictureKind("Figure 4: the combinations of Table 1.", agents=TABLE_1),
    "figure3": PictureKind(
        "Figure 3: averages over the combinations without and with each enhancement.",
        agents=TABLE_1,
    ),
    "figure5": PictureKind("Figure 5: EPIC and NAST.", agents=EPISODES),
    "reuse": PictureKind("The rules of reuse of MAST.", agents=REUSE),
    "tree": PictureKind(
        "The trees, compared with those of the baseline: means over games.", agents=TREE
    ),
    "agents": PictureKind("The agents of the experiment, by game."),
    "statements": PictureKind(
        "Figure 4, and the differences that the paper's text states beside ours."
    ),
    "heat-map": PictureKind(
        "The searches against each other (2012, Figs. 7 and 9): white where the first seat wins all games, black where the second "
        "does; a draw counts one half.",
        of_two=True,
    ),
    "strength": PictureKind(
        "The searches against all (2012, Figs. 8 and 10), with 95 % Clopper-Pearson intervals of the games won, and of these "
        "and half of the games drawn.",
        of_two=True,
    ),
    "balance": PictureKind(
        "Determinizations and iterations at a fixed total (2012, Fig. 6), with 95 % Clopper-Pearson intervals."
    ),
    "determinizations": PictureKind(
        "Determinizations and iterations (2011, Figs. 2-4), with 95 % Clopper-Pearson intervals."
    ),
    "hidden-cards": PictureKind(
        "The benefit of seeing hidden cards (2011, Fig. 5), with 95 % Clopper-Pearson intervals."
    ),
    "decision-time": PictureKind(
        "Playing strength and decision time (2012, Figs. 14 and 15), with 95 % Clopper-Pearson intervals."
    ),
}
