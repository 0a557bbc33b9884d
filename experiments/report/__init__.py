"""Reports, figures and what a terminal shows."""
