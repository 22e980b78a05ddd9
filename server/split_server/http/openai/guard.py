"""Reads a request of OpenAI's API, and answers whatever goes wrong with it in its shape."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response

from split_client.errors import ClientError
from split_server.compat.openai.errors import OpenAIError, api_error
from split_server.compat.openai.fields import Fields, parse_body
from split_server.compat.openai.model import ServedModel
from split_server.compat.turns import Turns
from split_server.http.openai.form import OPENAI_FORM, Form
from split_server.http.openai.sink import LiveAnswer, ReaderStalled, Sink, error_answer
from split_server.http.wire.body import Bodies
from split_server.internal_error import internal_error
from split_server.security.principal import principal_of
from split_wire.errors import SplitError

MAX_BODY = 4 << 20
# Parsing more than this would hold up the event loop for milliseconds.
LARGE = 256 * 1024
_T = TypeVar("_T")


class Asked:
    """The request's principal; ``prompt_tokens`` once known, for what is told of an error.

    ``body``: what its principal has under way, which counts until the tokens are known.
    """

    def __init__(self, principal: str) -> None:
        self.principal = principal
        self.prompt_tokens = 0
        self.body = ExitStack()

    def knows(self, prompt_tokens: int) -> None:
        """The texts of the request have become tokens."""
        self.prompt_tokens = prompt_tokens
        self.body.close()


def posted(
    bodies: Bodies,
    served: ServedModel,
    large: Turns,
    parse: Callable[[Fields, ServedModel], _T],
    answer: Callable[[_T, Asked, Sink], Awaitable[None]],
    forms: Callable[[], Form] = lambda: OPENAI_FORM,
) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint that parses a body and sends the answer to it; ``large``: one large body at a
    time, until its tokens are known; ``forms``: that of each answer.
    """

    async def endpoint(request: Request) -> Response:
        form = forms()
        asked = Asked(principal_of(request.scope))
        try:
            with ExitStack() as held:
                body = await bodies.take(request, MAX_BODY, held)
                if len(body) < LARGE:
                    parsed = parse(parse_body(body), served)
                else:
                    await large.take(asked.principal)
                    held.callback(large.give_back)
                    parsed = await asyncio.to_thread(lambda: parse(parse_body(body), served))
                asked.body = held.pop_all()
        except (OpenAIError, SplitError, ClientError) as refusal:
            return error_answer(api_error(refusal, 0), form)
        return guarded(asked, lambda sink: answer(parsed, asked, sink), form)

    return endpoint


def guarded(
    asked: Asked, work: Callable[[Sink], Awaitable[None]], form: Form = OPENAI_FORM
) -> Response:
    """The answer that ``work`` sends, or the error that it raises."""

    async def run(sink: Sink) -> None:
        try:
            await work(sink)
        except ReaderStalled:
            raise
        except (OpenAIError, SplitError, ClientError) as refusal:
            error: OpenAIError | SplitError | ClientError = refusal
        # The boundary of a request: one failure must not be another request's.
        except Exception:  # noqa: BLE001
            error = internal_error()
        else:
            return
        await sink.fail(api_error(error, asked.prompt_tokens))

    return LiveAnswer(run, asked.body.close, form)
