"""Playing: one game, many in processes or on a cluster, sequential tests, estimates, replays."""
