"""lm-eval's local-completions: likelihoods of answers, and texts up to a stop."""

from __future__ import annotations

import json
import os
import sys

url, token, given = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
os.environ["OPENAI_API_KEY"] = token

from lm_eval.api.instance import Instance  # noqa: E402
from lm_eval.models.openai_completions import LocalCompletionsAPI  # noqa: E402

model = LocalCompletionsAPI(
    model="gatelink",
    base_url=f"{url}/completions",
    tokenizer_backend="remote",
    auth_token=token,
    batch_size=4,
    max_retries=1,
)
choices = [
    Instance("loglikelihood", {}, (given["context"], choice), index)
    for index, choice in enumerate(given["choices"])
]
told = model.loglikelihood(choices, disable_tqdm=True)
until = {"until": [given["stop"]], "max_gen_toks": 12}
texts = model.generate_until(
    [Instance("generate_until", {}, (given["context"], until), 0)], disable_tqdm=True
)
encoded = [model.tok_encode(given["context"] + choice) for choice in given["choices"]]
before = len(model.tok_encode(given["context"]))
print(json.dumps({"scores": told, "text": texts[0], "tokens": encoded, "before": before}))
