"""Clients that bring their text: OpenAI's chat, Kobold's binary socket and Kobold's events."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from scripts.bench.clients.prompts import Prompt
from scripts.bench.clients.speaker import SILENCE_SECONDS, ReplyFailed
from scripts.bench.token_streams import BINARY_PATH, EVENTS_PATH

_CHAT_PATH = "/v1/chat/completions"
_DATA = "data: "


class OpenAIClient:
    """Streams of ``/v1/chat/completions``."""

    def __init__(self, url: str, _: random.Random) -> None:
        self._url = url
        self._client = _http()

    async def reply(self, prompt: Prompt, max_tokens: int) -> AsyncGenerator[str, None]:
        """Texts of the chunks. Raises ReplyFailed."""
        request = {
            "messages": list(prompt.messages),
            "max_tokens": max_tokens,
            "temperature": 0,
            "stream": True,
        }
        async for data in _posted(self._client, self._url + _CHAT_PATH, request):
            if data == "[DONE]":
                return
            told = json.loads(data)
            if "error" in told:
                raise ReplyFailed(told["error"]["code"], told["error"]["message"])
            for choice in told["choices"]:
                if text := choice["delta"].get("content"):
                    yield text
        raise ReplyFailed(None, "a stream of OpenAI's without [DONE]")

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


class KoboldEvents:
    """``/api/extra/generate/stream``, with attention in base64 every other time."""

    def __init__(self, url: str, rng: random.Random) -> None:
        self._url, self._rng = url, rng
        self._client = _http()

    async def reply(self, prompt: Prompt, max_tokens: int) -> AsyncGenerator[str, None]:
        """Texts of the tokens. Raises ReplyFailed."""
        request = _kobold(prompt, max_tokens, self._rng.random() < 0.5)
        async for data in _posted(self._client, self._url + EVENTS_PATH, request):
            told = _kobold_told(data)
            if told is None:
                return
            yield told["text"]
        raise ReplyFailed(None, "a stream of Kobold's without 'done'")

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


class KoboldSocket:
    """The binary socket with all attention: one socket for many replies, until it is broken."""

    def __init__(self, url: str, _: random.Random) -> None:
        self._url = "ws" + url.removeprefix("http") + BINARY_PATH
        self._socket: ClientConnection | None = None

    async def reply(self, prompt: Prompt, max_tokens: int) -> AsyncGenerator[str, None]:
        """Texts of the tokens, each once its rows are here. Raises ReplyFailed."""
        ended = False
        try:
            socket = await self._connected()
            await socket.send(json.dumps(_kobold(prompt, max_tokens, attention=True)))
            while (told := _kobold_told(await socket.recv())) is not None:
                rows = await socket.recv()
                if isinstance(rows, str):
                    raise ReplyFailed(None, "a token without its rows")
                yield told["text"]
            ended = True
        except ConnectionClosed as error:
            code = error.rcvd.code if error.rcvd else 1006
            raise ReplyFailed(None, f"the socket was closed with {code}") from error
        except (OSError, InvalidStatus, TimeoutError) as error:
            raise ReplyFailed(None, f"no socket: {error!r}") from error
        finally:
            if not ended:
                self._cut()

    async def close(self) -> None:
        """Close the socket."""
        if self._socket is not None:
            await self._socket.close()

    def _cut(self) -> None:
        if self._socket is not None:
            self._socket.transport.abort()
            self._socket = None

    async def _connected(self) -> ClientConnection:
        if self._socket is None:
            self._socket = await connect(
                self._url, compression=None, max_size=None, proxy=None, ping_interval=None
            )
        return self._socket


def _http() -> httpx.AsyncClient:
    return httpx.AsyncClient(trust_env=False, timeout=SILENCE_SECONDS)


def _kobold(prompt: Prompt, max_tokens: int, attention: bool) -> dict[str, Any]:
    return {
        "input_ids": prompt.ids,
        "max_length": max_tokens,
        "temperature": 0,
        "return_attention": attention,
    }


def _kobold_told(data: str | bytes) -> dict[str, Any] | None:
    """A token's fields, None for the end. Raises ReplyFailed."""
    told: dict[str, Any] = json.loads(data)
    if told["type"] == "error":
        raise ReplyFailed(told["error_code"], told["error"])
    return told if told["type"] == "token" else None


async def _posted(client: httpx.AsyncClient, url: str, request: Any) -> AsyncIterator[str]:
    """The data of server-sent events. Raises ReplyFailed."""
    try:
        async with client.stream("POST", url, json=request) as answer:
            if answer.status_code != httpx.codes.OK:
                raise _refusal(await answer.aread(), answer.status_code)
            async for line in answer.aiter_lines():
                if line.startswith(_DATA):
                    yield line.removeprefix(_DATA)
    except httpx.HTTPError as error:
        raise ReplyFailed(None, repr(error)) from error


def _refusal(body: bytes, status: int) -> ReplyFailed:
    """A refusal in the words of either API."""
    try:
        told = json.loads(body)
    except ValueError:
        return ReplyFailed(None, f"status {status}: {body[:200]!r}")
    if "error_code" in told:
        return ReplyFailed(told["error_code"], told["error"])
    error = told.get("error")
    if isinstance(error, dict) and error.get("code"):
        return ReplyFailed(error["code"], error["message"])
    return ReplyFailed(None, f"status {status}: {body[:200]!r}")
