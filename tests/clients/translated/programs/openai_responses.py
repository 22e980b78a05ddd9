"""The ``openai`` package's Responses API, unchanged. Arguments: the server's URL, its token."""

import json
import sys

import openai
import pydantic

URL, TOKEN = sys.argv[1:]
client = openai.OpenAI(base_url=f"{URL}/v1", api_key=TOKEN, max_retries=0)
QUESTION = "How much is there?"


class Account(pydantic.BaseModel):
    account: str


TOOL = openai.pydantic_function_tool(Account, name="balance", description="The balance.")
TOOL = {"type": "function", **TOOL["function"]}

called = client.responses.create(model="gatelink", input=QUESTION, tools=[TOOL])
(call,) = called.output
output = {"type": "function_call_output", "call_id": call.call_id, "output": "12.50"}
history = [{"role": "user", "content": QUESTION}, call, output]
answered = client.responses.create(model="gatelink", input=history, tools=[TOOL])
with client.responses.stream(model="gatelink", input=history, tools=[TOOL]) as stream:
    kinds = [event.type for event in stream]
    final = stream.get_final_response()
stored = client.responses.create(model="gatelink", input=QUESTION, tools=[TOOL], store=True)
output = output | {"call_id": stored.output[0].call_id}
followed = client.responses.create(
    model="gatelink", previous_response_id=stored.id, input=[output], tools=[TOOL]
)
kept = client.responses.retrieve(stored.id).id == stored.id
client.responses.delete(stored.id)
try:
    client.responses.retrieve(stored.id)
    gone = False
except openai.NotFoundError:
    gone = True
parsed = client.responses.parse(model="gatelink", input=QUESTION, text_format=Account)
try:
    client.responses.create(model="gatelink", input=QUESTION, tools=[{"type": "web_search"}])
    error = "none"
except openai.BadRequestError as refused:
    error = refused.param
many = {"type": "array", "items": {"type": "boolean"}, "minItems": 900, "maxItems": 999}
form = {"format": {"type": "json_schema", "name": "many", "schema": many}}
stream = client.responses.create(model="gatelink", input=QUESTION, text=form, stream=True)
for event in stream:
    if event.type == "response.output_text.delta":
        break
stream.close()
vector = client.embeddings.create(model="gatelink", input=["Hello", "you"])
print(
    json.dumps(
        {
            "called": [call.name, json.loads(call.arguments)],
            "answered": answered.output_text,
            "final": final.output_text,
            "kinds": kinds,
            "followed": followed.output_text,
            "kept": [kept, gone],
            "parsed": isinstance(parsed.output_parsed, Account),
            "error": error,
            "vectors": [len(one.embedding) for one in vector.data],
        }
    )
)
