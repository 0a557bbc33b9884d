"""Debug builds and checks of what compiled functions write."""
