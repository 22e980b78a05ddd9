"""Cases that end with an error."""

from __future__ import annotations

from typing import Any

from scripts.vectors.decoding.model import VOCABULARY
from scripts.vectors.decoding.turns import Case, Turn, case, form, turn


def refusals() -> list[Case]:
    """Turns that end with an error; ``refused`` is its code."""
    outside: dict[str, Any] = {"logit_bias": {str(VOCABULARY): 1.0}}
    asked: dict[str, tuple[Turn, str]] = {
        "an empty prompt": (turn([]), "prompt_empty"),
        "a prompt longer than the context": (turn([20] * 33), "prompt_too_long"),
        "no token at all": (turn([3], 0), "invalid_sampling_parameter"),
        "more than twenty log-probabilities": (
            turn([3], logprobs=21),
            "invalid_sampling_parameter",
        ),
        "every token banned": (
            turn([3], params={"banned": [*range(VOCABULARY)]}),
            "nothing_allowed",
        ),
        "a constraint without a token": (
            turn([3], constraint=form([[4], []])),
            "nothing_allowed",
        ),
        "a constraint whose tokens are banned": (
            turn([3], params={"banned": [4, 5]}, constraint=form([[4, 5]])),
            "nothing_allowed",
        ),
        "a bias for a token without a row": (turn([3], params=outside), "token_id_out_of_range"),
        "the same, outside what a constraint allows": (
            turn([3], params=outside, constraint=form([[4]])),
            "token_id_out_of_range",
        ),
        "a banned token without a row": (
            turn([3], params={"banned": [VOCABULARY]}),
            "token_id_out_of_range",
        ),
    }
    return [case(name, {**each, "refused": code}) for name, (each, code) in asked.items()]
