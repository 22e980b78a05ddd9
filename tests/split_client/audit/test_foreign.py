"""Another model's expectations over tokens that are cut otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.language.blend import Blend
from split_client.audit.attacks.language.flock import Flock
from split_client.audit.attacks.language.foreign import ForeignPrior
from split_client.audit.attacks.language.spelling import Spelling
from split_client.audit.attacks.ngram.trained import TokenPrior
from split_client.audit.reach import Reach
from split_client.audit.session import AllStates
from split_client.audit.texts.sources import Texts
from split_client.model.ends import DeviceEnds

TOKENS = ["", " mort", " mor", " more", "gage", " the", "m", " "]
CHANCES = np.array([0.1, 0.2, 0.05, 0.25, 0.0, 0.3, 0.04, 0.06])


def test_what_begins_with_some_letters_is_as_likely_as_all_tokens_that_do() -> None:
    spelling = Spelling(TOKENS)
    wanted = (" mor", " mort", " the", " x", " m")
    found = spelling.beginning(CHANCES, wanted)
    space = 0.06
    assert found == pytest.approx(
        [
            0.2 + 0.05 + 0.25 + space * 0.06**3,
            0.2 + 0.05 * 0.06 + space * 0.06**4,
            0.3 + space * 0.06**3,
            space * 0.06,
            0.5 + space * 0.06,
        ]
    )


def test_a_word_ends_where_a_token_is_all_of_it() -> None:
    spelling = Spelling(TOKENS)
    assert spelling.ending(CHANCES, " mort") == pytest.approx(0.2 + 0.05 * 0.06 + 0.06 * 0.06**4)
    assert spelling.ending(CHANCES, " morta") == pytest.approx(
        0.2 * 0.06 + 0.05 * 0.06**2 + 0.06 * 0.06**5
    )


def test_a_model_in_its_own_tokens_is_expected_to_say_what_it_says(
    public: PublicModel, ends: DeviceEnds, reach: Reach
) -> None:
    """Between words one model's tokens are as likely as its own distribution has them."""
    sessions = [AllStates(reach, ends.manifest) for _ in range(2)]
    flock = Flock(public, sessions)
    lead = TokenPrior(public, Texts(("Hello.",))).lead
    prior = ForeignPrior(public, public, flock, public.prefix)
    text = public.tokens("What is a KV cache")
    end = np.array([public.suffix[0], *public.tokens("?"), *public.tokens(" cache")])
    found = np.exp(prior.after(np.array([(*lead, *text)]), end))[0]
    state = flock.states([(*public.prefix, *text)])
    wanted = np.exp(public.log_probabilities(state))[0, end]
    # A word that may go on ends with less than certainty.
    assert 0.5 * wanted[1] < found[1] <= 1.2 * wanted[1]
    assert found[1] > 2 * max(found[0], found[2])
    begun = public.tokens("What is a")
    likely = prior.after(np.array([(*lead, *begun)]), np.arange(public.vocabulary))[0]
    assert np.exp(likely).max() < 1.0
    for session in sessions:
        session.close()
    flock.close()


def test_a_blend_is_the_mean_of_its_parts() -> None:
    class Fixed:
        def __init__(self, *chances: float) -> None:
            self.chances = np.log([chances])

        def after(self, texts: np.ndarray, tokens: np.ndarray) -> np.ndarray:
            return self.chances[:, tokens]

    blend = Blend([(0.25, Fixed(0.8, 0.2)), (0.75, Fixed(0.4, 0.6))])
    found = np.exp(blend.after(np.zeros((1, 0), np.int64), np.arange(2)))
    assert found[0] == pytest.approx([0.5, 0.5])
