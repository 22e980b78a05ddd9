"""pydantic-ai's chat model: a tool round trip, a stream, outputs by schema and by tool."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Literal

import pydantic
from pydantic_ai import Agent, NativeOutput, ToolOutput
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

url, token, given = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])


class Number(pydantic.BaseModel):
    n: Literal[1, 2, 3]


def model(name: str = "gatelink") -> OpenAIChatModel:
    return OpenAIChatModel(name, provider=OpenAIProvider(base_url=url, api_key=token))


async def main() -> None:
    arguments = {}
    agent = Agent(model(), model_settings=ModelSettings(temperature=0))

    @agent.tool_plain
    def balance(account: str) -> str:
        """The balance."""
        arguments["account"] = account
        return given["result"]

    chat = (await agent.run(given["question"])).output
    plain = Agent(model(), model_settings=ModelSettings(temperature=0, max_tokens=16))
    async with plain.run_stream(given["question"]) as run:
        text = "".join([piece async for piece in run.stream_text(delta=True)])
    found = {}
    for kind in (NativeOutput(Number), ToolOutput(Number)):
        reply = await Agent(model(), output_type=kind).run(given["question"])
        found[type(kind).__name__] = reply.output.model_dump()
    try:
        await Agent(model("other")).run("x")
        error = ""
    except ModelHTTPError as refusal:
        error = refusal.body["code"]
    told = {"chat": chat, "streamed": text, "tool": arguments, "error": error}
    print(json.dumps(told | {"schema": found["NativeOutput"], "outputs": found}))


asyncio.run(main())
