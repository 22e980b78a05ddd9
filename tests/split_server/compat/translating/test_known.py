"""No field is ignored in silence."""

from __future__ import annotations

from typing import Any

import pytest

from split_server.compat.openai.errors import UnsupportedParameter
from split_server.compat.openai.fields import Fields
from split_server.compat.translating.known import Known

KNOWN = Known(
    read=("model",),
    idle=("user",),
    refused={"seed": (-1,), "flag": (False,), "tools": ()},
    reasons={"tools": "none are run"},
)


@pytest.mark.parametrize(
    "values",
    [
        {"model": [1]},
        {"user": "ada"},
        {"seed": -1, "flag": False, "tools": []},
        {"tools": {}, "unheard_of": None},
        {},
    ],
)
def test_fields_that_are_read_idle_or_neutral_pass(values: dict[str, Any]) -> None:
    KNOWN.check(Fields(values))


@pytest.mark.parametrize(
    ("values", "param"),
    [
        ({"seed": 0}, "seed"),
        ({"flag": True}, "flag"),
        ({"flag": 0}, "flag"),
        ({"tools": [1]}, "tools"),
        ({"unheard_of": 1}, "unheard_of"),
        ({"unheard_of": False}, "unheard_of"),
        ({"unheard_of": []}, "unheard_of"),
    ],
)
def test_others_are_refused_by_name(values: dict[str, Any], param: str) -> None:
    with pytest.raises(UnsupportedParameter) as refused:
        KNOWN.check(Fields(values))
    assert refused.value.param == param


def test_the_path_and_the_reason_are_told() -> None:
    with pytest.raises(UnsupportedParameter, match=r"a\[1\]\.tools .*: none are run"):
        KNOWN.check(Fields({"tools": [1]}, "a[1]"))
