"""What is played: experiments, their cells and agents, read from tables and files."""
