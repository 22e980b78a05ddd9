"""Right answers: held-out questions of the embedded model, whose answers it was trained to know.

Answers are forced token by token. Greedy decoding gives exactly the right answer where, and only
where, every one of its tokens is the likeliest after those before it. Of another model's use they
say nothing; :mod:`split_client.audit.device.use` measures that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.knowledge import PublicModel, chat_ids
from split_client.audit.device.modes import Mode
from split_client.audit.device.prompts import Question
from split_client.audit.session import AllStates
from split_client.model.ends import DeviceEnds


def answered(
    ends: DeviceEnds,
    model: PublicModel,
    session: AllStates,
    mode: Mode,
    question: Question,
    key: bytes,
) -> bool:
    """Whether greedy decoding gives the answer, in a conversation under ``key``.

    Raises TimeUp.
    """
    ids, closing = chat_ids(ends, question.question), ends.manifest.eos_token_ids
    reply = [*ends.tokenizer.encode(question.answer), min(closing, default=0)]
    tokens = ids + reply[:-1]
    rows = mode.rows.conversation(key).rows(tokens, 0, len(tokens), session.dtype)
    states = session.run(rows, 0)[len(ids) - 1 :]
    likeliest = model.log_probabilities(states).argmax(axis=1).tolist()
    # A reply may end with any of the model's closing tokens.
    last = closing or {reply[-1]}
    return likeliest[:-1] == reply[:-1] and likeliest[-1] in last


def accuracy_pairs(answers: Sequence[bool]) -> NDArray[np.float64]:
    """Exact answers, [questions, 2]."""
    return np.array([(exact, 1) for exact in answers], dtype=np.float64)
