from __future__ import annotations

from typing import Any

import pytest

from split_client.api import ServedModel
from split_client.saved_chats.document import SavedConversation
from split_client.terminal.switching.chosen import gone_line, model_of
from split_client.terminal.switching.listed import Listed, listed, model_line

A, B = "a" * 64, "b" * 64
MODELS = (
    ServedModel("one", True, "loaded", A),
    ServedModel("two", False, "unloaded", B),
    ServedModel("again", False, "unloaded", B),
)


@pytest.mark.parametrize(
    ("served", "manifest", "found"),
    [
        ("two", B, "two"),
        ("again", B, "again"),
        (None, B, "two"),
        ("old name", A, "one"),
        # A newer model of that name.
        ("one", "c" * 64, "one"),
        ("gone", "c" * 64, None),
        (None, None, None),
    ],
)
def test_a_saved_chat_finds_the_model_with_its_ends_or_else_its_name(
    served: str | None, manifest: str | None, found: str | None
) -> None:
    saved = SavedConversation("m", (), served=served, manifest=manifest)
    model = model_of(saved, MODELS)
    assert (None if model is None else model.name) == found


def test_a_model_that_is_gone_is_told_with_those_that_are_there() -> None:
    line = gone_line(SavedConversation("m", (), served="x"), MODELS, "tiny")
    assert line == (
        "the chat was with x, which this server has no more (it has one, two, again); tiny goes on"
    )


def test_only_what_is_loaded_is_asked_for_its_manifest() -> None:
    asked: list[str] = []

    def fetch(model: ServedModel) -> Any:
        asked.append(model.name)

    found = listed(MODELS, [], fetch)
    assert asked == ["one"]
    assert [one.stored for one in found] == [False, False, False]


def test_a_line_names_state_size_and_what_the_device_has() -> None:
    idle = ServedModel("b", False, "loaded", A, "llama", 30, 8192, "bf16", 269_060_552, 125.0)
    assert model_line(Listed(idle, None, True), here=True) == (
        "b: this chat's, loaded, unused for 2 min, llama, 30 layers, 269.1 MB on the server, "
        "stored here"
    )
    bare = ServedModel("c", True, "leaving")
    assert (
        model_line(Listed(bare, None, None)) == "c: the first, about to leave the server's memory"
    )
