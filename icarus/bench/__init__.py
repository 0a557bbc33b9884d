"""Speed and cost of searches, measured."""
