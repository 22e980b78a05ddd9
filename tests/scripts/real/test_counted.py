"""The device's loop over the engine in this process, with counted times."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from scripts.real.models.counted import Counted, CountedDevice
from scripts.real.models.ours import Middle
from split_client.chat.drafting import NO_DRAFTS, Drafting
from tests import oracle

PROMPTS = ([5], list(range(5, 12)), [7, 8, 9] * 10)
MOST = 30


class Letters:
    """A decoder."""

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        return "a" * len(ids)


@pytest.fixture(scope="module")
def table(tiny_path: Path) -> torch.Tensor:
    """Embedding and head, which are tied."""
    weights: torch.Tensor = oracle.model(tiny_path).get_input_embeddings().weight
    return weights.detach()


def replied(path: Path, table: torch.Tensor, drafting: Drafting) -> list[Counted]:
    # No token ends these replies.
    device = CountedDevice(Middle(path, "float32"), table, Letters(), -1, drafting, 200)
    return [device.reply(prompt, MOST) for prompt in PROMPTS]


@pytest.mark.parametrize("drafts", ["off", "auto", 7])
def test_replies_are_those_of_hugging_face(
    tiny_path: Path, table: torch.Tensor, drafts: str
) -> None:
    drafting = NO_DRAFTS if drafts == "off" else Drafting(drafts, "chat")  # type: ignore[arg-type]
    made = replied(tiny_path, table, drafting)
    assert [one.ids for one in made] == [oracle.greedy(tiny_path, ids, MOST) for ids in PROMPTS]
    for one in made:
        assert one.steps + one.accepted == MOST
        assert one.accepted <= one.drafted
        assert not any(one.forced)
    assert any(one.drafted for one in made) == (drafts != "off")


def test_the_same_replies_take_the_same_steps_whatever_the_machine_does(
    tiny_path: Path, table: torch.Tensor
) -> None:
    one, again = (replied(tiny_path, table, Drafting("auto", "chat")) for _ in range(2))
    assert [(a.steps, a.drafted) for a in one] == [(b.steps, b.drafted) for b in again]
