"""A grammar's own process: it compiles one form, and may steer one reply.

It was forked from the process that holds the vocabulary, speaks with the server over a socket of
its own, and ends with that. The system kills it when its allowance is spent.
"""

from __future__ import annotations

import json
import socket
from typing import Any

import numpy as np

from split_client.grammar.compiling import FormConstraint, compiled_form
from split_client.grammar.errors import GrammarInvalid
from split_client.grammar.form import Form, form_in
from split_client.grammar.vocabulary import Vocabulary
from split_server.compat.grammars.allowance import Allowance, bound_memory, make_way
from split_server.compat.grammars.limits import GrammarLimits
from split_server.compat.grammars.messages import (
    MASK,
    MOST_FORCED,
    document,
    pack,
    packed,
    read,
)


def attend(source: socket.socket, vocabulary: Vocabulary, limits: GrammarLimits) -> None:
    """Answer whoever is at the other end of ``source`` until it is closed. Raises Torn, OSError."""
    bound_memory(limits.memory)
    source.sendall(packed({"alive": True}))
    body = read(source)
    if body is None:
        return
    asked = document(body)
    allowance = _allowance(bool(asked.get("reply")), limits)
    constraint = _compiled(source, vocabulary, form_in(json.loads(asked["form"])))
    if constraint is None:
        return
    allowance.end()
    while (body := read(source)) is not None:
        allowance.begin(limits.step_seconds)
        source.sendall(_answer(constraint, document(body), allowance, limits))
        allowance.end()


def _allowance(reply: bool, limits: GrammarLimits) -> Allowance:
    if reply:
        allowance = Allowance(limits.reply_cpu, limits.most_cpu)
        allowance.begin(limits.step_seconds)
    else:
        make_way()
        allowance = Allowance(limits.compile_cpu, limits.compile_cpu)
        allowance.begin(limits.compile_seconds)
    return allowance


def _compiled(source: socket.socket, vocabulary: Vocabulary, form: Form) -> FormConstraint | None:
    """The state of a reply, None for a form that was refused."""
    try:
        constraint = compiled_form(vocabulary, form)()
    except GrammarInvalid as refusal:
        source.sendall(packed(_refused(refusal)))
        return None
    source.sendall(packed({"compiled": True}))
    return constraint


def _answer(
    constraint: FormConstraint, asked: dict[str, Any], allowance: Allowance, limits: GrammarLimits
) -> bytes:
    match asked:
        case {"allowed": int(remaining)}:
            try:
                mask = constraint.allowed(remaining)
            except GrammarInvalid as refusal:
                return packed(_refused(refusal))
            return pack(MASK + np.packbits(mask, bitorder="little").tobytes())
        case {"accept": int(token)}:
            allowance.earn(limits.token_cpu)
            constraint.accept(token)
            return packed({"finished": constraint.finished})
        case {"forced": int(remaining)}:
            return packed({"tokens": constraint.forced(min(remaining, MOST_FORCED))})
        case {"permitted": list(tokens), "remaining": int(remaining)}:
            return packed({"count": constraint.permitted(tokens[:MOST_FORCED], remaining)})
    return packed({"refused": "a message that is not known"})


def _refused(refusal: GrammarInvalid) -> dict[str, Any]:
    return {"refused": refusal.reason, "code": refusal.code}
