"""Dou Di Zhu: the rules, and its plays with their leads and kickers."""
