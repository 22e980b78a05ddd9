"""Drafts and forms of OpenAI's API, beside the engine."""
