"""Rows of a cache at other positions than those that they were computed for."""
