"""instructor: an object out of tools, JSON, a JSON schema, and JSON in Markdown."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Literal

import instructor
import openai
import pydantic
from instructor.core.exceptions import InstructorRetryException

url, token, given = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])


class Number(pydantic.BaseModel):
    n: Literal[1, 2, 3]


client = openai.OpenAI(base_url=url, api_key=token, max_retries=0)
messages = [{"role": "user", "content": given["question"]}]
found = {}
for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA):
    made = instructor.from_openai(client, mode=mode)
    reply = made.chat.completions.create(
        model="gatelink", messages=messages, response_model=Number, max_tokens=60, max_retries=0
    )
    found[mode.name] = reply.model_dump()
# What the model writes without a schema is its own; that it is a JSON object is the server's.
asked = {}


def seen(*_: object, **values: object) -> None:
    asked.update(values)


made = instructor.from_openai(client, mode=instructor.Mode.JSON)
made.on("completion:kwargs", seen)
# It may not be what instructor wants: that is not asked of the server here.
with contextlib.suppress(InstructorRetryException):
    made.chat.completions.create(
        model="gatelink", messages=messages, response_model=Number, max_tokens=60, max_retries=0
    )
plain = client.chat.completions.create(**asked).choices[0].message.content
print(json.dumps({"schema": found["TOOLS"], "modes": found, "json": plain}))
