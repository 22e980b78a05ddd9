"""The ``anthropic`` package, unchanged. Arguments: the server's URL, its token."""

import json
import sys

import anthropic

URL, TOKEN = sys.argv[1:]
client = anthropic.Anthropic(base_url=URL, api_key=TOKEN, max_retries=0)
QUESTION = {"role": "user", "content": "How much is there?"}
SCHEMA = {
    "type": "object",
    "properties": {"account": {"type": "string"}},
    "required": ["account"],
    "additionalProperties": False,
}
TOOL = {"name": "balance", "description": "The balance.", "input_schema": SCHEMA}
asked = {"model": "gatelink", "max_tokens": 200}

called = client.messages.create(messages=[QUESTION], tools=[TOOL], **asked)
(call,) = called.content
result = {"type": "tool_result", "tool_use_id": call.id, "content": "12.50"}
history = [
    QUESTION,
    {"role": "assistant", "content": called.content},
    {"role": "user", "content": [result]},
]
answered = client.messages.create(messages=history, tools=[TOOL], **asked)
with client.messages.stream(messages=history, tools=[TOOL], **asked) as stream:
    pieces = list(stream.text_stream)
    final = stream.get_final_message()
with client.messages.stream(messages=[QUESTION], tools=[TOOL], **asked) as stream:
    streamed_call = stream.get_final_message().content[0]
schema = client.messages.create(
    messages=[QUESTION],
    output_config={"format": {"type": "json_schema", "schema": SCHEMA}},
    **asked,
)
try:
    client.messages.create(messages=[QUESTION], model="other", max_tokens=5)
    error = "none"
except anthropic.NotFoundError as refused:
    error = refused.body["error"]["type"]
try:
    anthropic.Anthropic(base_url=URL, api_key="a-token-of-nobody", max_retries=0).messages.create(
        messages=[QUESTION], **asked
    )
    stranger = "let in"
except anthropic.AuthenticationError:
    stranger = "refused"
counted = client.messages.count_tokens(model="gatelink", messages=[QUESTION]).input_tokens
many = {"type": "array", "items": {"type": "boolean"}, "minItems": 900, "maxItems": 999}
with client.messages.stream(
    messages=[QUESTION],
    model="gatelink",
    max_tokens=2000,
    output_config={"format": {"type": "json_schema", "schema": many}},
) as stream:
    next(iter(stream.text_stream))
print(
    json.dumps(
        {
            "called": [call.name, call.input],
            "stop_reason": called.stop_reason,
            "answered": answered.content[0].text,
            "streamed": "".join(pieces),
            "final": final.content[0].text,
            "streamed_call": [streamed_call.name, streamed_call.input],
            "schema": json.loads(schema.content[0].text),
            "error": error,
            "stranger": stranger,
            "counted": counted > 0,
        }
    )
)
