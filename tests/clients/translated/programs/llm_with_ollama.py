"""The plugin llm-ollama of ``llm``, unchanged. Arguments: the server's URL, its token."""

import json
import os
import sys

URL, TOKEN = sys.argv[1:]
# The plugin reads both when it is loaded.
os.environ["OLLAMA_HOST"] = URL
os.environ["OLLAMA_API_KEY"] = TOKEN

import llm  # noqa: E402
import ollama  # noqa: E402
import pydantic  # noqa: E402

QUESTION = "How much is there?"


class Account(pydantic.BaseModel):
    account: str


def balance(account: str) -> str:
    """The balance."""
    return "12.50"


names = [model.model_id for model in llm.get_models() if model.model_id.startswith("ollama/")]
model = llm.get_model(names[0])
answered = model.chain(QUESTION, tools=[balance], stream=False).text()
streamed = "".join(model.chain(QUESTION, tools=[balance]))
conversation = model.conversation()
first = conversation.prompt("Hello", num_predict=4).text()
second = conversation.prompt("Hello again", num_predict=4).text()
schema = json.loads(model.prompt(QUESTION, schema=Account, stream=False).text())
try:
    model.prompt(QUESTION, num_predict=0, stream=False).text()
    error = 200
except ollama.ResponseError as refused:
    error = refused.status_code
vectors = llm.get_embedding_model(names[0]).embed("Hello")
pieces = iter(model.prompt(QUESTION, num_predict=200))
next(pieces)
del pieces
print(
    json.dumps(
        {
            "names": names,
            "answered": answered,
            "streamed": streamed,
            "conversation": [bool(first), bool(second)],
            "schema": isinstance(schema["account"], str),
            "error": error,
            "vector": len(list(vectors)),
        }
    )
)
