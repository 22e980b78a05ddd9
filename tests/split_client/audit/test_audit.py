"""The whole audit at a real server: everything without noise, the prior with all of it."""

from __future__ import annotations

import json
import math
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from split_client.api import NoiseSettings, SplitClient
from split_client.audit import run
from split_client.audit.attacks.averaging import distinct
from split_client.audit.attacks.knowledge import Mechanism
from split_client.audit.attacks.observed import observe
from split_client.audit.bench import Studied
from split_client.audit.device.modes import (
    DELTA,
    Claim,
    Mode,
    clear_modes,
    noised_mode,
    noised_modes,
)
from split_client.audit.device.prompts import Prompt, built_in_questions
from split_client.audit.device.rows import ClearRows, NoisedRows, audit_key
from split_client.audit.device.victim import Victim
from split_client.audit.effort import Effort
from split_client.audit.layout import Material, laid_out
from split_client.audit.reach import Reach
from split_client.audit.report.document import document
from split_client.audit.report.table import lines
from split_client.audit.scoring.epsilon import Verdict
from split_client.audit.study import play
from split_client.audit.whole import Audited, audit
from split_client.cli import main
from split_client.model.ends import DeviceEnds
from split_client.noise.calibration import Table, calibrate
from split_privacy.mechanism import RowMechanism
from tests.server_process import RunningServer
from tests.split_client.audit.learning import LearntOnce

pytestmark = pytest.mark.usefixtures("learnt_once")
TINY = Effort(
    prompts=2,
    replies=2,
    reply_length=6,
    questions=2,
    sessions=(1, 3),
    possible=60,
    texts=16,
    beam=4,
    flock=2,
    written=4,
    reply_tokens=2,
    matched=1,
    candidates=4,
    resends=1,
    releases=100,
)
PROMPTS = (Prompt("I am Eva, 42.", ("Eva", "42")), Prompt("Call Ben now.", ("Ben",)))
# Short answers make short steps.
QUESTIONS = sorted(built_in_questions(), key=lambda one: len(one.answer))
# The longest row of the embedded model has norm 3.35, and two rows are at most 4.82 apart.
CLIP, SENSITIVITY = 3.4, 4.82


def release(ends: DeviceEnds, sigma: float) -> RowMechanism:
    return RowMechanism(sigma, CLIP, SENSITIVITY, ends.manifest.hidden_size)


def studied(
    ends: DeviceEnds, reach: Reach, modes: list[Mode], effort: Effort = TINY, seed: int = 3
) -> Audited:
    material = Material(PROMPTS, QUESTIONS)
    return audit(ends, reach, modes, material, effort, seed, lambda _: None)


def told(found: Audited, seed: int = 3) -> dict[str, Any]:
    return document("model", seed, TINY, run.summed_up(found, seed), found)


def shown(found: Audited) -> list[str]:
    return list(lines(run.summed_up(found, 3), found, TINY))


def shown_of(one: Studied) -> list[str]:
    return shown(Audited((one,), (10,), queried=True, extraction=None))


def silent(ends: DeviceEnds, sigma: float) -> Mode:
    """A mode whose noise is broken: it claims ``sigma`` and sends clean rows."""
    claimed = release(ends, sigma)
    return Mode(
        "silent", "noised", None, ClearRows(ends), Mechanism(sigma, CLIP), Claim(claimed, DELTA)
    )


def halved(ends: DeviceEnds, sigma: float) -> Mode:
    """A mode that adds half of the noise that it claims."""
    honest = noised_mode(ends, release(ends, sigma))
    return replace(honest, name="halved", rows=NoisedRows(ends, release(ends, sigma / 2)))


@pytest.fixture(scope="module")
def found(ends: DeviceEnds, reach: Reach) -> Audited:
    huge = noised_mode(ends, release(ends, 1e4))
    return studied(ends, reach, [*clear_modes(ends), huge])


def test_without_noise_everything_is_recovered_in_every_dtype(found: Audited) -> None:
    for one in told(found)["modes"][:-1]:
        for attack in ("nearest", "nearest_context", "ngram", "language", "reply_head"):
            value, low, high = one["attacks"][attack]["top1"]
            assert (value, high) == (1.0, 1.0)
            # Two messages that agree prove little.
            assert 0.1 < low < 0.2
        assert one["attacks"]["nearest"]["exact"][0] == 1.0
        assert one["attacks"]["nearest"]["sensitive"][0] == 1.0
        assert one["attacks"]["vocabulary"]["top1"][0] == 1.0
        assert (one["epsilon_token"], one["game"]) == (None, None)


def test_split_mode_answers_the_questions_and_huge_noise_none(found: Audited) -> None:
    modes = told(found)["modes"]
    assert modes[0]["accuracy"][0] == 1.0
    assert modes[-1]["accuracy"][0] == 0.0


