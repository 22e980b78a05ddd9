"""tests/vectors/decoding.json, which the decode loop of the web app meets too."""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer

from scripts.vectors.run import FOLDER, build, render
from split_client.errors import ClientError
from split_client.generation.backend import CacheLost, StepOutput
from split_client.generation.constraint import NothingAhead
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.spec import HeadSpec
from split_client.generation.loop import Event, Finished, Limits, TokenEvent, decode
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.sampler import Sampler
from split_client.generation.sequence import Sequence

PATH: Path = FOLDER / "decoding.json"
VECTORS: dict[str, Any] = json.loads(PATH.read_text("ascii"))
MODEL = VECTORS["model"]
VOCABULARY = len(MODEL["bytes"])
TOKENIZER = Tokenizer.from_str(json.dumps(VECTORS["tokenizer"]))


@dataclass
class ScriptedBackend:
    """The model of the vectors; ``stop_at``: ``stopped`` is set once so many positions are held."""

    max_rows: int
    max_context: int
    lost: list[int]
    interactive_rows: int = 16
    dtype: str = "f32"
    attempts: list[list[int]] = field(default_factory=list)
    rows: list[NDArray[np.float32]] = field(default_factory=list)
    stop_at: int | None = None
    stopped: bool = False

    def open(self, _: object = None) -> None:
        pass

    def step(
        self,
        start: int,
        embeddings: NDArray[np.float32],
        attention: Any = None,
        adapter: str | None = None,
        rows: int = 1,
    ) -> StepOutput:
        assert 0 < len(embeddings) <= self.max_rows
        assert start <= len(self.rows)
        self.attempts.append([start, len(embeddings)])
        if len(self.attempts) - 1 in self.lost:
            self.rows = []
            raise CacheLost
        self.rows[start:] = embeddings
        self.stopped |= len(self.rows) == self.stop_at
        ends = range(len(self.rows) - rows + 1, len(self.rows) + 1)
        return StepOutput(np.stack([self._state(end) for end in ends]), 0, 0)

    def _state(self, end: int) -> NDArray[np.float32]:
        recent = zip(reversed(self.rows[:end]), MODEL["memory"], strict=False)
        hidden = sum((row * np.float32(part) for row, part in recent), np.zeros(VOCABULARY))
        return hidden.astype(np.float32)

    def close(self) -> None:
        pass


@dataclass
class ScriptedForm(NothingAhead):
    """A constraint of the vectors, and how many tokens it was told to have left."""

    allowed_ids: list[list[int] | None]
    finished_after: int | None
    remaining: list[int] = field(default_factory=list)
    accepted: list[int] = field(default_factory=list)

    def allowed(self, remaining: int) -> NDArray[np.bool_] | None:
        self.remaining.append(remaining)
        ids = dict(enumerate(self.allowed_ids)).get(len(self.accepted))
        return None if ids is None else np.isin(np.arange(VOCABULARY), ids)

    def accept(self, token: int) -> None:
        self.accepted.append(token)

    @property
    def finished(self) -> bool:
        return len(self.accepted) == self.finished_after


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory) -> ExactLMHead:
    path = tmp_path_factory.mktemp("head") / "head.bin"
    np.asarray(MODEL["head"], "<f4").tofile(path)
    return ExactLMHead(WeightRows.open(path, "f32", VOCABULARY, VOCABULARY), HeadSpec())


