"""Games that are played and kept: who plays as text, one match, the ledger of its rows, and the processes that play."""
