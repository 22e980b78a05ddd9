"""tests/vectors/context.json: units, what travels, and what is pruned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scripts.vectors.run import build, render
from split_client.chat.brightness.dimmest import dimmest
from split_client.chat.context.amending import still_dropped
from split_client.chat.context.pruning import candidates, pruned, target_of
from split_client.chat.context.travelling import travelling
from split_client.chat.context.units import units_of
from split_client.chat.message import Message
from split_client.chat.reading import message_in

VECTORS = json.loads((Path(__file__).parents[3] / "vectors" / "context.json").read_text("ascii"))


def test_the_file_is_what_is_built() -> None:
    assert json.loads(render(build("context"))) == VECTORS


def chat_of(documents: list[dict[str, Any]]) -> tuple[Message, ...]:
    read = [message_in(each) for each in documents]
    assert not [each for each in read if isinstance(each, str)]
    return tuple(each for each in read if isinstance(each, Message))


def characters(chat: tuple[Message, ...]) -> int:
    return sum(len(message.content) for message in travelling(chat))


@pytest.mark.parametrize("case", VECTORS["units"], ids=lambda case: str(case["name"]))
def test_a_message_has_these_units(case: dict[str, Any]) -> None:
    units = units_of(Message(case["role"], case["content"]))
    assert [[unit.start, unit.stop, unit.kind] for unit in units] == case["units"]
    assert "".join(case["content"][u.start : u.stop] for u in units) == case["content"]


@pytest.mark.parametrize("case", VECTORS["travelling"], ids=lambda case: str(case["name"]))
def test_this_of_a_chat_travels(case: dict[str, Any]) -> None:
    assert [each.as_dict() for each in travelling(chat_of(case["chat"]))] == case["sent"]


@pytest.mark.parametrize("case", VECTORS["amended"], ids=lambda case: str(case["name"]))
def test_so_much_stays_left_out_of_a_text_that_is_changed(case: dict[str, Any]) -> None:
    dropped = [(start, stop) for start, stop in case["dropped"]]
    assert [[*each] for each in still_dropped(dropped, case["before"], case["after"])] == (
        case["still"]
    )


@pytest.mark.parametrize("case", VECTORS["pruning"], ids=lambda case: str(case["name"]))
def test_these_units_go_first(case: dict[str, Any]) -> None:
    chat = chat_of(case["chat"])
    found = pruned(chat, candidates(chat), characters, len, case["target"], characters(chat))
    assert [message.as_dict() for message in found.chat] == case["pruned"]
    assert (found.units, found.tokens) == (case["units"], case["tokens"])


@pytest.mark.parametrize("case", VECTORS["dimmest"], ids=lambda case: str(case["name"]))
def test_the_dimmest_units_go_first(case: dict[str, Any]) -> None:
    chat = chat_of(case["chat"])
    order = dimmest(chat, candidates(chat))
    assert [[index, unit.start, unit.stop] for index, unit in order] == case["order"]
    found = pruned(chat, order, characters, len, case["target"], characters(chat))
    assert [each.as_dict() for each in found.chat] == case["pruned"]
    assert (found.units, found.tokens) == (case["units"], case["tokens"])


@pytest.mark.parametrize("case", VECTORS["targets"], ids=lambda case: str(case["budget"]))
def test_so_much_of_a_budget_is_left(case: dict[str, int]) -> None:
    assert target_of(case["budget"]) == case["target"]
