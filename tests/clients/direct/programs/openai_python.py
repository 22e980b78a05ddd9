"""The openai package: a chat, a stream, a tool, a schema, an error, a cancellation."""

from __future__ import annotations

import json
import sys
from typing import Literal

import openai
import pydantic

url, token, given = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])


class Number(pydantic.BaseModel):
    n: Literal[1, 2, 3]


client = openai.OpenAI(base_url=url, api_key=token, max_retries=0)
asked = {"model": "gatelink", "tools": [given["tool"]], "temperature": 0}
messages = [{"role": "user", "content": given["question"]}]
called = client.chat.completions.create(messages=messages, **asked).choices[0].message
(call,) = called.tool_calls
messages += [called, {"role": "tool", "tool_call_id": call.id, "content": given["result"]}]
chat = client.chat.completions.create(messages=messages, **asked).choices[0].message.content
stream = client.chat.completions.create(messages=messages, **asked, stream=True)
text = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
parsed = client.chat.completions.parse(
    model="gatelink", messages=messages[:1], response_format=Number, max_tokens=40
)
try:
    client.chat.completions.create(model="other", messages=messages[:1])
    error = ""
except openai.NotFoundError as refusal:
    error = refusal.code
long = client.chat.completions.create(
    model="gatelink",
    messages=messages[:1],
    stream=True,
    max_tokens=-1,
    extra_body={"ignore_eos": True},
)
next(iter(long))
long.close()
told = {"chat": chat, "stream": text, "tool": json.loads(call.function.arguments)}
told |= {"schema": parsed.choices[0].message.parsed.model_dump(), "error": error}
print(json.dumps(told | {"cancelled": True}))
