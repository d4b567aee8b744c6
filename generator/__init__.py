"""Turns logs into measures, claims, charts and the pages of the report."""
