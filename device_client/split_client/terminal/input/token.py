"""The bearer token of a command: the one that was given, or one that a person types."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable
from typing import TypeVar

from split_client.errors import ClientError, ServerRefused, TokenInvalid
from split_client.terminal.output.screen import Screen
from split_client.transport.reach.causes import token_refused
from split_wire.errors import Unauthorized

T = TypeVar("T")


def with_token(
    given: str | None,
    screen: Screen,
    attempt: Callable[[str | None], T],
    *,
    paired: bool = False,
) -> T:
    """The result of ``attempt`` for ``given``, or for tokens that are typed until it accepts one.

    ``paired``: the given one is that of this device's pairing, which nobody types. Raises what
    ``attempt`` raises.
    """
    token = given
    while True:
        try:
            return attempt(token)
        except (ServerRefused, TokenInvalid) as error:
            if error.code not in (Unauthorized.code, TokenInvalid.code):
                raise
            refusal = _refusal(token, paired=paired) if error.code == Unauthorized.code else error
            typed = None if given or not sys.stdin.isatty() else _ask(token, refusal, screen)
            if typed is None:
                raise refusal from None
            token = typed


def _ask(refused: str | None, refusal: ClientError, screen: Screen) -> str | None:
    if refused:
        screen.note(f"{refusal}; Enter alone gives up")
    try:
        return getpass.getpass("Token: ").strip() or None
    except EOFError:
        return None


def _refusal(token: str | None, *, paired: bool) -> ServerRefused:
    cause = token_refused(bool(token), paired=paired)
    return ServerRefused(Unauthorized.code, f"{cause.message}; {cause.advice}")
