"""How strong a search is, against engines that were written elsewhere: engines as processes, games, ratings, ladders.

from icarus import Agent, games, parse
from icarus.ladder import Climb, read_ladder

climb = Climb(read_ladder("othello"), Agent(parse("RAVE >> MAST"), iterations=5000))
for row in climb.games(100):
    print(climb.rating())
"""

from icarus.ladder.engines import ENGINES, Engine, EngineFailed
from icarus.ladder.ladders import Climb, Ladder, Rating, Rung, read_ladder

__all__ = ["ENGINES", "Climb", "Engine", "EngineFailed", "Ladder", "Rating", "Rung", "read_ladder"]
