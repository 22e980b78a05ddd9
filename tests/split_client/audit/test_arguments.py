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
