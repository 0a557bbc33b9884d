"""Sixty small faults planted on purpose, to see whether the tests notice them: `python -m tests.mutants`."""
