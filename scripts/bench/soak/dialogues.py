"""The dialogues of a soak's clients: few enough chats that the same prompts come up again."""

from __future__ import annotations

from dataclasses import dataclass

# Of a question in two wordings; the second is what an edit makes of it.
Question = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """``system`` None: no system message."""

    system: str | None
    questions: tuple[Question, ...]


DIALOGUES = (
    Dialogue(
        None,
        (
            ("What is split inference?", "How does split inference work?"),
            ("What does the server see?", "What does the device hold?"),
            ("What is a KV cache?", "What is a token?"),
            ("Thank you.", "Thanks, bye."),
        ),
    ),
    Dialogue(
        "You are a helpful assistant.",
        (
            ("My name is Rulo.", "My name is Bamina."),
            ("What is my name?", "Do you remember my name?"),
            ("Tell me a story about a fox.", "Tell me a story about a cat."),
            ("What is the capital of France?", "What is the capital of Italy?"),
        ),
    ),
    Dialogue(
        None,
        (
            ("Tell me a story about a dragon.", "Tell me a short story about a bird."),
            ("Another one, please.", "Tell me another story."),
            ("What is temperature in sampling?", "What is top-p?"),
        ),
    ),
    Dialogue(
        "Answer briefly. " + "The quick brown fox jumps over the lazy dog. " * 12,
        (
            ("What is a checking account?", "What is an interest rate?"),
            ("And a loan?", "And a mortgage?"),
            ("Is my prompt private?", "Can the server read my prompt?"),
        ),
    ),
)
