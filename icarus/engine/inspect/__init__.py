"""What people look at: the tree of a search, its columns, and one playout step by step."""
