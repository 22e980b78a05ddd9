"""Drafts of what comes next, and the states that steps with drafts bring ahead of time."""
