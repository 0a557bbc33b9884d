"""Learned evaluations: what a state becomes, games without searches, the fit to their positions, and generations of both."""
