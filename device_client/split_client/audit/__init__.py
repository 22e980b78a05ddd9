"""Measures what a server learns from a conversation: recordings, attacks on them, figures.

``device`` holds the truth and makes recordings; ``attacks`` see recorded bytes, the model's public
files and a session of their own, and nothing else; ``scoring`` compares the two; ``report`` tells.
"""
