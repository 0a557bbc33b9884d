"""The experiments of section 8 (Table 1, Figures 3-5) and experiments of one's own: `python -m experiments --help`."""
