"""Text for a terminal."""

from __future__ import annotations

from split_settings.visible import visible


def test_control_characters_are_written_out() -> None:
    assert visible("a\x1b[31m\x9b\nb\u202e\ud800") == "a\\x1b[31m\\x9b\\nb\\u202e\\ud800"


def test_letters_of_every_language_and_what_is_kept_stay() -> None:
    assert visible("Grüße, 東京\n\t", keep="\n\t") == "Grüße, 東京\n\t"
