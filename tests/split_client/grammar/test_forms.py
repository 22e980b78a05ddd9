"""Forms of a model: compiled once, on trial first, within limits; and forms as values."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from split_client.confined.process import ConfinedProcess
from split_client.grammar import trial
from split_client.grammar.errors import (
    FormInvalid,
    FormTooCostly,
    GrammarInvalid,
    TokenizerUnreadable,
)
from split_client.grammar.form import (
    Choice,
    Form,
    JsonObject,
    JsonSchema,
    Regex,
    checked_form,
    document_of,
    form_in,
    form_of,
    grammar_form,
)
from split_client.grammar.forms import Forms, Gbnf, Lark
from split_client.grammar.keywords import MOST_BYTES
from split_client.grammar.schema import checked
from split_client.grammar.trial import Trial, trial_process
from tests.checkpoints import tiny_tokenizer

EOS = frozenset({0, 2})
ROWS = 325
# Passes the checks of a schema, and costs seconds and gigabytes.
COSTLY = {
    "type": "integer",
    "allOf": [{"anyOf": [{"multipleOf": 8633}]}, {"anyOf": [{"multipleOf": 8317}]}],
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tiny_tokenizer(Path(tmp_path_factory.mktemp("tokenizer"))).to_str())


def test_a_form_is_compiled_once_and_gives_each_reply_a_state_of_its_own(source: str) -> None:
    reads = list[int]()
    forms = Forms(lambda: (reads.append(1), source)[1], ROWS, EOS)
    make = forms.constraint(Regex("[ab]c"))
    assert forms.constraint(Regex("[ab]c")) is make
    assert len(reads) == 1
    first, second = make(), make()
    first.accept(int(first.allowed(9).argmax()))
    assert first.forced(9)
    assert not second.forced(9)


def test_a_tokenizer_that_the_library_cannot_read_is_told(source: str) -> None:
    with pytest.raises(TokenizerUnreadable, match="use another model"):
        Forms(lambda: "{}", ROWS, EOS).constraint(JsonObject())


@pytest.mark.parametrize("limits", [(0.2, trial.MAX_MEMORY), (60.0, 420 << 20)], ids=str)
def test_a_form_that_costs_too_much_ends_its_process_and_not_this_one(
    source: str, limits: tuple[float, int]
) -> None:
    tried = Trial((source, ROWS, EOS), JsonSchema.of(COSTLY), lambda: trial_process(*limits))
    with pytest.raises(FormTooCostly, match="simpler"):
        tried.require_passed()


def test_forms_ask_for_a_trial_of_what_is_written_and_none_of_a_choice(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = list[Any]()
    whole = ConfinedProcess.start

    def start(process: ConfinedProcess) -> None:
        started.append(process)
        whole(process)

    monkeypatch.setattr(ConfinedProcess, "start", start)
    forms = Forms(lambda: source, ROWS, EOS)
    forms.constraint(Choice(("a", "b")))
    forms.constraint(JsonObject())
    assert not started
    forms.constraint(Lark('start: "a"'))
    assert started
    assert not any(process.running for process in started)


def test_the_process_of_a_trial_says_no_more_than_its_verdict() -> None:
    done = subprocess.run(
        [sys.executable, "-m", trial.__name__, str(trial.MAX_MEMORY), "5"],
        input=b"",
        capture_output=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == (b"", b"")


@pytest.mark.parametrize(
    "form",
    [
        JsonSchema('{"type": "null"}'),
        JsonObject(),
        Regex("a"),
        Lark("start: /a/"),
        Gbnf('root ::= "a"'),
        Choice(("a", "ü")),
    ],
)
def test_a_form_survives_its_way_to_another_process(form: Form) -> None:
    assert form_in(document_of(form)) == form
    assert form_of(form) is form


def test_what_another_process_says_is_no_form_without_a_known_kind() -> None:
    for wrong in ({}, {"kind": "xml", "text": ""}, {"kind": "choice"}, {"kind": "regex"}):
        with pytest.raises(FormInvalid):
            form_in(wrong)


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        (Regex("a" * (MOST_BYTES + 1)), "bytes"),
        (Lark("ü" * MOST_BYTES), "bytes"),
        (Gbnf(""), "empty"),
        (Choice(("a", "")), "empty"),
        (Choice(()), "at least one"),
        (Choice(tuple(map(str, range(5_000)))), "more than 4096"),
        (Choice(("\ud800",)), "surrogate"),
        (JsonSchema("[" * 200_000), "JSON"),
        (JsonSchema('{"type":\n "string",}'), "line 2, column 11"),
        (JsonSchema("x" * (MOST_BYTES + 1)), "bytes"),
    ],
)
def test_forms_outside_of_the_limits_are_refused_in_one_line(form: Form, reason: str) -> None:
    with pytest.raises(GrammarInvalid, match=reason) as refusal:
        checked_form(form) if not isinstance(form, JsonSchema) else form.schema
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


def test_a_schema_with_half_a_character_is_refused_by_what_is_wrong_with_it() -> None:
    with pytest.raises(GrammarInvalid, match="surrogate"):
        checked({"const": "\udfff"})


def test_a_grammar_is_told_by_its_content() -> None:
    assert isinstance(grammar_form('// a comment\nstart: "a"'), Lark)
    assert isinstance(grammar_form('?start : "a"'), Lark)
    assert isinstance(grammar_form('%llguidance {}\nstart: "a"'), Lark)
    assert isinstance(grammar_form('root ::= "start: a"\nstart ::= "b"'), Gbnf)


def test_texts_of_a_choice_may_come_as_a_list(source: str) -> None:
    forms = Forms(lambda: source, ROWS, EOS)
    listed = Choice(["a", "b"])  # type: ignore[arg-type]
    assert listed == Choice(("a", "b"))
    assert forms.constraint(listed) is forms.constraint(Choice(("a", "b")))
