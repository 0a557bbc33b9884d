"""Random inputs by Hypothesis, for as long as one likes: `make fuzz`, or python -m tests.fuzz."""
