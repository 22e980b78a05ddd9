"""llama-index over OpenAILike: a tool round trip, a stream, an object, an error."""

from __future__ import annotations

import json
import sys
from typing import Literal

import openai
import pydantic
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike

url, token, given = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])


class Number(pydantic.BaseModel):
    n: Literal[1, 2, 3]


def model(name: str = "gatelink") -> OpenAILike:
    own = {"is_chat_model": True, "is_function_calling_model": True, "max_retries": 0}
    return OpenAILike(model=name, api_base=url, api_key=token, temperature=0, **own)


def balance(account: str) -> str:
    """The balance."""
    return given["result"]


llm, tool = model(), FunctionTool.from_defaults(balance)
asked = [ChatMessage(role="user", content=given["question"])]
called = llm.chat_with_tools([tool], chat_history=asked)
(call,) = llm.get_tool_calls_from_response(called)
result = ChatMessage(
    role="tool", content=given["result"], additional_kwargs={"tool_call_id": call.tool_id}
)
messages = [*asked, called.message, result]
chat = llm.chat_with_tools([tool], chat_history=messages).message.content
stream = llm.stream_chat(messages, tools=[tool.metadata.to_openai_tool()])
text = "".join(piece.delta for piece in stream)
schema = llm.as_structured_llm(Number).chat(asked).raw
try:
    model("other").chat(asked)
    error = ""
except openai.NotFoundError as refusal:
    error = refusal.code
told = {"chat": chat, "stream": text, "tool": call.tool_kwargs, "schema": schema.model_dump()}
print(json.dumps(told | {"error": error}))
