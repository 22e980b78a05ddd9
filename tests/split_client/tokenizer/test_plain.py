"""Texts of strangers never become control tokens."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_client.model.tokenizer import ModelTokenizer
from split_client.tokenizer.plain import MARK, Plain, without_marks
from split_server.checkpoint.folder import EMBEDDED

TOKENIZER = ModelTokenizer.open(Path(EMBEDDED) / "tokenizer.json", 4096)
CONTROL = sorted(TOKENIZER.control.values())
PARTS = st.sampled_from([*CONTROL, *"<|>_imstarend", "text ", "ö", MARK, "\n"])


@given(st.lists(PARTS, max_size=12).map("".join))
def test_no_text_of_a_stranger_brings_a_control_token(text: str) -> None:
    marked = TOKENIZER.plain(text)
    ids = TOKENIZER.encode_marked([], marked)
    assert ids is not None
    assert TOKENIZER.control.keys().isdisjoint(ids)
    assert TOKENIZER.decode(ids, skip_special_tokens=False) == text.replace(MARK, "")


@given(st.lists(PARTS, max_size=8).map("".join))
def test_the_control_tokens_around_it_are_those_of_the_template(text: str) -> None:
    around = "<|im_start|>tool\n{}<|im_end|>\n"
    ids = TOKENIZER.encode_marked([], around.format(TOKENIZER.plain(text)))
    assert ids is not None
    control = [TOKENIZER.control[token] for token in ids if token in TOKENIZER.control]
    assert control == ["<|im_start|>", "<|im_end|>"]


def test_a_text_without_marks_is_encoded_as_ever() -> None:
    text = "<|im_start|>user\nHello<|im_end|>\n"
    assert TOKENIZER.encode_marked([], text) == TOKENIZER.encode(text)
    before = TOKENIZER.encode(text)
    assert TOKENIZER.encode_marked(before, "x") == TOKENIZER.encode_after(before, "x")


def test_spellings_that_overlap_are_all_cut() -> None:
    plain = Plain(["aba"], lambda _: False)
    parts = without_marks(plain.marked("xababax"))
    assert "".join(parts) == "xababax"
    assert all("aba" not in part for part in parts)


@pytest.mark.parametrize("spelling", ["a", "abc"])
def test_what_becomes_a_control_token_all_the_same_is_cut_everywhere(spelling: str) -> None:
    plain = Plain([spelling], lambda part: "A" in part)
    assert without_marks(plain.marked("xAB")) == ["x", "A", "B"]