class Played:
    """A session of the vectors, one turn after another over the same sequence."""

    def __init__(self, head: ExactLMHead, session: dict[str, Any]) -> None:
        self._head = head
        self._backend = ScriptedBackend(**session)
        embed = np.eye(VOCABULARY, dtype=np.float32).__getitem__
        self._sequence = Sequence(self._backend, embed)  # type: ignore[arg-type]
        self.form: ScriptedForm | None = None

    def events(self, turn: dict[str, Any]) -> list[Event]:
        form, stopped_at = turn.get("constraint"), turn.get("cancelled_at")
        self.form = form and ScriptedForm(form["allowed"], form["finished_after"])
        self._backend.stopped = stopped_at == 0
        begun = turn.get("begun", [])
        for token in begun if self.form else ():
            self.form.accept(token)
        there = len(turn["prompt"]) + len(begun)
        self._backend.stop_at = stopped_at and there + stopped_at - 1
        stops = tuple(turn.get("stops", []))
        limits = Limits(frozenset(turn["end_tokens"]), turn["max_tokens"], stops)
        sampler = Sampler(self._head, params_of(turn.get("params", {})))
        events = decode(
            self._sequence,
            sampler,
            TOKENIZER,
            turn["prompt"],
            limits,
            begun=begun,
            constraint=self.form,
            logprobs=turn.get("logprobs"),
            cancelled=lambda: self._backend.stopped,
        )
        return list(events)

    def told(self, turn: dict[str, Any]) -> dict[str, Any]:
        """The events of ``turn``, in the words of the vectors."""
        before = len(self._backend.attempts)
        events = self.events(turn)
        finished, tokens = events[-1], [each for each in events if isinstance(each, TokenEvent)]
        assert isinstance(finished, Finished)
        return {
            "ids": [each.token for each in tokens],
            "reason": finished.reason,
            "pieces": [each.text for each in events],
            "rows": [each.rows for each in tokens],
            "steps": self._backend.attempts[before:],
            "probabilities": [each.probability for each in tokens],
            "remaining": self.form.remaining if self.form else [],
            "logprobs": [each.logprobs for each in tokens],
        }


def params_of(fields: dict[str, Any]) -> SamplingParams:
    bias = {int(token): value for token, value in fields.get("logit_bias", {}).items()}
    seed, banned = fields.get("seed"), frozenset(fields.get("banned", ()))
    fixed = {"logit_bias": bias, "banned": banned, "seed": seed and int(seed)}
    return SamplingParams(**{**fields, **fixed})


def named(kind: str) -> pytest.MarkDecorator:
    cases = VECTORS[kind]
    return pytest.mark.parametrize("case", cases, ids=[case["name"] for case in cases])


def test_the_file_is_what_the_script_writes() -> None:
    assert PATH.read_text("ascii") == render(build("decoding"))


def test_the_names_of_the_cases_are_unique() -> None:
    names = [case["name"] for kind in ("cases", "refusals") for case in VECTORS[kind]]
    assert len(set(names)) == len(names)


@named("cases")
def test_a_session_gives_what_is_expected(case: dict[str, Any], head: ExactLMHead) -> None:
    played = Played(head, case["session"])
    for turn in case["turns"]:
        expected, told = turn["expected"], played.told(turn)
        assert (told["ids"], told["reason"]) == (expected["ids"], expected["reason"])
        assert "".join(told["pieces"]) == expected["text"]
        assert told["pieces"] == expected.get("pieces", told["pieces"])
        assert told["rows"] == expected["rows"]
        assert told["steps"] == [step for steps in expected["steps"] for step in steps]
        assert told["remaining"] == expected.get("remaining", [])
        ones = [1.0] * len(told["ids"])
        wanted = pytest.approx(expected.get("probabilities", ones), rel=1e-9)
        assert told["probabilities"] == wanted
        check_logprobs(told["logprobs"], expected.get("logprobs_of"))


def check_logprobs(told: list[Any], expected: list[dict[str, Any]] | None) -> None:
    if expected is None:
        assert told == [None] * len(told)
        return
    for each, wanted in zip(told, expected, strict=True):
        assert each.logprob == pytest.approx(wanted["logprob"], rel=1e-6)
        assert [i for i, _ in each.top] == [i for i, _ in wanted["top"]]
        values = [value for _, value in wanted["top"]]
        assert [value for _, value in each.top] == pytest.approx(values, rel=1e-6)


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_a_reply_ends_right_before_its_stop_string(case: dict[str, Any]) -> None:
    for turn in case["turns"]:
        expected = turn["expected"]
        shown = [each for each in expected["ids"] if each not in turn["end_tokens"]]
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        decoder.decode(bytes_of(turn.get("begun", [])))
        whole, stop = decoder.decode(bytes_of(shown), True), expected["stop"]
        assert whole.startswith(expected["text"] + (stop or ""))
        assert stop or expected["text"] == whole


def bytes_of(tokens: list[int]) -> bytes:
    return b"".join(bytes.fromhex(MODEL["bytes"][token]) for token in tokens)


@named("refusals")
def test_a_turn_that_cannot_be_is_refused_by_its_code(
    case: dict[str, Any], head: ExactLMHead
) -> None:
    (turn,) = case["turns"]
    with pytest.raises(ClientError) as raised:
        Played(head, case["session"]).events(turn)
    assert raised.value.code == turn["refused"]
