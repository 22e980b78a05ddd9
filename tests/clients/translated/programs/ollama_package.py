"""The ``ollama`` package, unchanged. Arguments: the server's URL, its token."""

import json
import sys

import ollama

URL, TOKEN = sys.argv[1:]
client = ollama.Client(host=URL, headers={"Authorization": f"Bearer {TOKEN}"})
QUESTION = {"role": "user", "content": "How much is there?"}
SCHEMA = {
    "type": "object",
    "properties": {"account": {"type": "string"}},
    "required": ["account"],
    "additionalProperties": False,
}


def balance(account: str) -> str:
    """The balance.

    Args:
        account: whose it is
    """
    return "12.50"


(model,) = client.list().models
name = model.model
called = client.chat(name, messages=[QUESTION], tools=[balance])
(call,) = called.message.tool_calls
history = [QUESTION, called.message, {"role": "tool", "tool_name": "balance", "content": "12.50"}]
answered = client.chat(name, messages=history, tools=[balance])
parts = list(client.chat(name, messages=history, tools=[balance], stream=True))
schema = client.chat(name, messages=[QUESTION], format=SCHEMA)
generated = client.generate(name, prompt="Hello", options={"num_predict": 4})
pieces = client.generate(name, prompt="Hello", options={"num_predict": 4}, stream=True)
errors = []
for asking in (
    lambda: client.chat("other", messages=[QUESTION]),
    lambda: client.pull("other"),
    lambda: client.chat(name, messages=[QUESTION], think=True),
):
    try:
        asking()
        errors.append(200)
    except ollama.ResponseError as refused:
        errors.append(refused.status_code)
many = {"type": "array", "items": {"type": "boolean"}, "minItems": 900, "maxItems": 999}
long = client.chat(name, messages=[QUESTION], format=many, stream=True)
next(long)
long.close()
vectors = client.embed(name, input=["Hello", "you"]).embeddings
print(
    json.dumps(
        {
            "name": name,
            "capabilities": client.show(name).capabilities,
            "running": client.ps().models[0].model,
            "called": [call.function.name, call.function.arguments],
            "answered": answered.message.content,
            "streamed": "".join(part.message.content or "" for part in parts),
            "done": parts[-1].done_reason,
            "schema": json.loads(schema.message.content),
            "generated": generated.response == "".join(piece.response for piece in pieces),
            "errors": errors,
            "loaded": client.generate(name).done_reason,
            "vectors": [len(vector) for vector in vectors],
        }
    )
)
