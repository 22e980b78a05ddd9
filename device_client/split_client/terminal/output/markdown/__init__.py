"""Markdown as it streams in, shown on a terminal as it goes.

What was printed is never printed again. Text waits only while it is undecided what it is: a word
until it is known where it fits, an opened emphasis until it closes, a table until its columns are
known; each wait is bounded, and what stays undecided comes out as it was written.
"""
