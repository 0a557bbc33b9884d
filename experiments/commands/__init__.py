"""What is typed: `python -m experiments`, its commands by subject."""
