"""The methods to measure a search by, as commands name them."""

from icarus.equilibrium.measures.aggregate import AAAI, AAMAS

STITCHING, AGGREGATE, AGGREGATE_AAMAS = "stitching", "aggregate", "aggregate-aamas"
AGGREGATES = {AGGREGATE: AAAI, AGGREGATE_AAMAS: AAMAS}  # the version of the method
