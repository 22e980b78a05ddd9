"""An audit of one sending of each message, at the noise that is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from split_client.audit.effort import QUICK
from split_client.audit.forecast import Pace, expected
from split_client.cli import main
from tests.server_process import RunningServer

pytestmark = pytest.mark.usefixtures("learnt_once")
_ATTACKS = {"prior_frequent", "prior_ngram", "nearest", "nearest_context", "ngram", "language"}


def test_only_the_named_noise_and_one_sending_are_attacked_and_nothing_is_said_to_lack_time(
    server: RunningServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts, out = tmp_path / "prompts.json", tmp_path / "out.json"
    texts = ["I am Eva, 42, from Bonn.", "Is a fee of 12 euros usual?"]
    prompts.write_text(json.dumps([{"text": text, "sensitive": [text[-4:]]} for text in texts]))
    options = ["--part", "0.02", "--part", "0.3", "--single", "--quick", "--beam", "4"]
    files = ["--prompts", str(prompts), "--json", str(out)]
    assert main(["audit", "--url", server.url, *options, *files]) == 0
    made = json.loads(out.read_text())
    assert [mode["name"] for mode in made["modes"]] == ["noised 0.02 C", "noised 0.3 C"]
    assert made["effort"]["beam"] == 4
    for mode in made["modes"]:
        assert set(mode["attacks"]) == {*_ATTACKS, "reply_head"}
        assert all(found["prompts"] == 2 for found in mode["attacks"].values())
        assert mode["use"] is mode["game"] is mode["accuracy"] is None
    assert made["modes"][0]["attacks"]["language"]["top1"][0] == 1.0
    shown = capsys.readouterr()
    assert "Tokens of the message recovered" in shown.out
    for absent in ("Use:", "distinguishing", "time did not suffice", "dapter"):
        assert absent not in shown.out + shown.err


def test_another_servers_model_is_run_on_what_the_rows_leave_possible(
    server: RunningServer, tmp_path: Path
) -> None:
    prompts, out = tmp_path / "prompts.json", tmp_path / "out.json"
    texts = ["What is a KV cache?", "What is an adapter?"]
    prompts.write_text(json.dumps([{"text": text, "sensitive": []} for text in texts]))
    options = ["--part", "0.3", "--single", "--quick", "--beam", "4", "--language", server.url]
    files = ["--prompts", str(prompts), "--json", str(out)]
    assert main(["audit", "--url", server.url, *options, *files]) == 0
    attacks = json.loads(out.read_text())["modes"][0]["attacks"]
    assert attacks["language"]["prompts"] == 2
    # The model was taught such questions.
    assert attacks["language"]["top1"][0] >= attacks["ngram"]["top1"][0] > 0.5


def test_more_texts_are_followed_where_another_model_is_run_on_them() -> None:
    assert QUICK.with_another_model() == QUICK.followed(3 * QUICK.beam)


def test_the_forecast_of_one_sending_counts_no_other_and_no_use() -> None:
    alone = QUICK.on_one_sending().followed(30)
    assert expected(Pace(2, 0, 9, 9), alone, [10] * 8, 0, 5) == pytest.approx(2 * 8 * 5)
    steps = 0.5 * 0.4 * 30 * 5 * 80
    assert expected(Pace(0, 1, 9, 9), alone, [10] * 8, 0, 5) == pytest.approx(steps)
