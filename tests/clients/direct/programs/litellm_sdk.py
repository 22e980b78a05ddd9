"""litellm's SDK: a chat, a stream, a tool, a schema, an error, a cancellation."""

from __future__ import annotations

import json
import sys

import litellm

url, token, given = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
own = {"model": "openai/gatelink", "api_base": url, "api_key": token, "num_retries": 0}
asked = {**own, "tools": [given["tool"]], "temperature": 0}
messages = [{"role": "user", "content": given["question"]}]
called = litellm.completion(messages=messages, **asked).choices[0].message
(call,) = called.tool_calls
messages += [
    called.model_dump(),
    {"role": "tool", "tool_call_id": call.id, "content": given["result"]},
]
chat = litellm.completion(messages=messages, **asked).choices[0].message.content
stream = litellm.completion(messages=messages, **asked, stream=True)
text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
form = {"type": "json_schema", "json_schema": {"name": "number", "schema": given["schema"]}}
schema = litellm.completion(messages=messages[:1], **own, response_format=form, max_tokens=40)
try:
    litellm.completion(messages=messages[:1], **{**own, "model": "openai/other"})
    error = ""
except litellm.exceptions.NotFoundError as refusal:
    # Its own exception has the message, and not the code.
    error = "model_not_found" if "not served" in str(refusal) else str(refusal)
long = litellm.completion(messages=messages[:1], **own, stream=True, max_tokens=1500)
next(iter(long))
long.completion_stream.close()
told = {"chat": chat, "stream": text, "tool": json.loads(call.function.arguments)}
told |= {"schema": json.loads(schema.choices[0].message.content), "error": error}
print(json.dumps(told | {"cancelled": True}))
