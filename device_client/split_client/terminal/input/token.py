"""The bearer token of a command: the one that was given, or one that a person types."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable
from typing import TypeVar

from split_client.errors import ClientError, ServerRefused, TokenInvalid
from split_client.terminal.output.screen import Screen
from split_wire.errors import Unauthorized

T = TypeVar("T")


def with_token(given: str | None, screen: Screen, attempt: Callable[[str | None], T]) -> T:
    """The result of ``attempt`` for ``given``, or for tokens that are typed until it accepts one.

    Raises what ``attempt`` raises.
    """
    token = given
    while True:
        try:
            return attempt(token)
        except (ServerRefused, TokenInvalid) as error:
            if error.code not in (Unauthorized.code, TokenInvalid.code):
                raise
            refusal = _refusal(token) if error.code == Unauthorized.code else error
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


def _refusal(token: str | None) -> ServerRefused:
    text = (
        "the server refuses this token: compare it with the one that the server was started with"
        if token
        else "this server asks for a token: --token, or SPLIT_CLIENT_TOKEN"
    )
    return ServerRefused(Unauthorized.code, text)
