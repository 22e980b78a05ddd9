"""Drafts beside the engine: where nobody else waits, and where their rows are free."""
