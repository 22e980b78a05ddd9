"""Rows with noise: what repeats, what is counted, and when nothing leaves."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from split_client.noise import account as accounts
from split_client.noise.account import Account
from split_client.noise.conversation import NoisedConversation, never_plain
from split_client.noise.errors import (
    BudgetExhausted,
    LedgerDamaged,
    NoiseDtypeChanged,
    NoiseOverflows,
)
from split_client.noise.ledger import Ledger
from split_client.noise.spent import Budget, Kind
from split_privacy.mechanism import RowMechanism, clipped
from tests.split_client.noise.tables import MODEL, VALUES, WIDTH, clean

MECHANISM = RowMechanism(2.0, 3.0, 6.0, WIDTH)
KEY = bytes(range(32))


class Device:
    """A client's account and conversations on one ledger."""

    def __init__(
        self, folder: Path, budget: float | None = None, mechanism: RowMechanism = MECHANISM
    ) -> None:
        self.folder, self.mechanism = folder, mechanism
        self.ledger = Ledger(folder / "ledger.json")
        limit = None if budget is None else Budget(budget, 1e-5)
        self.account = Account(self.ledger, "me", MODEL, Kind.of(mechanism), limit)

    def conversation(self, key: bytes | None = None) -> NoisedConversation:
        folder = self.folder / "releases"
        return NoisedConversation(self.mechanism, clean, MODEL, self.account, folder, key)

    @property
    def counted(self) -> tuple[int, int]:
        """(rows, sendings) that the ledger has, without those recorded ahead."""
        spent = self.account.spent()
        return spent.rows, spent.sendings


@pytest.fixture
def device(tmp_path: Path) -> Device:
    return Device(tmp_path)


def test_rows_have_noise_of_sigma_around_the_clipped_rows(device: Device) -> None:
    tokens = [i % 300 for i in range(2000)]
    noise = device.conversation().rows(tokens, 0, 2000, "f32") - clipped(VALUES, 3.0)[tokens]
    assert noise.std() == pytest.approx(2.0, rel=5 / math.sqrt(2 * noise.size))
    assert abs(noise.mean()) < 5 * 2.0 / math.sqrt(noise.size)


def test_a_resend_repeats_its_bytes_and_spends_nothing(device: Device) -> None:
    conversation, tokens = device.conversation(), [5, 6, 7, 8]
    first = conversation.rows(tokens, 0, 4, "bf16")
    assert device.counted == (4, 1)
    assert (conversation.rows(tokens, 0, 4, "bf16") == first).all()
    assert (conversation.rows(tokens, 2, 3, "bf16") == first[2:3]).all()
    longer = conversation.rows([*tokens, 9], 0, 5, "bf16")
    assert (longer[:4] == first).all()
    assert device.counted == (5, 1)


def test_with_a_key_that_is_kept_that_holds_across_a_restart(tmp_path: Path) -> None:
    before = Device(tmp_path)
    first = before.conversation(KEY).rows([5, 6, 7], 0, 3, "f32")
    before.account.close()
    after = Device(tmp_path)
    assert (after.conversation(KEY).rows([5, 6, 7], 0, 3, "f32") == first).all()
    assert after.counted == (3, 1)


def test_a_key_that_is_kept_late_keeps_what_was_sent_before(tmp_path: Path) -> None:
    before = Device(tmp_path)
    conversation = before.conversation()
    first = conversation.rows([5, 6, 7], 0, 3, "f32")
    assert not (tmp_path / "releases").exists()
    key = conversation.key()
    conversation.rows([5, 6, 7, 8], 3, 4, "f32")
    before.account.close()
    after = Device(tmp_path)
    again = after.conversation(key).rows([5, 6, 7, 8], 0, 4, "f32")
    assert (again[:3] == first).all()
    assert after.counted == (4, 1)


def test_other_conversations_have_other_noise_and_count_again(device: Device) -> None:
    first = device.conversation().rows([5, 6], 0, 2, "f32")
    second = device.conversation().rows([5, 6], 0, 2, "f32")
    assert not (first == second).any()
    assert device.counted == (4, 2)


def test_another_codec_or_sigma_has_other_noise_and_counts_again(tmp_path: Path) -> None:
    device = Device(tmp_path)
    wide = device.conversation(KEY).rows([5], 0, 1, "f32")
    narrow = device.conversation(KEY).rows([5], 0, 1, "bf16")
    device.account.close()
    other = Device(tmp_path, mechanism=RowMechanism(2.0000001, 3.0, 6.0, WIDTH))
    near = other.conversation(KEY).rows([5], 0, 1, "f32")
    noises = [row - clipped(VALUES, 3.0)[5] for row in (wide, narrow, near)]
    for left, right in ((0, 1), (0, 2), (1, 2)):
        assert np.abs(noises[left] - noises[right]).min() > 1e-6
    assert other.counted == (3, 3)


def test_a_text_goes_in_one_dtype_and_another_is_refused_before_anything_is_counted(
    device: Device,
) -> None:
    """In another dtype the same rows would have independent noise, to be averaged."""
    conversation = device.conversation()
    first = conversation.rows([5, 6], 0, 2, "f32")
    with pytest.raises(NoiseDtypeChanged, match="bf16"):
        conversation.rows([5, 6, 7], 0, 3, "bf16")
    assert device.counted == (2, 1)
    assert (conversation.rows([5, 6], 0, 2, "f32") == first).all()
    assert device.counted == (2, 1)


