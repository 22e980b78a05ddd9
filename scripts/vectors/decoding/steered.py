"""Cases of how tokens are chosen: parameters, constraints, and log-probabilities."""

from __future__ import annotations

from typing import Any, Final

from scripts.vectors.decoding.model import END, MARK, TURN, VOCABULARY
from scripts.vectors.decoding.turns import HOT, Case, case, form, turn

_LETTERS: Final = [20, 21, 22]


def cases() -> list[Case]:
    return [*_sampled(), *_constrained(), *_told()]


def _sampled() -> list[Case]:
    settings: dict[str, dict[str, Any]] = {
        "temperature": {},
        "another seed": {"seed": "18446744073709551615"},
        "top-k": {"top_k": 3},
        "top-p": {"top_p": 0.7},
        "min-p": {"min_p": 0.05},
        "all filters": {"top_k": 9, "top_p": 0.9, "min_p": 0.01, "temperature": 1.3},
        "repetition penalty": {"repetition_penalty": 1.7},
        "presence and frequency": {"presence_penalty": 1.1, "frequency_penalty": 0.7},
        "negative penalties": {"presence_penalty": -0.5, "frequency_penalty": -0.4, "top_k": 5},
        "bias and banned": {"logit_bias": {"9": 3.0, "21": -100.0}, "banned": [0, 1, 2, 20]},
        "most banned": {"banned": [*range(0, 9), *range(12, VOCABULARY)]},
    }
    greedy: dict[str, dict[str, Any]] = {
        "greedy with a repetition penalty": {"repetition_penalty": 3.0},
        "greedy with a frequency penalty": {"frequency_penalty": 2.0},
        "greedy with bias and banned": {"logit_bias": {"16": 9.5, "12": -1.0}, "banned": [20]},
    }
    return [
        *(
            case(name, turn([TURN, 20], 10, params={**HOT, **each}))
            for name, each in settings.items()
        ),
        case("equal logits", turn([MARK], 12)),
        *(case(name, turn([20], 12, params=each)) for name, each in greedy.items()),
    ]


def _constrained() -> list[Case]:
    settings: dict[str, dict[str, Any]] = {
        "temperature": {},
        "top-k": {"top_k": 2},
        "top-p and min-p": {"top_p": 0.8, "min_p": 0.1},
        "penalties": {
            "repetition_penalty": 1.4,
            "presence_penalty": 0.5,
            "logit_bias": {"8": 2.0, "9": 2.5},
        },
    }
    return [
        case(
            "allowed tokens alone are chosen",
            turn([20], 4, constraint=form([[9, 12], [3], None, [0, 16]])),
        ),
        case(
            "a constraint ends the reply",
            turn([20], constraint=form([[20, 21], _LETTERS, _LETTERS], 3)),
        ),
        case(
            "a forced run",
            turn([3], constraint=form([[token] for token in (16, 20, 21, 17, END)])),
        ),
        case(
            "an end token counts before the end of the constraint",
            turn([18], constraint=form([], 2)),
        ),
        case(
            "the end of the constraint counts before the number of tokens",
            turn([20], 3, constraint=form([], 3)),
        ),
        case("it is told the tokens that are left", turn([20], 5, constraint=form([]))),
        case("it is told the room that the context leaves", turn([20] * 29, constraint=form([]))),
        case("a stop string within a constraint", turn([20], stops=["bab"], constraint=form([]))),
        case("cancelled within a constraint", turn([20], cancelled_at=2, constraint=form([]))),
        case(
            "allowed and banned hold together",
            turn(
                [20],
                5,
                params={**HOT, "banned": [21, 9]},
                constraint=form([[*range(19, 23)], [9, 8], None, _LETTERS]),
            ),
        ),
        *(
            case(
                f"allowed and {name}",
                turn(
                    [20],
                    8,
                    params={**HOT, **each},
                    constraint=form([[*range(k, VOCABULARY, 2)] for k in (0, 1, 0, 1, 2, 3, 4, 5)]),
                ),
            )
            for name, each in settings.items()
        ),
        case(
            "a constraint in a second turn",
            turn([TURN, 3], 3),
            turn([TURN, 3, 4, 5, 6, TURN], 3, constraint=form([[20], None, [12]], 3)),
        ),
    ]


def _told() -> list[Case]:
    return [
        case("log-probabilities of the chosen token alone", turn([3], 4, logprobs=0)),
        case("log-probabilities of the first three too", turn([17], logprobs=3)),
        case("as many as there may be", turn([12], 1, logprobs=20)),
        case("equal log-probabilities", turn([MARK], 1, logprobs=3)),
        case(
            "those of the model, whatever the sampler does",
            turn(
                [20],
                4,
                logprobs=2,
                params={**HOT, "logit_bias": {"5": 8.0}, "repetition_penalty": 1.5},
            ),
        ),
        case(
            "those of the model, whatever the constraint",
            turn([20], 3, logprobs=2, constraint=form([[3], [16], [0]])),
        ),
    ]
