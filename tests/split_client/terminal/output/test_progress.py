from __future__ import annotations

import pytest

from split_client.terminal.output.progress import ProgressBar
from split_client.terminal.output.screen import Screen
from split_client.weights.pull import Progress
from tests.split_client.terminal.consoles import FakeTty, RecordingScreen


def test_a_log_gets_a_line_per_tenth() -> None:
    screen = RecordingScreen()
    bar = ProgressBar(screen)
    for done in range(0, 1001, 5):
        bar.update(Progress("a.bin", done, 1000))
    bar.close()
    lines = screen.noted.splitlines()
    assert len(lines) == 11
    assert (lines[0], lines[-1]) == ("0%  0 B of 1.0 kB", "100%  1.0 kB of 1.0 kB")


def test_a_person_gets_one_line_that_is_drawn_again_but_not_all_the_time() -> None:
    err = FakeTty()
    now = [0.0]
    bar = ProgressBar(Screen(FakeTty(), err), lambda: now[0])
    for done in range(101):
        now[0] += 0.01
        bar.update(Progress("a.bin", done, 100))
    bar.close()
    drawn = err.getvalue().split("\r")
    assert 10 < len(drawn) < 15
    assert "100%" in drawn[-1]
    assert err.getvalue().count("\n") == 1


def test_the_time_left_follows_the_pace_of_what_was_fetched() -> None:
    err = FakeTty()
    now = [0.0]
    bar = ProgressBar(Screen(FakeTty(), err), lambda: now[0])
    # Verified parts of an earlier pull do not count.
    for seconds, done in ((0.0, 400), (0.5, 420), (5.0, 500), (60.0, 600), (110.0, 1000)):
        now[0] = seconds
        bar.update(Progress("a.bin", done, 1000))
    drawn = [line.rstrip().partition("B  ")[2] for line in err.getvalue().split("\r")[1:]]
    assert drawn == ["a.bin", "a.bin", "25 s left  a.bin", "2 min left  a.bin", "a.bin"]


def test_a_log_tells_the_time_left() -> None:
    screen = RecordingScreen()
    now = [0.0]
    bar = ProgressBar(screen, lambda: now[0])
    for done in (0, 500, 1000):
        bar.update(Progress("a.bin", done, 1000))
        now[0] += 10800.0
    assert screen.noted.splitlines() == [
        "0%  0 B of 1.0 kB",
        "50%  500 B of 1.0 kB  3.0 h left",
        "100%  1.0 kB of 1.0 kB",
    ]


def test_a_wait_is_announced_on_a_line_of_its_own() -> None:
    err = FakeTty()
    bar = ProgressBar(Screen(FakeTty(), err), lambda: 0.0)
    bar.update(Progress("a.bin", 1, 100))
    bar.update(Progress("a.bin", 1, 100, "trying again in 1.0 s"))
    assert "\n" in err.getvalue()
    assert "trying again in 1.0 s" in err.getvalue()


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (80, f"{'#' * 12}{'-' * 12}  50%  500 B of 1.0 kB  a.bin"),
        (49, f"{'#' * 12}{'-' * 12}  50%  500 B of 1.0 kB"),
        (30, " 50%  500 B of 1.0 kB"),
    ],
)
def test_a_narrow_terminal_gets_fewer_parts_and_none_of_them_cut(
    columns: int, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    err = FakeTty()
    ProgressBar(Screen(FakeTty(), err), lambda: 0.0).update(Progress("a.bin", 500, 1000))
    assert err.getvalue().strip("\r").rstrip() == shown
