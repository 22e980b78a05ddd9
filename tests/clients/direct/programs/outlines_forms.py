"""outlines: objects, choices and patterns, as it asks OpenAI for them and as it asks vLLM."""

from __future__ import annotations

import json
import sys
from typing import Literal

import openai
import outlines
import pydantic
from outlines.types import Regex

url, token, given = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])


class Number(pydantic.BaseModel):
    n: Literal[1, 2, 3]


client = openai.OpenAI(base_url=url, api_key=token, max_retries=0)
ours, theirs = outlines.from_openai(client, "gatelink"), outlines.from_vllm(client, "gatelink")
schema = json.loads(ours(given["question"], Number, max_tokens=40))
whole = ours(given["question"], temperature=0, max_tokens=8)
streamed = "".join(ours.stream(given["question"], temperature=0, max_tokens=8))
forms = {
    "schema": json.loads(theirs(given["question"], Number, max_tokens=40)),
    "choice": theirs(given["question"], Literal["blue", "red"], max_tokens=10),
    "pattern": theirs(given["question"], Regex("[ab]{3}"), max_tokens=10),
}
try:
    outlines.from_openai(client, "other")("x")
    error = ""
except outlines.exceptions.NotFoundError as refusal:
    # Its own exception has the message, and not the code.
    error = "model_not_found" if "not served" in str(refusal) else str(refusal)
told = {"schema": schema, "whole": whole, "streamed": streamed, "forms": forms, "error": error}
print(json.dumps(told))