def test_use_is_all_there_in_split_mode_less_with_fewer_bits_and_gone_in_huge_noise(
    found: Audited,
) -> None:
    use = {one["name"]: one["use"] for one in told(found)["modes"]}
    assert all(one["replies"] == 2 for one in use.values())
    split, coarse, noised = use["split"], use["split i8"], told(found)["modes"][-1]["use"]
    assert split["same"][0] == 1.0
    assert split["divergence"][0] == pytest.approx(0.0, abs=1e-6)
    assert 1e-7 < coarse["divergence"][0] < 0.2 < noised["divergence"][0]
    assert split["perplexity"][0] < 2 < 100 < noised["perplexity"][0]
    assert noised["same"][0] < 0.3


def test_a_model_that_knows_no_answers_is_asked_none(ends: DeviceEnds, reach: Reach) -> None:
    material = Material(PROMPTS, QUESTIONS, ("Thank you!", "What is a token?"))
    found = audit(ends, reach, clear_modes(ends)[:1], material, TINY, 3, lambda _: None)
    split = told(found)["modes"][0]
    assert split["accuracy"] is None
    assert split["use"]["replies"] == 2
    assert not any("right answers" in line for line in shown(found))


def test_a_gentle_noise_is_told_from_none_by_its_use(ends: DeviceEnds, reach: Reach) -> None:
    modes = [noised_mode(ends, release(ends, sigma * CLIP)) for sigma in (0.005, 0.05)]
    effort = replace(TINY, releases=20, sessions=(1,), matched=0)
    found = studied(ends, reach, modes, effort)
    divergences = [one["use"]["divergence"][0] for one in told(found)["modes"]]
    assert 0 < 5 * divergences[0] < divergences[1]


def test_huge_noise_leaves_the_attacker_the_prior(found: Audited) -> None:
    tallies = found.studied[-1].tallies
    alone = [one.top1 for one in tallies["prior_ngram"]]
    for name in ("ngram", "average_3_ngram", "edits_ngram"):
        # Of tokens that are as likely as each other the rows choose a few.
        found_ones = [one.top1 for one in tallies[name]]
        assert all(abs(a - b) <= 1 for a, b in zip(found_ones, alone, strict=True))
        assert not any(one.exact for one in tallies[name])
    assert told(found)["modes"][-1]["attacks"]["language"]["exact"][0] == 0.0


def test_edits_of_one_conversation_tell_as_much_as_other_conversations(
    ends: DeviceEnds, reach: Reach
) -> None:
    noised = noised_mode(ends, release(ends, 0.5 * CLIP))
    effort = replace(TINY, sessions=(1, 16), releases=20, matched=0)
    one = studied(ends, reach, [noised], effort).studied[0]
    shares = {
        name: sum(each.top1 for each in one.tallies[name])
        / sum(each.tokens for each in one.tallies[name])
        for name in ("nearest", "average_16_nearest", "edits_nearest")
    }
    assert shares["nearest"] < 0.3
    assert min(shares["average_16_nearest"], shares["edits_nearest"]) > 0.9
    # Of sixteen variants that differ in one token or two; by chance one in sixteen.
    right, texts = map(sum, zip(*one.picked, strict=True))
    assert texts == 2 * 16
    assert 0.2 < right / texts < 1.0
    assert any("which of 16 variants" in line for line in shown_of(one))


def test_lengths_are_no_secret_in_any_mode(found: Audited) -> None:
    for one in told(found)["modes"]:
        assert (one["lengths"]["prompts_right"], one["lengths"]["replies_right"]) == (1.0, 1.0)


def test_resends_repeat_their_bytes_and_other_conversations_do_not(
    found: Audited, ends: DeviceEnds, reach: Reach
) -> None:
    assert all(one.resends.repeated == one.resends.tried == 1 for one in found.studied)
    mode, victim = found.studied[-1].mode, Victim(ends, reach)
    rows = []
    for number in (0, 1, 1):
        conversation = mode.rows.conversation(audit_key(3, number))
        recording = victim.ask((44, 45), conversation, None, 0).recording
        rows.append(observe(recording.exchanges).prompt_rows)
    victim.close()
    assert distinct(rows) == 2


def test_the_adapter_is_copied_once_there_are_as_many_queries_as_numbers(
    ends: DeviceEnds, reach: Reach
) -> None:
    effort = replace(TINY, questions=40)
    extraction = studied(ends, reach, clear_modes(ends)[:1], effort).extraction
    assert extraction is not None
    errors = dict(extraction.points)
    assert errors[96] > 0.2
    assert errors[240] < 1e-3


