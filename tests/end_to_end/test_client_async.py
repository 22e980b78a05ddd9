"""The client for event loops against the real server, and the programs of its page."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from split_client import AsyncSplitClient, SamplingParams, SplitClient
from split_client.errors import MessageInvalid, ServerUnreachable
from split_client.transport.channel import Patience
from tests.server_process import RunningServer, running_server
from tests.split_client.servers import unused_endpoint

QUESTION = "What is split inference?"
PAGE = Path(__file__).parents[2] / "docs" / "python.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def answer(server: RunningServer) -> str:
    with SplitClient(server.url) as client:
        return client.chat(QUESTION, SamplingParams(), max_tokens=12).text


def test_a_stop_that_is_one_text_ends_the_reply_before_it(
    server: RunningServer, answer: str
) -> None:
    word = answer.split()[3]
    with SplitClient(server.url) as client:
        cut = client.chat(QUESTION, temperature=0, stop=word).read()
        chat = client.conversation(temperature=0, stop=word)
        assert chat.send(QUESTION).read() == cut == answer.partition(word)[0]


def test_sampling_words_are_keywords(server: RunningServer, answer: str) -> None:
    with SplitClient(server.url) as client:
        messages = [{"role": "user", "content": QUESTION}]
        assert client.chat(messages, temperature=0, max_tokens=12).text == answer
        drawn = [client.generate("The", temperature=2, seed=7, max_tokens=8).text for _ in range(2)]
        assert drawn[0] == drawn[1]
        with pytest.raises(MessageInvalid, match="'bot'"):
            client.chat([{"role": "bot", "content": "x"}])


async def read(client: AsyncSplitClient, question: str) -> str:
    return "".join([piece async for piece in client.chat(question, temperature=0, max_tokens=12)])


def test_replies_made_at_a_time_are_those_made_alone(server: RunningServer, answer: str) -> None:
    async def program() -> None:
        async with AsyncSplitClient(server.url) as client:
            asked = [QUESTION, "What is a sampler?", QUESTION]
            together = await asyncio.gather(*(read(client, question) for question in asked))
            alone = [await read(client, question) for question in asked]
            assert together == alone
            assert together[0] == together[2] == answer

    asyncio.run(program())


def test_a_reply_may_be_left_and_another_made_inside_of_it(
    server: RunningServer, answer: str
) -> None:
    async def program() -> None:
        async with AsyncSplitClient(server.url) as client:
            outer = client.chat(QUESTION, temperature=0)
            assert (outer.text, outer.finish_reason) == ("", None)
            async for _ in outer:
                assert await read(client, QUESTION) == answer
                break
            assert answer.startswith(outer.text)
            assert await read(client, QUESTION) == answer

    asyncio.run(program())


def test_a_chat_keeps_its_turns(server: RunningServer, answer: str) -> None:
    async def program() -> None:
        async with AsyncSplitClient(server.url) as client:
            chat = await client.conversation("Be brief.", temperature=0)
            chat.max_tokens = 4
            first = await chat.send(QUESTION).read()
            await chat.send("And why?").read()
            assert [m.role for m in chat.messages] == ["system", *["user", "assistant"] * 2]
            chat.conversation.undo()
            assert await chat.answer().read() == first

    asyncio.run(program())


def test_cancelling_a_task_or_the_client_ends_replies(server: RunningServer, answer: str) -> None:
    async def program() -> None:
        async with AsyncSplitClient(server.url) as client:
            reply = client.chat(QUESTION, temperature=0)
            async with aclosing(reply.events()) as events:
                await anext(events)
                client.cancel()
                rest = [event async for event in events]
            assert (reply.finish_reason, len(rest)) == ("cancelled", 1)

            task = asyncio.create_task(read(client, QUESTION))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await read(client, QUESTION) == answer

    asyncio.run(program())


def test_a_server_that_is_not_there_is_told() -> None:
    async def program(url: str) -> None:
        client = AsyncSplitClient(url, patience=Patience(connect=1, total=1))
        with pytest.raises(ServerUnreachable):
            await client.connect()
        await client.close()

    with unused_endpoint() as endpoint:
        asyncio.run(program(endpoint.url))


def test_a_wait_for_a_server_that_went_away_ends_with_its_task() -> None:
    async def program(gone: RunningServer) -> None:
        waits, loop = asyncio.Event(), asyncio.get_running_loop()
        client = AsyncSplitClient(
            gone.url,
            patience=Patience(total=600, longest_delay=300),
            on_notice=lambda _: loop.call_soon_threadsafe(waits.set),
        )
        await client.connect()
        await asyncio.to_thread(gone.stop)
        task = asyncio.create_task(client.chat(QUESTION).read())
        await asyncio.wait_for(waits.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # It comes after what the thread does, which would try for ten minutes.
        await asyncio.wait_for(client.close(), 30)

    async def main() -> None:
        with running_server() as gone:
            await program(gone)

    asyncio.run(main())


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_what_the_page_says_runs(
    server: RunningServer, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Cells of a notebook follow each other in one namespace, where ``await`` may stand alone."""
    before = [code for code in PROGRAMS[:number] if code.lstrip().startswith("# a cell")]
    cells = [*before, PROGRAMS[number]] if "# a cell" in PROGRAMS[number] else [PROGRAMS[number]]

    async def notebook() -> None:
        names: dict[str, object] = {"__name__": "__main__"}
        for cell in cells:
            code = compile(
                cell.replace("http://127.0.0.1:8095", server.url),
                "cell",
                "exec",
                ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
            )
            result = eval(code, names)  # noqa: S307 - the programs of our own page
            if inspect.isawaitable(result):
                await result

    if "asyncio.run(" in PROGRAMS[number]:
        code = PROGRAMS[number].replace("http://127.0.0.1:8095", server.url)
        exec(compile(code, "program", "exec"), {"__name__": "__main__"})  # noqa: S102
    else:
        asyncio.run(notebook())
    assert len(PROGRAMS) >= 4
    assert capsys.readouterr().out or "client =" in PROGRAMS[number] or "close" in PROGRAMS[number]
