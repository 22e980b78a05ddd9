from __future__ import annotations

import pytest

from split_client.adapters.choice import AdapterInfo
from split_client.adapters.chooser import AdapterChooser
from split_client.adapters.clear import ClearAdapters
from split_client.adapters.errors import UnknownAdapter
from split_client.generation.sequence import Sequence
from tests.split_client.generation.test_sequence import ListBackend, sequence_over

OFFERED = (AdapterInfo("banking", "", 4, 8, 1.0, ("loan",), False),)


class Owner:
    """Counts how often its adapters are asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def load(self) -> ClearAdapters:
        self.asked += 1
        return ClearAdapters(OFFERED)


def chooser() -> tuple[AdapterChooser, Owner, Sequence]:
    owner = Owner()
    return AdapterChooser(owner.load), owner, sequence_over(ListBackend())


@pytest.mark.parametrize(
    ("wanted", "text", "chosen"),
    [
        (None, "a loan", None),
        ("none", "a loan", None),
        ("auto", "a loan", "banking"),
        ("auto", "a rose", None),
        ("banking", "a rose", "banking"),
    ],
)
def test_the_choice_is_the_named_one_or_that_of_the_words(
    wanted: str | None, text: str, chosen: str | None
) -> None:
    made, _, sequence = chooser()
    assert made.choice(wanted, text) == chosen
    made.use(chosen, sequence)
    assert sequence.adapter == chosen


def test_without_an_adapter_nobody_is_asked() -> None:
    made, owner, sequence = chooser()
    made.use(made.choice(None, "a loan"), sequence)
    assert owner.asked == 0


def test_adapters_are_asked_for_once_until_they_are_closed() -> None:
    made, owner, sequence = chooser()
    for name in ("banking", "none", "auto"):
        made.use(made.choice(name, "a loan"), sequence)
    assert owner.asked == 1
    made.close()
    made.close()
    assert made.available == OFFERED
    assert owner.asked == 2


def test_an_adapter_in_use_is_left_for_the_model_alone() -> None:
    made, _, sequence = chooser()
    made.use("banking", sequence)
    made.use(None, sequence)
    assert sequence.adapter is None


def test_a_name_that_nobody_has_is_told_with_those_that_there_are() -> None:
    made, _, sequence = chooser()
    with pytest.raises(UnknownAdapter, match="there are: banking") as caught:
        made.choice("gardening", "")
    assert caught.value.code == "unknown_adapter"
    with pytest.raises(UnknownAdapter):
        made.use("gardening", sequence)
    assert sequence.adapter is None
