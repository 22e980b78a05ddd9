"""Short stories from a grammar; the hero is the word that the user asked for."""

from __future__ import annotations

from random import Random

from scripts.demo_model.corpus.facts import named_list

HEROES = named_list("heroes")
STORY_PATTERNS = (
    "tell me a [short |little |]story about {h}",
    "[please |can you |could you |]tell a [short |]story about {h}",
    "a story about {h}",
    "story about {h}",
    "do you know a story about {h}",
    "write [me |]a [short |]story about {h}",
    "make up a story about {h}",
    "i want [to hear |]a story about {h}",
    "a tale about {h}",
    "now [tell |]one about {h}",
    "another [story|one] about {h}",
    "can i hear a story about {h}",
)
PLAIN_PATTERNS = (
    "tell me a [short |little |nice |]story",
    "[please |can you |could you |]tell [me |]a story",
    "a story[ please|]",
    "do you know [a|any] [story|stories]",
    "write [me |]a [short |]story",
    "make up a story",
    "i want [to hear |]a story",
    "another story[ please|]",
    "one more story",
    "tell me another [story|one]",
    "tell me a tale",
    "story time",
    "read me a story",
)
_ADJECTIVES = named_list("adjectives")
_PLACES = (
    "in a deep forest",
    "by the sea",
    "on a high hill",
    "near a quiet river",
    "in a little village",
    "at the edge of the desert",
    "behind an old mill",
)
_TROUBLES = (
    ("lost the way home", "showed the right path"),
    ("found a locked box", "had the key"),
    ("fell into a hole", "let down a rope"),
    ("could not sleep", "sang a soft song"),
    ("was very hungry", "shared some bread"),
    ("heard a strange sound", "said that it was only the wind"),
    ("wanted to see the moon up close", "brought a bucket of water with the moon in it"),
    ("was afraid of the dark", "lit a small lamp"),
    ("had no friend to play with", "stayed until the evening"),
)
_ENDS = (
    "From that day on they were friends.",
    "They laughed all the way home.",
    "And the two were never lonely again.",
    "Since then they meet there every evening.",
    "After that, nothing seemed hard any more.",
)


def article(noun: str) -> str:
    """``a`` or ``an`` with the noun."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def tell(hero: str, rng: Random) -> str:
    """A story of four sentences and an end mark."""
    friend = rng.choice([h for h in HEROES if h != hero])
    trouble, help_ = rng.choice(_TROUBLES)
    first = article(rng.choice(_ADJECTIVES))
    return (
        f"Once upon a time, {first} {hero} lived {rng.choice(_PLACES)}. "
        f"One day the {hero} {trouble}. "
        f"Then came {article(rng.choice(_ADJECTIVES))} {friend} and {help_}. "
        f"{rng.choice(_ENDS)} The end."
    )
