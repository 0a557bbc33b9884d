"""Which version this is."""

VERSION = "0.2.0"
