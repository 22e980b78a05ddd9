"""Public texts: shipped ones, and lists of packages."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from random import Random

import pytest

from split_client.audit.device.prompts import built_in_prompts
from split_client.audit.texts import packages, sources
from split_client.audit.texts.phrases import Filler, lists, phrases


def filler(seed: int) -> Filler:
    return Filler(lists(), Random(seed))  # noqa: S311 - no secret


def test_every_slot_is_filled_and_draws_repeat() -> None:
    made = [[filler(4).fill(one) for one in phrases()] for _ in range(2)]
    assert made[0] == made[1]
    assert len(made[0]) > 300
    assert not [text for text in made[0] if re.search(r"[{}]", text) or not text.strip()]


def test_texts_are_none_of_the_messages_that_are_audited() -> None:
    messages = set(sources.public_texts().messages)
    assert len(messages) > 5000
    assert not messages & {prompt.text for prompt in built_in_prompts()}


def test_lists_of_packages_are_read_where_they_are_there() -> None:
    words = packages.word_counts(500)
    assert words[0][0] == "the"
    assert ("I", dict(words)["I"]) in words
    assert [count for _, count in words] == sorted((count for _, count in words), reverse=True)
    pairs = packages.pair_counts(1000)
    assert ("of", "the") in {pair[:2] for pair in pairs}
    names = packages.census_names(50)
    assert "Smith" in names["last"]
    assert {"James", "Mary"} <= set(names["first"])


def test_without_the_packages_the_shipped_texts_are_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(package: str) -> Path:
        if package in ("names", "wordsegment"):
            raise ModuleNotFoundError(package)
        return resources.files(package)  # type: ignore[return-value]

    monkeypatch.setattr(packages, "files", missing)
    texts = sources.public_texts()
    assert texts.pairs == ()
    assert {"Kenji", "Lisbon"} <= {word for word, _ in texts.words}
    assert "between" not in dict(texts.words)
    assert len(texts.messages) > 5000


def test_lines_that_are_no_counts_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "unigrams.txt").write_text("the\t5\nnothing\nworse\tno\n\t3\nminus\t-1\nof\t4\n")
    (tmp_path / "dist.all.last").write_text("SMITH 1.0 1.0 1\n\nO'BRIEN 1 1 2\nLEE 0.2 1 3\n")
    monkeypatch.setattr(packages, "files", lambda _: tmp_path)
    assert packages.word_counts(10) == [("the", 5.0), ("of", 4.0)]
    assert packages.census_names(10) == {"last": ["Smith", "Lee"]}
