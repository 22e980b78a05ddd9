from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_server.compat.openai.errors import InvalidBody, InvalidParameter
from split_server.compat.openai.fields import parse_body
from tests.split_server.compat.openai.requests import fields


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe{", b'{"a": NaN}', b'{"a": Infinity}'],
)
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidBody):
        parse_body(body)


@pytest.mark.parametrize(
    "body",
    [b"[" * 200_000, b'{"a":' * 200_000, b'{"a":' + b"9" * 10_000, b'{"a":[' + b"[]," * 600_000],
    ids=range(4),
)
def test_hostile_json_is_refused_and_not_a_failure(body: bytes) -> None:
    with pytest.raises(InvalidBody):
        parse_body(body)


@given(st.binary(max_size=60))
def test_any_bytes_are_parsed_or_refused(body: bytes) -> None:
    try:
        parsed = parse_body(body)
    except InvalidBody:
        return
    assert isinstance(json.loads(body), dict)
    assert parsed is not None


def test_null_counts_as_not_given() -> None:
    body = fields(flag=None, whole=None, number=None, text=None, items=None, inner=None)
    assert body.flag("flag", True) is True
    assert body.whole("whole", 0, 1) is None
    assert body.number("number") is None
    assert body.text("text") is None
    assert body.items("items", 1) is None
    assert body.inner("inner") is None
    assert "flag" not in body


@pytest.mark.parametrize("value", [True, 1.0, "1", 6, -1, [1]])
def test_a_whole_number_is_a_number_within_its_range(value: object) -> None:
    with pytest.raises(InvalidParameter, match=r"n must be a whole number in 0\.\.5") as caught:
        fields(n=value).whole("n", 0, 5)
    assert caught.value.param == "n"


@pytest.mark.parametrize("value", [True, "1", [1], 10**400])
def test_a_number_is_finite_and_no_boolean(value: object) -> None:
    with pytest.raises(InvalidParameter, match="x must be a finite number"):
        fields(x=value).number("x")


def test_errors_name_the_whole_path() -> None:
    body = fields(messages=[{"role": "user"}, {"role": 3}])
    messages = body.inners("messages", 2)
    assert messages is not None
    with pytest.raises(InvalidParameter) as caught:
        messages[1].text("role")
    assert caught.value.param == "messages[1].role"


def test_lists_and_texts_are_bounded() -> None:
    with pytest.raises(InvalidParameter, match="at most 2"):
        fields(a=[1, 2, 3]).items("a", 2)
    with pytest.raises(InvalidParameter, match="at most 2 characters"):
        fields(a="abc").text("a", 2)


def test_lone_surrogates_become_text_that_utf8_can_carry() -> None:
    body = parse_body(b'{"a": "x\\ud800y", "b": {"k\\udfff": "\\udfff"}}')
    text, document = body.text("a"), body.document("b", 100)
    assert text == "x?y"
    assert json.dumps(document, ensure_ascii=False).encode()


def test_a_document_is_bounded_in_depth_and_size() -> None:
    deep: object = "leaf"
    for _ in range(100):
        deep = {"a": deep}
    with pytest.raises(InvalidParameter, match="nested"):
        fields(schema=deep).document("schema", 10_000)
    with pytest.raises(InvalidParameter, match="long"):
        fields(schema={"a": "b" * 100}).document("schema", 50)
    assert fields(schema={"a": [{"b": 1}]}).document("schema", 50) == {"a": [{"b": 1}]}
