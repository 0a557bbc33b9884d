"""Faults on purpose: `make faults`, or python -m tests.faults."""
