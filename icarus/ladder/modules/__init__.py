"""Engines that are Python modules: each file translates one game's states into what the engine understands."""
