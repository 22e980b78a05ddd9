"""Errors speak of the request that was sent."""

from __future__ import annotations

import pytest

from split_client.generation.errors import InvalidSamplingParameter
from split_server.compat.openai.errors import InvalidBody, InvalidParameter, OpenAIError
from split_server.compat.translating.renaming import renamed, renames

NAMES = renames((r"stop\b", "stop_sequences"), (r"tools\[(\d+)\]\.function", r"tools[\1]"))


@pytest.mark.parametrize(
    ("param", "other"),
    [
        ("stop", "stop_sequences"),
        ("stop[3]", "stop_sequences[3]"),
        ("stopping", "stopping"),
        ("tools[12].function.name", "tools[12].name"),
        ("model", "model"),
    ],
)
def test_a_parameter_has_the_name_of_the_other_request(param: str, other: str) -> None:
    with pytest.raises(InvalidParameter) as refused, renamed(NAMES):
        raise InvalidParameter(param, "a list")
    assert refused.value.param == other
    assert str(refused.value) == f"{other} must be a list"


def test_a_sampling_parameter_too() -> None:
    with (
        pytest.raises(InvalidSamplingParameter, match="repeat_penalty = 0 is not") as refused,
        renamed(renames((r"repetition_penalty", "repeat_penalty"))),
    ):
        raise InvalidSamplingParameter("repetition_penalty", 0, "above 0")
    assert refused.value.field == "repeat_penalty"


def test_an_error_of_no_parameter_stays() -> None:
    with pytest.raises(OpenAIError, match="not JSON"), renamed(NAMES):
        raise InvalidBody("not JSON")
