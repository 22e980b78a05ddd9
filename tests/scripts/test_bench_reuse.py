"""Benchmarks of reuse: rounds end in time, how two kinds of times are told apart, what is read."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer

from scripts.bench.inputs import embedding_rows
from scripts.bench.reuse.hostile import auc
from scripts.bench.reuse.pages import Page, parsed, parser, rounds
from scripts.bench.reuse.sources import Source
from scripts.real.models.served import template_ids
from scripts.real.texts.conversations import conversations, read, turns
from split_server.checkpoint.folder import EMBEDDED


def test_rounds_end_in_time_but_not_before_the_least() -> None:
    clock = itertools.count(step=10.0)
    assert list(rounds(100, seconds=25.0, least=2, clock=lambda: next(clock))) == [0, 1, 2, 3]
    late = itertools.count(step=1000.0)
    assert list(rounds(100, seconds=25.0, least=5, clock=lambda: next(late))) == [0, 1, 2, 3, 4]
    assert list(rounds(3, seconds=1e9)) == [0, 1, 2]


def test_the_quick_form_takes_what_is_given_before_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.argv", ["bench", "--quick", "--dtype", "bfloat16"])
    made = parser("A benchmark.", seconds=99.0)
    made.add_argument("--pairs", type=int, default=40)
    options = parsed(made, {"pairs": 4})
    assert (options.shape, options.dtype, options.pairs) == ("s", "bfloat16", 4)
    assert options.seconds < 99.0


def test_a_page_is_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = Page("A title", "float32")
    page.add("| a |\n")
    page.end(tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text("utf-8")
    assert text.startswith("### A title\n")
    assert "commit" in text
    assert text.rstrip().endswith("| a |")
    assert capsys.readouterr().out.strip() == text.strip()


@pytest.mark.parametrize(
    ("known", "absent", "area"),
    [
        ([1.0, 2.0], [3.0, 4.0], 1.0),
        ([3.0, 4.0], [1.0, 2.0], 0.0),
        ([1.0, 1.0], [1.0, 1.0], 0.5),
        ([1.0, 3.0], [2.0, 4.0], 0.75),
    ],
)
def test_the_area_is_the_chance_that_what_is_known_comes_sooner(
    known: list[float], absent: list[float], area: float
) -> None:
    assert auc(known, absent) == area


def test_what_a_source_has_published_or_kept_is_taken_in_again() -> None:
    source = Source(EMBEDDED, "float32")
    try:
        rows = torch.from_numpy(0.02 * embedding_rows(50, 192, seed=1))
        first, later, last = source.session(), source.session(), source.session()
        states = source.computed(first, rows[:40])
        assert source.taken_in(later, rows) == 32
        source.keep(first)
        assert source.taken_in(last, rows[:41]) == 40 - 40 % 16
        again = source.computed(later, rows[32:40])
        assert (again - states[32:40]).abs().max() < 1e-3
    finally:
        source.close()


def test_conversations_have_turns_that_go_on_from_each_other() -> None:
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED)
    for chat in conversations():
        every = turns(chat)
        assert every[-1] == chat
        ids = [template_ids(tokenizer, turn) for turn in every]
        assert all(len(one) < len(more) for one, more in itertools.pairwise(ids))


def test_conversations_of_a_file_are_read_and_others_refused(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "Hello"}]
    file = tmp_path / "chats.jsonl"
    lines = (json.dumps(said), "", json.dumps({"name": "x", "messages": said}))
    file.write_text("\n".join(lines), "utf-8")
    assert read(file) == [said, said]
    file.write_text(json.dumps([{"role": "user"}]), "utf-8")
    with pytest.raises(ValueError, match="line 1"):
        read(file)
