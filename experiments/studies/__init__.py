"""Finished studies: scripts on the library, each run by itself; nothing else imports them."""
