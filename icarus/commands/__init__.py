"""The commands `icarus …`."""