def test_text_behind_a_change_has_other_noise_even_where_it_is_the_same(device: Device) -> None:
    """The same token at the same place behind another text must not show that it is the same."""
    conversation = device.conversation()
    first = conversation.rows([5, 6, 7, 8], 0, 4, "f32")
    edited = conversation.rows([5, 9, 7, 8], 1, 4, "f32")
    assert not (first[2:] == edited[1:]).any()
    assert device.counted == (7, 2)
    back = conversation.rows([5, 6, 7, 8], 1, 4, "f32")
    assert (back == first[1:]).all()
    assert device.counted == (7, 2)


def test_edits_of_one_conversation_are_averaged_as_other_conversations_are(device: Device) -> None:
    """What docs/privacy.md says of edits: the mean over 16 beginnings tells the tokens."""
    message, edited = [11, 22, 33, 44, 55, 66], device.conversation(KEY)
    others = [device.conversation(bytes([number]) * 32) for number in range(16)]
    means = []
    for conversations in ([edited] * 16, others):
        rows = [
            conversation.rows([100 + beginning, *message], 1, 7, "f32")
            for beginning, conversation in enumerate(conversations)
        ]
        means.append(np.mean(rows, axis=0))
    assert device.counted == (2 * 16 * 6, 2 * 16)
    for mean in means:
        distances = np.linalg.norm(mean[:, None] - clipped(VALUES, 3.0)[None], axis=2)
        assert distances.argmin(axis=1).tolist() == message


def test_a_look_at_a_beginning_is_no_change_of_the_text(device: Device) -> None:
    conversation = device.conversation()
    conversation.rows([5, 6, 7], 0, 3, "f32")
    conversation.rows([5, 6], 1, 2, "f32")
    conversation.rows([5, 6, 7, 8], 3, 4, "f32")
    assert device.counted == (4, 1)


def test_a_prompt_in_parts_is_recorded_whole_before_its_first_part(device: Device) -> None:
    tokens = list(range(100))
    conversation = device.conversation()
    part = conversation.rows(tokens, 0, 10, "f32")
    assert device.counted == (100, 1)
    assert (conversation.rows(tokens, 0, 100, "f32")[:10] == part).all()
    assert device.counted == (100, 1)


def test_nothing_leaves_beyond_the_budget_and_what_is_left_can_be_used(tmp_path: Path) -> None:
    """Of sigma 2 and distance 6, epsilon 100 allows 9 rows."""
    device = Device(tmp_path, budget=100.0)
    room = Budget(100.0, 1e-5).room(device.account.spent(), device.account.kind, 1000)
    conversation, tokens = device.conversation(), list(range(20))
    with pytest.raises(BudgetExhausted) as caught:
        conversation.rows(tokens, 0, 20, "f32")
    assert (caught.value.rows, caught.value.room) == (20, room)
    assert device.counted == (0, 0)
    for count in range(1, room + 1):
        conversation.rows(tokens[:count], count - 1, count, "f32")
    assert device.counted == (room, 1)
    with pytest.raises(BudgetExhausted):
        conversation.rows(tokens[: room + 1], room, room + 1, "f32")
    assert device.counted == (room, 1)
    # What was released may be sent again.
    conversation.rows(tokens[:room], 0, room, "f32")
    device.account.close()
    assert device.ledger.spent("me").rows == room


def test_rows_of_a_reply_are_on_disk_before_they_leave_and_seldom_waited_for(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes = 0
    charge = device.ledger.charge

    def counted(*arguments: object, **options: object) -> int:
        nonlocal writes
        writes += 1
        return charge(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(device.ledger, "charge", counted)
    conversation, tokens = device.conversation(), [1, 2, 3]
    conversation.rows(tokens, 0, 3, "f32")
    for token in range(100):
        tokens.append(token)
        conversation.rows(tokens, len(tokens) - 1, len(tokens), "f32")
        assert Ledger(device.ledger.path).spent("me").rows >= len(tokens)
    assert writes == 1 + math.ceil(100 / (1 + accounts.ROWS_AHEAD))
    device.account.close()
    device.account.close()
    assert device.ledger.spent("me").rows == 103


def test_a_process_that_dies_leaves_more_counted_than_sent(tmp_path: Path) -> None:
    dying = Device(tmp_path)
    dying.conversation().rows([1], 0, 1, "f32")
    assert Device(tmp_path).counted == (1 + accounts.ROWS_AHEAD, 1)


def test_a_ledger_that_fails_lets_nothing_out(device: Device) -> None:
    conversation = device.conversation()
    conversation.rows([1, 2], 0, 2, "f32")
    device.ledger.path.write_text("{")
    with pytest.raises(LedgerDamaged):
        conversation.rows([1, 2, 3, 4], 2, 4, "f32")
    assert conversation.spent.rows == 2


def test_a_file_of_releases_that_was_cut_counts_again_and_goes_on(tmp_path: Path) -> None:
    device = Device(tmp_path)
    device.conversation(KEY).rows([5, 6, 7], 0, 3, "f32")
    (file,) = (tmp_path / "releases").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_bytes(file.read_bytes()[:-3])
    device.conversation(KEY).rows([5, 6, 7], 0, 3, "f32")
    assert device.counted == (4, 2)
    assert file.stat().st_size == 3 * 16
    device.conversation(KEY).rows([5, 6, 7], 0, 3, "f32")
    assert device.counted == (4, 2)


def test_noise_that_a_dtype_cannot_hold_is_told_before_anything_is_counted(tmp_path: Path) -> None:
    device = Device(tmp_path, mechanism=RowMechanism(5000.0, 3.0, 6.0, WIDTH))
    with pytest.raises(NoiseOverflows, match="f16"):
        device.conversation().rows([1], 0, 1, "f16")
    assert device.counted == (0, 0)
    assert np.isfinite(device.conversation().rows([1], 0, 1, "bf16")).all()


def test_there_is_no_way_to_plain_rows() -> None:
    with pytest.raises(AssertionError):
        never_plain([1])
