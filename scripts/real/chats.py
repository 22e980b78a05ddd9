"""Chats for the real model: sixty in English, each the messages of one prompt.

A third have no system message, so that the template writes its own; a third an empty one; the last
third one of their own.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeAlias

Chat: TypeAlias = list[dict[str, str]]
"""Maps of role and content; the last of them is the user's."""

SYSTEMS = (
    "You are a patient teacher. Answer in two sentences.",
    "You answer with a numbered list and nothing else.",
    "You write like a pirate.",
    "Reply in plain words that a child of eight understands.",
    "You are a careful programmer; code comes first, words after it.",
)

_ONE_TURN = (
    "What is the capital of France?",
    "Name the seven days of the week.",
    "Write a short story about a lighthouse keeper and a storm.",
    "List five fruits, one on each line.",
    "How do I boil an egg?",
    "What is 12 + 30?",
    "Count from 1 to 20, separated by commas.",
    "Explain photosynthesis to a ten-year-old.",
    'What does "carpe diem" mean, and who wrote it?',
    "Write a Python function that returns the sum of a list of numbers.",
    "Why is the sky blue?",
    "Give me three reasons to learn a second language.",
    "Translate 'good morning' into Spanish, Italian and German.",
    "Write a polite e-mail to my landlord, Mr. O'Neill: the heating has been broken since 3 May.",
    "Who was Ada Lovelace?",
    "What are the first 10 prime numbers?",
    "Write a haiku about autumn.",
    "Summarise in one sentence: The bridge was built in 1894. It was widened in 1931, closed in "
    "1978 after a flood, and has carried only cyclists since 1985.",
    "How many legs does a spider have?",
    "Write a limerick about a cat named Tom.",
    "What is the difference between weather and climate?",
    "Give me a recipe for pancakes:\n\n1. Ingredients\n2. Steps",
    'Fix the spelling: "I recieved you\'re letter yestarday, and I definately agree."',
    "Convert 100 degrees Fahrenheit to Celsius.",
    "What does this code print?\n\n```python\nfor i in range(3):\n    print(i * 2)\n```",
    "Describe a rainy afternoon in a small harbour town.",
    "What is gravity?",
    "Write an SQL query that selects all users older than 30 from the table `users`.",
    "Name three planets and one fact about each.",
    "Is a tomato a fruit or a vegetable?",
    "Make a JSON object with the keys name, age and city for Maria, 34, from Lisbon.",
    'Continue: "It was a dark and stormy night, and"',
    "What should I pack for a weekend in the mountains?",
    "Explain what a binary search does.",
    "Give me the opposite of: hot, early, generous, narrow.",
    "How far away is the Moon, in kilometres?",
)

_MORE_TURNS = (
    (
        "I have a dog called Rufus.",
        "That is a lovely name! How old is Rufus?",
        "He is 7. What is he called?",
    ),
    (
        "Tell me a joke.",
        "Why did the chicken cross the road? To get to the other side!",
        "Explain it.",
    ),
    ("What is the largest ocean?", "The Pacific Ocean.", "And the smallest?"),
    ("Say hello in French.", "Bonjour!", "Now in Japanese."),
    ("List three colours.", "1. Red\n2. Green\n3. Blue", "Add two more to the list."),
    ("2 + 2?", "4", "Times 10?", "40", "Minus 15?"),
    ("Write one line of a poem about the sea.", "The sea hums softly to the stones.", "Next line."),
    ("Which language is spoken in Brazil?", "Portuguese.", "How many people live there?"),
    ("My name is Sam.", "Nice to meet you, Sam!", "What is my name?"),
    ("Who wrote Hamlet?", "William Shakespeare.", "Name two of his other plays."),
    ("Write `x = 1` in C.", "int x = 1;", "And as a constant?"),
    ("What is H2O?", "Water.", "And CO2?", "Carbon dioxide.", "And NaCl?"),
    ("Suggest a name for a bakery.", "The Golden Crumb", "Something funnier, please."),
    ("What is a noun?", "A word for a person, place or thing.", "Give 4 examples."),
    ("Is water wet?", "That depends on what you mean by wet.", "Decide. Yes or no?"),
    (
        "Make a shopping list for soup.",
        "- carrots\n- onions\n- stock",
        "Put the amounts beside them.",
    ),
    ("When did World War II end?", "In 1945.", "How long did it last?"),
    ("Recommend a book.", "Try 'The Hobbit' by J. R. R. Tolkien.", "What is it about?"),
    ("Rewrite: The dog ate the food.", "The food was eaten by the dog.", "In the future tense?"),
    (
        "I feel tired today.",
        "I'm sorry to hear that. Did you sleep well?",
        "No, only 4 hours. Any advice?",
    ),
    ("What is 15% of 200?", "15% of 200 is 30.", "And 20% of 350?"),
    ("Define 'entropy'.", "A measure of disorder in a system.", "Use it in a sentence."),
    (
        "Who are you?",
        "I am SmolLM, an assistant.",
        "What can you do?",
        "I answer questions.",
        "Go!",
    ),
    ("Give me a rhyme for 'cat'.", "Hat.", "And for 'orange'?"),
)


def chats(count: int | None = None, seed: int = 0) -> list[Chat]:
    """``count`` of the sixty chats without one twice, drawn and ordered by ``seed``; None: all, as
    they are written. Raises ValueError where there are not so many.
    """
    written: list[Sequence[str]] = [*((text,) for text in _ONE_TURN), *_MORE_TURNS]
    every = [_chat(number, turns) for number, turns in enumerate(written)]
    return every if count is None else random.Random(seed).sample(every, count)


def _chat(number: int, turns: Sequence[str]) -> Chat:
    kind, own = number % 3, SYSTEMS[number // 3 % len(SYSTEMS)]
    system = {0: (), 1: ("",), 2: (own,)}[kind]
    said = [{"role": "system", "content": text} for text in system]
    roles = ("user", "assistant")
    return said + [{"role": roles[place % 2], "content": text} for place, text in enumerate(turns)]
