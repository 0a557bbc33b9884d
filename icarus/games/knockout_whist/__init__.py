"""Knockout Whist: the rules, and what is hidden from whom."""
