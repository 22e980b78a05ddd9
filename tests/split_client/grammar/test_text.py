"""Texts of grammars and choices end whole where the tokens left can hold an end."""

from __future__ import annotations

import re

import numpy as np
import pytest

from split_client.grammar.compiling import compiled_form
from split_client.grammar.errors import FormEndless, FormInvalid
from split_client.grammar.form import Choice, Form, Gbnf, Lark, Regex
from split_client.grammar.vocabulary import Vocabulary
from tests.checkpoints import tiny_tokenizer
from tests.split_client.grammar.schemas import weighted, write

EOS = frozenset({0, 2})


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    tokenizer = tiny_tokenizer(tmp_path_factory.mktemp("tokenizer"))
    return Vocabulary(tokenizer.to_str(), 325, EOS)


def written(vocabulary: Vocabulary, form: Form, seed: int, most: int) -> tuple[str, bool]:
    constraint = compiled_form(vocabulary, form)()
    tokens = write(constraint, weighted(seed), most, EOS)
    return vocabulary.text(tokens).decode("utf-8", "replace"), constraint.whole


@pytest.mark.parametrize(
    ("form", "pattern"),
    [
        (Regex("[a-z]+!"), "[a-z]+!"),
        (Regex("(ab|cd){3,400}"), "(ab|cd){3,400}"),
        (Regex("[0-9]{2}(-[0-9]{2})*"), "[0-9]{2}(-[0-9]{2})*"),
        (Lark('start: "<" start ">" | "x"'), "<*x>*"),
        (Lark('start: item+ "end"\nitem: "[" /[a-z]*/ "]"'), r"(\[[a-z]*\])+end"),
        (Gbnf('root ::= ("long " [a-z]+ " words" | "no") "."'), r"(long [a-z]+ words|no)\."),
    ],
)
@pytest.mark.parametrize("most", [25, 60])
def test_a_text_ends_whole_before_its_tokens_do(
    vocabulary: Vocabulary, form: Form, pattern: str, most: int
) -> None:
    for seed in range(4):
        text, whole = written(vocabulary, form, seed, most)
        assert whole, text
        assert re.fullmatch(pattern, text)


def test_with_plenty_of_tokens_a_text_is_as_long_as_it_likes(vocabulary: Vocabulary) -> None:
    form = Regex("[a-z]*!")
    assert max(len(written(vocabulary, form, seed, 200)[0]) for seed in range(8)) > 40


def test_a_text_that_cannot_end_in_time_is_cut_and_not_whole(vocabulary: Vocabulary) -> None:
    text, whole = written(vocabulary, Regex("[a-z]{90}"), 1, 4)
    assert not whole
    assert text.isalpha()


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_of_some_texts_only_those_are_chosen_that_fit(vocabulary: Vocabulary, most: int) -> None:
    form = Choice(("q", "qz", "qzj", "zzzzzzzzzz"))
    for seed in range(6):
        text, whole = written(vocabulary, form, seed, most)
        assert whole
        assert len(text) <= most


def test_where_no_text_fits_the_reply_begins_one_all_the_same(vocabulary: Vocabulary) -> None:
    text, whole = written(vocabulary, Choice(("zqzqzqzqzq", "qzqzqzqzqz")), 0, 2)
    assert not whole
    assert "zqzqzqzqzq".startswith(text) or "qzqzqzqzqz".startswith(text)


@pytest.mark.parametrize(
    "form",
    [
        Lark('start: "a" start'),
        Lark('start: ("a" | "b") start'),
        Lark('start: "a" b\nb: "c" start'),
        Gbnf('root ::= "x" root'),
    ],
)
def test_a_form_without_an_end_is_refused(vocabulary: Vocabulary, form: Form) -> None:
    with pytest.raises(FormEndless):
        compiled_form(vocabulary, form)


@pytest.mark.parametrize("form", [Regex("(ab){900}c"), Regex("[a-z]{900}"), Regex(".{500}x{500}")])
def test_a_form_of_long_texts_has_an_end(vocabulary: Vocabulary, form: Form) -> None:
    assert compiled_form(vocabulary, form)().forced(3) is not None


def test_a_text_that_the_vocabulary_cannot_write_is_told() -> None:
    class Letters:
        """A vocabulary of one letter."""

        def __init__(self) -> None:
            self.texts, self.rows, self.eos = (b"", b"a"), 2, np.array([0])
            self.tokens_of = {b"a": [1]}

    from split_client.grammar.choice import Choices

    with pytest.raises(FormInvalid, match="no tokens for 'ab'"):
        Choices(["a", "ab"], Letters())  # type: ignore[arg-type]
