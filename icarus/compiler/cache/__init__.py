"""Machine code on disk, and the digests that name it."""