def test_the_figures_repeat_from_the_seed(
    ends: DeviceEnds, reach: Reach, learnt_once: LearntOnce
) -> None:
    runs = []
    for _ in range(2):
        if runs:
            learnt_once.forget()
        mode = noised_mode(ends, release(ends, 0.8))
        runs.append(studied(ends, reach, [mode], TINY, 5).studied[0])
    assert runs[0].tallies == runs[1].tallies
    assert runs[0].verdict == runs[1].verdict
    # The server's own sums may differ in their last digits.
    nats = [[one.nats for one in each.used] for each in runs]
    assert nats[0] == pytest.approx(nats[1], rel=1e-4)


def test_every_seed_prompt_and_session_has_its_own_key() -> None:
    keys = {audit_key(*labels) for labels in ((0, 1, 2), (0, 2, 1), (1, 1, 2), (0, 12))}
    assert len(keys) == 4
    assert {len(key) for key in keys} == {32}


def played(ends: DeviceEnds, reach: Reach, mode: Mode, releases: int) -> Verdict:
    effort = replace(TINY, releases=releases)
    with ExitStack() as stack:
        bench = laid_out(stack, ends, reach, Material(PROMPTS, QUESTIONS), effort, 3)
        verdict = play(bench, mode)
    assert verdict is not None
    return verdict


def test_honest_noise_keeps_its_claim(ends: DeviceEnds, reach: Reach) -> None:
    verdict = played(ends, reach, noised_mode(ends, release(ends, 2.5)), 400)
    assert verdict.holds
    assert verdict.mu_bound > 0.5 * verdict.mu_claimed


def test_noise_that_is_silently_zero_breaks_the_claim(ends: DeviceEnds, reach: Reach) -> None:
    verdict = played(ends, reach, silent(ends, 5.0), 200)
    assert not verdict.holds
    assert verdict.epsilon_bound_gaussian > verdict.epsilon_claimed


def test_half_of_the_noise_breaks_the_claim(ends: DeviceEnds, reach: Reach) -> None:
    assert not played(ends, reach, halved(ends, 5.0), 500).holds


def test_the_table_tells_of_every_mode(found: Audited) -> None:
    text = shown(found)
    for one in found.studied:
        assert sum(line.startswith(one.mode.name) for line in text) >= 3
    assert max(map(len, text)) < 160
    assert not any("time" in line for line in text)


def test_noise_has_the_norm_the_sigma_and_the_epsilon_that_a_chat_shows(
    server: RunningServer, ends: DeviceEnds, tmp_path: Path
) -> None:
    table = Table.of(ends.manifest, lambda ids: ends.embedder.lookup(ids, "f32"))
    made, drawn = noised_modes(ends, calibrate(table, None, tmp_path), (1.0,), (0.5,))[::-1]
    assert made.claim is not None
    assert drawn.claim is not None
    told: list[str] = []
    for mode, epsilon in ((made, 1.0), (drawn, drawn.claim.epsilon())):
        settings = NoiseSettings(sigma=mode.mechanism.sigma, ledger=tmp_path / "ledger.json")
        with SplitClient(
            server.url,
            cache=tmp_path,
            noise=settings,
            on_calibrate=lambda: told.append("once for this model"),
        ) as client:
            shown = " ".join(client.privacy_lines())
        assert f"norm C {mode.mechanism.clip:.4g}," in shown
        assert f"epsilon {math.ceil(epsilon * 100 - 1e-6) / 100:.2f}, delta 1e-05" in shown
    assert told == ["once for this model"]


def test_the_command_writes_what_it_measured(
    server: RunningServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(run, "QUICK", TINY)
    monkeypatch.setattr(run, "built_in_prompts", lambda: PROMPTS)
    monkeypatch.setattr(run, "_QUICK_SIGMAS", ())
    saved, picture = tmp_path / "a.json", tmp_path / "a.svg"
    command = ["audit", "--quick", "--url", server.url, "--epsilon", "2", "--json", str(saved)]
    assert main([*command, "--plot", str(picture)]) == 0
    made = json.loads(saved.read_text())
    assert [one["name"] for one in made["modes"]] == ["split", "noised 3.1 C"]
    assert made["modes"][1]["epsilon_token"] == pytest.approx(2.0, rel=1e-6)
    assert "<svg" in picture.read_text()
    out = capsys.readouterr().out
    assert "noised 3.1 C" in out
    assert "BROKEN" not in out


def test_a_claim_that_is_untrue_fails_the_command(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "QUICK", replace(TINY, sessions=(1,), matched=0))
    monkeypatch.setattr(run, "built_in_prompts", lambda: PROMPTS)
    monkeypatch.setattr(run, "_modes", lambda ends, _calibration, _request: [silent(ends, 5.0)])
    assert main(["audit", "--quick", "--url", server.url]) == 1
    assert "BROKEN: the claim is untrue" in capsys.readouterr().out


def test_a_file_that_cannot_be_written_is_told_before_the_work(
    server: RunningServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "none" / "a.json")
    assert main(["audit", "--quick", "--url", server.url, "--json", missing]) == 1
    assert "output_failed" in capsys.readouterr().err
