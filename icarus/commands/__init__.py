"""The command `icarus`, and what it runs beside searches: audits and benchmarks."""
