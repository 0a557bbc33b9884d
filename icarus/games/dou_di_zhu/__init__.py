"""Dou Di Zhu: the rules, and its plays with their leads and kickers."""

from icarus.games.dou_di_zhu.game import DOU_DI_ZHU

__all__ = ["DOU_DI_ZHU"]
