"""Leduc poker: generic poker with two cards each of J, Q and K, one size of bet, 2 and then 4, and one raise a round."""

import attrs

from icarus.games.generic_poker import generic_poker

_LEDUC = generic_poker(ranks=3, copies=2, raises=1, sizes=1)
LEDUC_POKER = attrs.evolve(_LEDUC, name="leduc-poker", defaults=_LEDUC.parameters)
