"""Masks that are asked for where there is no host, or too many of them."""

from __future__ import annotations

import pytest

from split_client.api import SplitClient


@pytest.mark.parametrize("masks", [-1, 513])
def test_a_number_of_masks_out_of_bounds_is_refused_before_anything_is_asked(masks: int) -> None:
    with pytest.raises(ValueError, match="from 0 to 512"):
        SplitClient("http://127.0.0.1:9", adapter_host="http://127.0.0.1:9", masks=masks)


def test_masks_without_an_adapter_host_are_refused() -> None:
    with pytest.raises(ValueError, match="adapter_host"):
        SplitClient("http://127.0.0.1:9", masks=8)


def test_no_masks_are_told_of_before_an_adapter_is_wanted() -> None:
    assert (
        SplitClient("http://127.0.0.1:9", adapter_host="http://127.0.0.1:9", masks=8).masks is None
    )
