"""Weights on huge pages: a step that reads every matrix looks up fewer addresses on the way."""
