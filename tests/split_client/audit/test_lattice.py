"""Rows and priors together, against all texts one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client.audit.attacks.knowledge import Mechanism, PublicModel
from split_client.audit.attacks.lattice.field import Field, field_of
from split_client.audit.attacks.lattice.guessed import guessed
from split_client.audit.attacks.lattice.search import Breadth, search
from split_client.audit.attacks.nearest import log_likelihoods
from split_client.audit.attacks.ngram.trained import TokenPrior
from split_client.audit.texts.sources import Texts

Numbers = NDArray[np.float64]
LEAD = (9, 4)


class Markov:
    """A prior over four tokens that looks at the last two."""

    def __init__(self, seed: int) -> None:
        table = np.random.default_rng(seed).dirichlet(np.ones(4), (10, 10))
        self.table = np.log(table)

    def after(self, texts: NDArray[np.int64], tokens: NDArray[np.int64]) -> Numbers:
        return self.table[texts[:, -2], texts[:, -1]][:, tokens]


def everything(evidence: Numbers, ahead: bool = False) -> Field:
    places, tokens = len(evidence), np.arange(4)
    rng = np.random.default_rng(1)
    hints = rng.normal(size=(places, 4)) if ahead else np.zeros((places, 4))
    return Field((tokens,) * places, tuple(evidence), tuple(hints))


def weights(evidence: Numbers, prior: Markov) -> dict[tuple[int, ...], float]:
    found = {}
    for text in product(range(4), repeat=len(evidence)):
        past, score = [*LEAD], 0.0
        for place, token in enumerate(text):
            score += evidence[place, token] + prior.table[past[-2], past[-1], token]
            past.append(token)
        found[text] = score
    return found


@pytest.mark.parametrize("seed", range(8))
def test_chances_and_the_heaviest_text_are_those_of_all_texts(seed: int) -> None:
    prior = Markov(seed)
    evidence = np.random.default_rng([seed, 4]).normal(0, 1.5, (5, 4))
    lattice = search(everything(evidence, ahead=True), prior, LEAD, Breadth(64, 2))
    whole = weights(evidence, prior)
    total = sum(np.exp(score) for score in whole.values())
    for place, (tokens, shares) in enumerate(lattice.chances()):
        wanted = [
            sum(np.exp(score) for text, score in whole.items() if text[place] == token) / total
            for token in tokens
        ]
        assert shares == pytest.approx(wanted, abs=1e-5)
    assert tuple(lattice.heaviest()) == max(whole, key=lambda text: whole[text])


def test_a_narrow_search_follows_what_lies_ahead() -> None:
    # The right text begins worst: only the last row speaks for it.
    prior = Markov(0)
    prior.table[:] = np.log(0.01)
    prior.table[:, 0, 0] = prior.table[:, 1, 1] = prior.table[9, 4, :2] = np.log(0.4)
    evidence = np.array([[0.5, 0.0, -9, -9], [0.5, 0.0, -9, -9], [-9.0, 5.0, -9, -9]])
    field = everything(evidence)
    blind = search(field, prior, LEAD, Breadth(1, 2)).heaviest()
    told = Field(field.tokens, field.evidence, (evidence[2], evidence[2], np.zeros(4)))
    assert blind == [0, 0, 1]
    assert search(told, prior, LEAD, Breadth(1, 2)).heaviest() == [1, 1, 1]


def test_counts_recover_what_rows_alone_do_not(public: PublicModel) -> None:
    said = ["I live in Paris.", "What is a token?", "Who can read my chat?"]
    prior = TokenPrior(public, Texts((*said, "I live in a house.", "Who are you?") * 3))
    rng, right, alone = np.random.default_rng(3), 0, 0
    for text in said * 5:
        ids = np.array(public.tokens(text))
        rows = public.rows(ids) + rng.normal(0, 1.0, (len(ids), public.hidden))
        likelihoods = log_likelihoods(rows.astype(np.float32), public, Mechanism(1.0, None))
        field = field_of(likelihoods, prior, 100, (public.suffix[0],))
        guess = guessed(field, search(field, prior, prior.lead, Breadth(32, 4)), len(ids))
        right += int((guess.ranked[:, 0] == ids).sum())
        alone += int((likelihoods.argmax(axis=1) == ids).sum())
        assert guess.whole is not None
        assert len(guess.whole) == len(ids)
    total = 5 * sum(len(public.tokens(text)) for text in said)
    assert alone / total < 0.5 < 0.9 < right / total


def test_clean_rows_leave_one_text(public: PublicModel) -> None:
    prior = TokenPrior(public, Texts(("Something else.",)))
    ids = public.tokens("My name is Maria.")
    likelihoods = log_likelihoods(public.rows(ids), public, Mechanism())
    field = field_of(likelihoods, prior, 100, (public.suffix[0],))
    assert field.certain
    guess = guessed(field, search(field, prior, prior.lead, Breadth(4, 4)), len(ids))
    assert guess.tokens == ids
    # One possible token fills its place of five, and counts once.
    assert (guess.ranked == np.array(ids)[:, None]).all()
