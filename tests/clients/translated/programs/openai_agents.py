"""openai-agents with its default, the Responses API. Arguments: the server's URL, its token."""

import asyncio
import json
import sys

import openai
import pydantic
from agents import Agent, Runner, function_tool, set_default_openai_client, set_tracing_disabled

URL, TOKEN = sys.argv[1:]
set_tracing_disabled(True)
set_default_openai_client(
    openai.AsyncOpenAI(base_url=f"{URL}/v1", api_key=TOKEN, max_retries=0), use_for_tracing=False
)
QUESTION = "How much is there?"


class Account(pydantic.BaseModel):
    account: str


@function_tool
def balance(account: str) -> str:
    """The balance."""
    return "12.50"


async def main() -> None:
    agent = Agent(name="Teller", model="gatelink", tools=[balance])
    done = await Runner.run(agent, QUESTION)
    streamed = Runner.run_streamed(agent, QUESTION)
    kinds = [event.type async for event in streamed.stream_events()]
    typed = Agent(name="Typed", model="gatelink", output_type=Account)
    schema = (await Runner.run(typed, QUESTION)).final_output
    again = await Runner.run(
        Agent(name="Plain", model="gatelink"),
        [*done.to_input_list(), {"role": "user", "content": "Thank you."}],
    )
    try:
        await Runner.run(Agent(name="Lost", model="other"), QUESTION)
        error = "none"
    except openai.NotFoundError as refused:
        error = refused.code
    many = Runner.run_streamed(Agent(name="Long", model="gatelink"), QUESTION)
    many.cancel()
    print(
        json.dumps(
            {
                "answered": done.final_output,
                "streamed": streamed.final_output,
                "kinds": sorted(set(kinds)),
                "schema": isinstance(schema, Account),
                "went_on": isinstance(again.final_output, str),
                "error": error,
            }
        )
    )


asyncio.run(main())
