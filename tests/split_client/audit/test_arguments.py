"""The flags of ``split-client audit``."""

from __future__ import annotations

import pytest

from split_client.cli import main


@pytest.mark.parametrize("epsilon", ["-1", "0", "1e9", "nan", "strong"])
def test_an_epsilon_that_is_none_is_told_with_what_it_may_be(
    epsilon: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["audit", f"--epsilon={epsilon}"])
    assert f"'{epsilon}' is no number above 0 and below 10000" in capsys.readouterr().err


@pytest.mark.parametrize("part", ["-1", "0", "1e9", "nan", "loud"])
def test_a_part_of_the_norm_that_is_none_is_told_with_what_it_may_be(
    part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["audit", f"--part={part}"])
    assert f"'{part}' is no number above 0 and up to 1000" in capsys.readouterr().err


@pytest.mark.parametrize("beam", ["-1", "0", "1.5", "5000", "wide"])
def test_a_beam_that_is_none_is_told_with_what_it_may_be(
    beam: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["audit", f"--beam={beam}"])
    assert f"'{beam}' is no whole number from 1 to 4096" in capsys.readouterr().err
