"""The gain by a second thread: in the time of one thread's N iterations two threads make 2N.

python examples/two_threads.py [GAME] [N] [GAMES]
"""

import sys

from scipy.stats import binomtest

from icarus import Agent, games, play
from icarus.specs import BASELINE


def duel(game, iterations, trials):
    """The mean reward of two threads against one, over games in both seats, and how many were won and lost."""
    two = Agent(BASELINE, iterations=2 * iterations, threads=2)
    one = Agent(BASELINE, iterations=iterations)
    rewards = []
    for trial in range(trials):
        seat = trial % 2
        log = play(game, [two, one] if seat == 0 else [one, two], seed=(trial, 5))
        rewards.append(log.returns[seat])
    return sum(rewards) / trials, rewards.count(1.0), rewards.count(0.0)


def main(name="othello", iterations="500", trials="200"):
    mean, won, lost = duel(games.load(name), int(iterations), int(trials))
    interval = binomtest(won, won + lost).proportion_ci()
    print(
        f"{name}: two threads, {2 * int(iterations)} iterations, against one with {iterations}: "
        f"mean reward {mean:.3f}; {won} of {won + lost} decided games won, "
        f"{interval.low:.1%} to {interval.high:.1%} (95 %)"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
