"""Attacks' guesses against the truth: recovery, its spread, and bounds on epsilon."""
