import numpy as np
import pytest

from split_client.generation.errors import NothingAllowed
from split_client.generation.sampling.token_set import FEW, TokenSet

VOCAB = 3 * FEW


def mask_of(count: int) -> np.ndarray:
    mask = np.zeros(VOCAB, np.bool_)
    mask[np.random.default_rng(count).choice(VOCAB, count, replace=False)] = True
    return mask


@pytest.mark.parametrize("count", [1, FEW])
def test_few_members_are_listed(count: int) -> None:
    mask = mask_of(count)
    found = TokenSet.of(mask)
    assert found.members is not None
    assert found.members.tolist() == sorted(np.flatnonzero(mask).tolist())
    assert found.others is None


@pytest.mark.parametrize("missing", [0, 1, FEW])
def test_few_others_are_listed(missing: int) -> None:
    mask = mask_of(VOCAB - missing)
    found = TokenSet.of(mask)
    assert found.members is None
    assert found.others is not None
    assert found.others.tolist() == np.flatnonzero(~mask).tolist()


def test_where_both_are_many_there_is_only_the_mask() -> None:
    found = TokenSet.of(mask_of(FEW + 1))
    assert found.members is None
    assert found.others is None


def test_a_set_within_a_mask_has_the_tokens_of_both() -> None:
    found = TokenSet.without(np.array([0, 5]), VOCAB).within(np.arange(VOCAB) < 8)
    assert found.members is not None
    assert found.members.tolist() == [1, 2, 3, 4, 6, 7]


def test_an_empty_set_is_refused() -> None:
    with pytest.raises(NothingAllowed):
        TokenSet.of(np.zeros(5, np.bool_))
    with pytest.raises(NothingAllowed):
        TokenSet.without(np.arange(5), 5)
    with pytest.raises(NothingAllowed):
        TokenSet.without(np.array([1]), 5).within(np.arange(5) == 1)
