"""Thirty tasks of five kinds, most of which repeat what they are about."""

from __future__ import annotations

from scripts.real.texts.passages import CODE, PASSAGES

_STORIES = (
    "Write a short story about a fox that learns to swim.",
    "Write a story about two sisters who find a map.",
    "Tell a story about a clockmaker in a small town.",
    "Write a short story about a train that never stops.",
    "Tell me a story about a garden on the moon.",
    "Write a story about a boy who collects sounds.",
)


def tasks() -> dict[str, list[str]]:
    """Requests by kind, six each."""
    return {
        "summarise": [f"Summarise this text in three sentences.\n\n{text}" for text in PASSAGES],
        "edit": [
            f"Repeat this text exactly, but change every year and every number to X.\n\n{text}"
            for text in PASSAGES
        ],
        "JSON": [
            "Write the facts of this text as a JSON object with the keys title, summary, "
            f"places, people and numbers.\n\n{text}"
            for text in PASSAGES
        ],
        "code edit": [
            f"Add type hints and a docstring to this Python code and change nothing else.\n\n{code}"
            for code in CODE
        ],
        "stories": list(_STORIES),
    }
