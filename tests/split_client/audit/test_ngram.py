"""What public texts say about the next token: counts, smoothed, against a plain computation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pytest

from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.ngram.counting import Snippet
from split_client.audit.attacks.ngram.smoothed import Smoothed
from split_client.audit.attacks.ngram.trained import TokenPrior
from split_client.audit.texts.sources import Texts

SNIPPETS = [
    Snippet((0, 1, 2, 1, 2, 3)),
    Snippet((4, 1, 2, 4), first=1, weight=2.5),
    Snippet((1, 2), first=1, weight=0.25),
]


def by_hand(beginning: Sequence[int], token: int, longest: int) -> float:
    """Witten and Bell's probability, run by run."""
    alone = np.full(5, 0.02)
    for one in SNIPPETS:
        for counted in one.tokens[one.first :]:
            alone[counted] += one.weight
    found = float(alone[token] / alone.sum())
    for length in range(2, longest + 1):
        runs: dict[int, float] = defaultdict(float)
        past = tuple(beginning[1 - length :])
        for one in SNIPPETS:
            for end in range(max(one.first, length - 1), len(one.tokens)):
                if tuple(one.tokens[end - length + 1 : end]) == past:
                    runs[one.tokens[end]] += one.weight
        if len(past) < length - 1 or not runs:
            break
        found = (runs.get(token, 0.0) + len(runs) * found) / (sum(runs.values()) + len(runs))
    return found


@pytest.mark.parametrize("beginning", [(2, 1), (1, 2), (4, 4), (0, 1), (3, 3)])
def test_probabilities_are_those_of_witten_and_bell_and_add_up_to_one(
    beginning: tuple[int, ...],
) -> None:
    found = Smoothed(SNIPPETS, 5, 3).after(np.array([beginning]), np.arange(5))[0]
    assert found == pytest.approx([by_hand(beginning, token, 3) for token in range(5)])
    assert found.sum() == pytest.approx(1.0)


def test_beginnings_that_nobody_wrote_are_taken_without_their_first_tokens() -> None:
    smoothed = Smoothed(SNIPPETS, 5, 3)
    both = smoothed.after(np.array([[3, 2], [0, 2]]), np.arange(5))
    short = smoothed.after(np.array([[2]]), np.arange(5))
    assert both == pytest.approx(np.repeat(short, 2, axis=0))


def test_a_prior_knows_how_messages_begin_go_on_and_end(public: PublicModel) -> None:
    # Words of all kinds, none of which is likely.
    others = tuple((f"{one}{two}e", 9.0) for one in "bdfglmpst" for two in "aeiou")
    words = (("bank", 9.0), ("river", 1.0), *others)
    pairs = (("a", "bank", 1.0), *(("a", other, 1.0) for other, _ in others))
    texts = Texts(("What is a token?",) * 5, words, pairs)
    prior = TokenPrior(public, texts, ["Who are you?"])
    ids = public.tokens("What is a token?")
    everything = np.arange(public.vocabulary)

    def likeliest(text: Sequence[int]) -> int:
        return int(prior.after(np.array([(*prior.lead, *text)]), everything)[0].argmax())

    wanted = [*ids, public.suffix[0]]
    assert [likeliest(ids[:place]) for place in range(len(wanted))] == wanted
    bank, river = (public.tokens(f" {word}")[0] for word in ("bank", "river"))
    behind = prior.after(np.array([public.tokens(" a")]), np.array([bank, river]))[0]
    assert behind[0] > behind[1] + 1
    assert prior.alone[bank] > prior.alone[river]
