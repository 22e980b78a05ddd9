"""One conversation in which what stands before the message is edited."""

from __future__ import annotations

import numpy as np

from split_client.audit.attacks.edits import behind, picked
from split_client.audit.attacks.knowledge import Mechanism, PublicModel, chat_ids
from split_client.audit.attacks.observed import observe
from split_client.audit.device.modes import noised_mode
from split_client.audit.device.rows import audit_key
from split_client.audit.device.unanswered import sent
from split_client.model.ends import DeviceEnds
from split_privacy.mechanism import RowMechanism

SECRET = (44, 45, 46)


def edited(ends: DeviceEnds, public: PublicModel, sigma: float) -> list[np.ndarray]:
    mode = noised_mode(ends, RowMechanism(sigma, 3.4, 4.82, ends.manifest.hidden_size))
    texts = [(*variant, *SECRET, *public.suffix) for variant in public.variants]
    recording = sent(public, texts, mode.rows.conversation(audit_key(0, "edits")), "f32")
    return observe(recording.exchanges).texts


def test_variants_are_as_long_as_each_other_and_stand_before_the_message(
    ends: DeviceEnds, public: PublicModel
) -> None:
    assert len(public.variants) == 16
    assert len({len(variant) for variant in public.variants}) == 1
    whole = chat_ids(ends, "Who are you?", [{"role": "system", "content": "Conversation 12."}])
    secret = public.tokens("Who are you?")
    assert whole == [*public.variants[1], *secret, *public.suffix]


def test_every_edit_sends_the_message_anew_with_other_noise(
    ends: DeviceEnds, public: PublicModel
) -> None:
    texts = edited(ends, public, 0.01)
    assert len(texts) == 16
    rows = behind(texts, public)
    assert {part.shape for part in rows} == {(len(SECRET), public.hidden)}
    assert len({part.tobytes() for part in rows}) == 16
    for part in rows:
        np.testing.assert_allclose(part, public.rows(SECRET), atol=0.06)
    # What stands before the edit is not sent again.
    assert len({text[:2].tobytes() for text in texts}) == 1


def test_a_variant_is_told_by_its_rows_as_long_as_noise_lets_it(
    ends: DeviceEnds, public: PublicModel
) -> None:
    quiet, loud = (edited(ends, public, sigma) for sigma in (0.05, 50.0))
    assert [picked(text, public, Mechanism(0.05, 3.4)) for text in quiet] == list(range(16))
    assert sum(picked(text, public, Mechanism(50.0, 3.4)) == n for n, text in enumerate(loud)) < 8
