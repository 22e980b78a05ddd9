"""Another model's expectations over tokens that are cut otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client.audit.attacks.knowledge import PublicModel
from split_client.audit.attacks.language.blend import Blend, blended
from split_client.audit.attacks.language.flock import Flock
from split_client.audit.attacks.language.foreign import ForeignPrior
from split_client.audit.attacks.language.ways import Ways
from split_client.audit.attacks.ngram.trained import BEFORE, TokenPrior
from split_client.audit.reach import Reach
from split_client.audit.session import AllStates
from split_client.audit.texts.sources import Texts
from split_client.model.ends import DeviceEnds

# The models' tokens by id. A text is cut into the longest ones, from its beginning on.
OWN = ["<s>", "<e>", " t", "h", "e", " the", "n", " s", "ub", "le", "t", "ting", "."]
OTHER = ["<b>", "<f>", " s", " the", " then", " sub", "letting", "le", "t", ".", "n", " t", "e"]


class Toy:
    """A model whose second token ends a message. What it expects depends on all that it has read;
    a state is the logarithms.
    """

    def __init__(self, spelt: list[str]) -> None:
        self.spelt, self.prefix, self.suffix = spelt, [0], [1]
        self.vocabulary = len(spelt)

    def text(self, ids: Sequence[int]) -> str:
        return "".join(self.spelt[index] for index in ids if index > 1)

    def tokens(self, text: str) -> list[int]:
        found: list[int] = []
        while text:
            among = [token for token in self.spelt[2:] if text.startswith(token)]
            found.append(self.spelt.index(max(among, key=len)))
            text = text[len(self.spelt[found[-1]]) :]
        return found

    def states(self, texts: Sequence[tuple[int, ...]]) -> NDArray[np.float64]:
        flat = np.ones(self.vocabulary)
        return np.log([np.random.default_rng(text).dirichlet(flat) for text in texts])

    def log_probabilities(self, states: NDArray[np.float64]) -> NDArray[np.float64]:
        return states

    def chances(self, *text: str) -> dict[str, float]:
        """What it says of the next token behind ``text``."""
        ids = (*self.prefix, *(self.spelt.index(token) for token in text))
        return dict(zip(self.spelt, np.exp(self.states([ids])[0]).tolist(), strict=True))


def expected(*text: str) -> dict[str, float]:
    """What the prior says of each of ``OWN`` behind ``text``."""
    own, other = Toy(OWN), Toy(OTHER)
    prior = ForeignPrior(
        cast(PublicModel, own), cast(PublicModel, other), cast(Flock, other), other.prefix
    )
    begun = [*[len(OWN)] * BEFORE, *own.prefix, *(OWN.index(token) for token in text)]
    found = np.exp(prior.after(np.array([begun]), np.arange(len(OWN))))[0]
    return dict(zip(OWN, found.tolist(), strict=True))


def test_what_goes_on_in_a_way_stands_together() -> None:
    ways = Ways([(3, 4), (), (3,), (5,), (3, 4, 5), (3, 7)])
    sums = ways.sums(np.array([[0.1, 0.2, 0.3, 0.05, 0.15, 0.2]]))[0]
    first = ways.behind(())
    assert first.tokens.tolist() == [3, 5]
    assert first.shares(sums) == pytest.approx([0.75, 0.05])
    further = ways.behind((3,))
    assert further.tokens.tolist() == [4, 7]
    assert further.shares(sums) == pytest.approx([0.25, 0.2])
    assert further.whole(sums) == pytest.approx(0.45)
    assert ways.behind((3, 7)).whole(sums) == ways.behind((9,)).whole(sums) == 0.0


def test_a_token_is_not_likely_for_words_that_are_cut_otherwise() -> None:
    """A text with " the" is never cut into " t", "h" and "e"."""
    found, said = expected(), Toy(OTHER).chances()
    assert found[" t"] == pytest.approx(said[" t"])
    assert found[" the"] == pytest.approx(said[" the"] + said[" then"])
    assert found[" s"] == pytest.approx(said[" s"] + said[" sub"])
    assert found["le"] == pytest.approx(said["le"] + said["letting"])
    assert found["<e>"] == pytest.approx(said["<f>"])
    assert found["h"] == pytest.approx(1e-9)
    assert sum(found.values()) == pytest.approx(1.0 - said["<b>"])


def test_a_word_has_ended_or_is_the_beginning_of_a_longer_one() -> None:
    found, said, behind = expected(" the"), Toy(OTHER).chances(), Toy(OTHER).chances(" the")
    written = said[" the"] + said[" then"]
    assert found["n"] == pytest.approx((said[" then"] + said[" the"] * behind["n"]) / written)
    assert found["<e>"] == pytest.approx(said[" the"] * behind["<f>"] / written)
    found = expected(" s")
    assert found["ub"] == pytest.approx(said[" sub"] / (said[" s"] + said[" sub"]))
    # Nothing else begins like this word, so it has ended for certain.
    found, behind = expected(" the", " t"), Toy(OTHER).chances(" the", " t")
    assert found["."] == pytest.approx(behind["."])


def test_a_word_of_several_tokens_may_go_on_in_its_last_one() -> None:
    found, said = expected(" s", "ub", "le"), Toy(OTHER).chances(" sub")
    behind = Toy(OTHER).chances(" sub", "le")
    goes_on = said["letting"] + said["le"] * behind["t"]
    assert found["t"] == pytest.approx(goes_on / (said["letting"] + said["le"]))


def test_a_model_in_its_own_tokens_is_expected_to_say_what_it_says(
    public: PublicModel, ends: DeviceEnds, reach: Reach
) -> None:
    sessions = [AllStates(reach, ends.manifest) for _ in range(2)]
    flock = Flock(public, sessions)
    lead = TokenPrior(public, Texts(("Hello.",))).lead
    prior = ForeignPrior(public, public, flock, public.prefix)
    for words in ("", "What", "What is a KV cache"):
        text = public.tokens(words)
        told = prior.after(np.array([(*lead, *text)]), np.arange(public.vocabulary))[0]
        wanted = public.log_probabilities(flock.states([(*public.prefix, *text)]))[0]
        likely = wanted > np.log(1e-6)
        likely[[i for i in range(public.vocabulary) if not public.text([i])]] = False
        likely[public.suffix[0]] = True
        assert likely.sum() > 3
        np.testing.assert_allclose(told[likely], wanted[likely], rtol=1e-6)
    for session in sessions:
        session.close()
    flock.close()


class Fixed:
    """As likely after everything; it counts how often it is asked."""

    def __init__(self, *chances: float) -> None:
        self.chances, self.asked = np.log([chances]), 0

    def after(self, texts: NDArray[np.int64], tokens: NDArray[np.int64]) -> NDArray[np.float64]:
        self.asked += 1
        return np.asarray(self.chances[:, tokens])


def test_a_blend_is_the_mean_of_its_parts() -> None:
    blend = Blend([(0.25, Fixed(0.8, 0.2)), (0.75, Fixed(0.4, 0.6))])
    found = np.exp(blend.after(np.zeros((1, 0), np.int64), np.arange(2)))
    assert found[0] == pytest.approx([0.5, 0.5])


def test_a_prior_that_is_worth_next_to_nothing_is_not_run() -> None:
    idle, busy, other = Fixed(0.9, 0.1), Fixed(0.5, 0.5), Fixed(0.1, 0.9)
    blend = blended((0.004, 0.249, 0.747), (idle, busy, other))
    found = np.exp(blend.after(np.zeros((1, 0), np.int64), np.arange(2)))
    assert found[0] == pytest.approx([0.2, 0.8])
    assert (idle.asked, busy.asked, other.asked) == (0, 1, 1)
