"""Exact best responses and regret minimization over whole trees."""
