"""The records of a search in memory: tables, growth, and reuse by a later search."""
