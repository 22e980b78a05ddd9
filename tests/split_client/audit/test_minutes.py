"""An audit that has so many minutes: it ends in time, and says of what it measured less."""

from __future__ import annotations

import pytest

from split_client.audit import run
from split_client.audit.allowance import Allowance
from split_client.audit.arguments import AuditRequest
from split_client.audit.device.modes import clear_modes, noised_mode
from split_client.audit.effort import Effort
from split_client.audit.layout import Material
from split_client.audit.reach import Reach
from split_client.audit.report.document import document
from split_client.audit.report.table import lines
from split_client.audit.whole import Audited, Time, audit
from split_client.cli import main
from split_client.model.ends import DeviceEnds
from split_privacy.mechanism import RowMechanism
from tests.server_process import RunningServer
from tests.split_client.audit.test_audit import PROMPTS, QUESTIONS, TINY

pytestmark = pytest.mark.usefixtures("learnt_once")


class Ticking:
    """A clock of which every look takes a second, so that work takes as long as its steps."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def audited(ends: DeviceEnds, reach: Reach, seconds: float, effort: Effort = TINY) -> Audited:
    release = RowMechanism(0.8, 3.4, 4.82, ends.manifest.hidden_size)
    modes = [clear_modes(ends)[0], noised_mode(ends, release)]
    clock = Ticking()
    time = Time(Allowance(seconds, clock), seconds / 60)
    heard: list[str] = []
    found = audit(ends, reach, modes, Material(PROMPTS, QUESTIONS), effort, 3, heard.append, time)
    # What is begun is ended, and looks at the clock a few times more.
    assert clock.now < seconds + 60
    forecasts = [text for text in heard if text.startswith("the first message took")]
    assert len(forecasts) == min(1, sum(one.messages for one in found.studied))
    return found


def told(found: Audited, effort: Effort = TINY) -> list[str]:
    return list(lines(run.summed_up(found, 3), found, effort))


def test_with_time_enough_everything_is_measured(ends: DeviceEnds, reach: Reach) -> None:
    found = audited(ends, reach, 1e6)
    assert [one.messages for one in found.studied] == [2, 2]
    assert found.queried
    assert not any("time" in line for line in told(found))


@pytest.mark.parametrize("seconds", [40, 100, 200])
def test_every_mode_gets_its_share_and_only_whole_attacks_count(
    ends: DeviceEnds, reach: Reach, seconds: float
) -> None:
    found = audited(ends, reach, seconds)
    for one in found.studied:
        counts = {name: len(tallies) for name, tallies in one.tallies.items()}
        quick = ("nearest", "nearest_context", "ngram", "reply_head")
        cheap = {counts.get(name, 0) for name in quick}
        assert cheap == {one.messages}
        assert counts.get("language", 0) <= one.messages
        assert len(one.used) <= 2
        assert one.verdict is None or one.verdict.releases >= 100
    text = told(found)
    assert any("The time did not suffice" in line for line in text)
    made = document("model", 3, TINY, run.summed_up(found, 3), found)
    assert made["holds"]
    assert [one["messages"] for one in made["modes"]] == [one.messages for one in found.studied]


def test_figures_of_a_mode_that_was_not_reached_are_missing_and_not_made_up(
    ends: DeviceEnds, reach: Reach
) -> None:
    found = audited(ends, reach, 3)
    assert [one.messages for one in found.studied] == [0, 0]
    made = document("model", 3, TINY, run.summed_up(found, 3), found)
    for one in made["modes"]:
        assert one["attacks"] == {}
        assert (one["strongest"], one["prior"], one["use"], one["lengths"]) == (None,) * 4
    assert any("0 of 2 messages" in line for line in told(found))
    assert any("no time to query" in line for line in told(found))


def test_the_command_ends_where_nothing_could_be_measured(
    server: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "--quick", "--minutes", "0.0001", "--url", server.url]) == 1
    error = capsys.readouterr().err
    assert "time_too_short" in error
    assert "--minutes" in error


@pytest.mark.parametrize("minutes", ["0", "-1", "soon", "nan", "1e9"])
def test_minutes_that_are_none_are_told_with_what_they_may_be(
    minutes: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["audit", f"--minutes={minutes}"])
    assert f"'{minutes}' is no number above 0" in capsys.readouterr().err


def test_no_minutes_are_given_by_default() -> None:
    assert AuditRequest().minutes is None
