"""What an audit says about its own duration."""

from __future__ import annotations

import pytest

from split_client.audit.effort import QUICK
from split_client.audit.forecast import Foreteller, Pace, expected, in_words


def test_the_forecast_counts_messages_replies_and_releases_of_every_mode() -> None:
    # Eight messages of 10 tokens in six noised modes, of which half a step each is alone's.
    steps = 0.4 * 24 * 6 * 2 * 80
    whole = 0.5 * steps + 7 * 4 * 12
    assert expected(Pace(0, 0.1, 0, 0), QUICK, [10] * 8, 1, 6) == pytest.approx(0.1 * whole)
    assert expected(Pace(2, 0, 0, 0), QUICK, [10] * 8, 1, 6) == pytest.approx(2 * 8 * (1 + 6 * 3))
    assert expected(Pace(0, 0, 2, 0), QUICK, [10] * 8, 1, 6) == pytest.approx(2 * 8 * 7)
    assert expected(Pace(0, 0, 0, 0.01), QUICK, [10] * 8, 1, 6) == pytest.approx(0.02 * 6000)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (30, "less than a minute"),
        (70, "about 1 minute"),
        (300, "about 5 minutes"),
        (5000, "about 83 minutes"),
        (7000, "about 2 hours"),
        (40000, "about 11 hours"),
    ],
)
def test_durations_are_told_as_people_say_them(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def test_more_than_was_given_is_told_with_what_follows_from_it() -> None:
    heard: list[str] = []
    foreteller = Foreteller(heard.append, 5)
    assert not foreteller.told
    foreteller.say(700.0, 2.34)
    assert foreteller.told
    Foreteller(heard.append, 30).say(700.0, 2.34)
    Foreteller(heard.append, None).say(700.0, 2.34)
    assert heard[0].startswith(
        "the first message took 2.3 s; all of it takes about 12 minutes, and 5"
    )
    assert heard[1] == heard[2] == "the first message took 2.3 s; all of it takes about 12 minutes"
