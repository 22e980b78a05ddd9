from __future__ import annotations

import pytest

from split_client.errors import TokenInvalid
from split_client.transport.bearer import authorization


def test_a_token_is_a_header_and_none_is_no_header() -> None:
    assert authorization("a-b~!") == {"Authorization": "Bearer a-b~!"}
    assert authorization(None) == authorization("") == {}


@pytest.mark.parametrize("token", ["bad token", "ü", "a\nb", "a\x7f", "\udcff"])
def test_a_token_that_no_header_carries_is_refused_without_being_shown(token: str) -> None:
    with pytest.raises(TokenInvalid) as caught:
        authorization(token)
    assert caught.value.code == "token_invalid"
    assert token not in str(caught.value)
