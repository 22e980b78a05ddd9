"""Bodies of requests: what their parsing may cost everybody else."""

from __future__ import annotations

import json

import pytest

from split_server.compat.json_body import MAX_NAMES, parsed_json
from split_server.compat.kobold.errors import InvalidRequest
from split_server.compat.kobold.fields import json_object
from split_server.compat.openai.errors import InvalidBody
from split_server.compat.openai.fields import parse_body


def _named(count: int, name: str = "{}") -> bytes:
    return json.dumps({name.format(index): 1 for index in range(count)}).encode()


def test_fields_beyond_the_limit_are_counted_before_they_are_made() -> None:
    assert len(parsed_json(_named(MAX_NAMES))) == MAX_NAMES
    with pytest.raises(ValueError, match="too many fields"):
        parsed_json(_named(MAX_NAMES + 1))


@pytest.mark.parametrize("name", ["{}\\", '{}"', "{}:", "\\{}\\\\"])
def test_no_spelling_of_a_name_hides_it(name: str) -> None:
    with pytest.raises(ValueError, match="too many fields"):
        parsed_json(_named(MAX_NAMES + 1, name).replace(b'":', b'" \n:'))


def test_colons_in_texts_name_nothing() -> None:
    text = 'a:b"c":' * MAX_NAMES
    assert parsed_json(json.dumps({"text": text, "n": [1, 2.5]}).encode()) == {
        "text": text,
        "n": [1, 2.5],
    }


@pytest.mark.parametrize("end", [b"", b"\\", b'"'])
def test_a_text_without_an_end_costs_no_more_than_its_length(end: bytes) -> None:
    # Quadratic work on this would take hours.
    with pytest.raises(ValueError, match=r"line|Unterminated"):
        parsed_json(b'{"":"' + b'\\":' * 500_000 + end)


def test_bodies_of_both_apis_have_that_limit() -> None:
    body = _named(MAX_NAMES + 1)
    with pytest.raises(InvalidBody):
        parse_body(body)
    with pytest.raises(InvalidRequest):
        json_object(body, 1 << 20, 4096)


@pytest.mark.parametrize("padding", [0, 20_000])
def test_numbers_that_are_none_are_refused_in_bodies_of_any_length(padding: int) -> None:
    with pytest.raises(ValueError, match="NaN"):
        parsed_json(b'{"a": NaN, "b": "' + padding * b"x" + b'"}')


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (_named(MAX_NAMES + 1), "too many fields; 20000 may have names"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"a": "\xff"}', "not UTF-8 at byte 7"),
        (b'{"secret": 1', "Expecting ',' delimiter at line 1 column 13"),
        (b'{"a": NaN}', "NaN is not a number of JSON's"),
        (b'{"a": ' + 5000 * b"9" + b"}", "a number has too many digits"),
        (b"", "Expecting value at line 1 column 1"),
    ],
)
def test_whoever_wrote_a_body_is_told_what_is_wrong_with_it(body: bytes, told: str) -> None:
    with pytest.raises(InvalidBody, match=r"^the body is not readable as JSON: ") as caught:
        parse_body(body)
    assert str(caught.value).endswith(told)
    with pytest.raises(InvalidRequest, match="not readable as JSON: "):
        json_object(body, 1 << 20, 4096)
