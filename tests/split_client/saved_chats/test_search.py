from __future__ import annotations

from pathlib import Path

import pytest

from split_client.chat.conversation import Message
from split_client.saved_chats import search
from split_client.saved_chats.document import SavedConversation
from split_client.saved_chats.folder import ChatFolder
from split_client.saved_chats.search import context, look


@pytest.fixture
def folder(tmp_path: Path) -> ChatFolder:
    folder = ChatFolder(tmp_path)
    for name, asked, answered in (
        ("Trip to Rome", "When is it warm\nin Rome?", "In the straße of the sun, from May on."),
        ("Cooking", "How long do eggs boil?", "Seven minutes; in Rome too."),
    ):
        messages = (Message("system", "S"), Message("user", asked), Message("assistant", answered))
        folder.save(name, SavedConversation("tiny", messages))
    return folder


def found(folder: ChatFolder, *words: str) -> dict[str, str]:
    return {hit.file.name: hit.line for hit in look(folder, words, 10).found}


def test_without_words_all_are_listed_with_their_first_line(folder: ChatFolder) -> None:
    assert found(folder) == {
        "Trip to Rome": "When is it warm",
        "Cooking": "How long do eggs boil?",
    }
    assert {hit.messages for hit in look(folder, (), 10).found} == {3}


def test_names_and_texts_are_searched_without_regard_to_case(folder: ChatFolder) -> None:
    assert found(folder, "ROME") == {
        "Trip to Rome": "…n is it warm in Rome?",
        "Cooking": "…ven minutes; in Rome too.",
    }
    assert found(folder, "strasse") == {"Trip to Rome": "In the straße of the sun, from May on."}
    assert found(folder, "cook") == {"Cooking": "How long do eggs boil?"}


def test_all_words_have_to_be_there_and_together_is_shown_first(folder: ChatFolder) -> None:
    assert set(found(folder, "eggs", "rome")) == {"Cooking"}
    assert found(folder, "eggs", "paris") == {}
    assert found(folder, "in", "rome")["Cooking"].endswith("minutes; in Rome too.")


def test_damaged_files_are_named_and_the_others_found(folder: ChatFolder) -> None:
    (folder.path / "Bad.json").write_text("{")
    seen = look(folder, ("rome",), 10)
    assert len(seen.found) == 2
    assert [(bad.file.name, bad.reason) for bad in seen.damaged] == [("Bad", "it is not JSON")]


def test_what_is_left_out_is_counted(folder: ChatFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    assert look(folder, (), 1).left_out == 1
    monkeypatch.setattr(search, "MOST_BYTES", 10)
    seen = look(folder, (), 10)
    assert (seen.found, seen.left_out) == ([], 2)


@pytest.mark.parametrize(
    ("content", "sought", "shown"),
    [
        ("abc", "b", "abc"),
        ("x" * 50 + "HIT" + "y" * 100, "hit", "…" + "x" * 16 + "HIT" + "y" * 60 + "…"),
        ("ß" * 30 + "hit", "hit", "…" + "ß" * 16 + "hit"),
        ("one\n\n two", "two", "one two"),
    ],
)
def test_a_hit_is_shown_with_what_stands_around_it(content: str, sought: str, shown: str) -> None:
    assert context(content, sought) == shown
