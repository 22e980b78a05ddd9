"""Errors of noised mode, a branch of the client's tree::

    NoiseError
    ├── NoiseSettingInvalid   a setting with which no noise can be made
    ├── NoiseForbids          something asked for that would undo what the noise promises
    ├── NoiseOverflows        noise so large that the wire's dtype cannot hold it
    ├── NoiseDtypeChanged     a server that wants a text's rows in another dtype as well
    ├── BudgetExhausted       the release would exceed the budget and was not made
    └── LedgerError
        ├── LedgerDamaged     the record of what was spent cannot be trusted
        │   └── LedgerTurnedBack  it counts less, or other things, than it did before
        ├── LedgerBusy        another process holds it
        └── LedgerFailed      it cannot be read or written

``code`` is stable: programs compare it, people read the message.
"""

from __future__ import annotations

from pathlib import Path

from split_client.errors import ClientError


class NoiseError(ClientError):
    """Base of the branch."""

    code = "noise_error"


class NoiseSettingInvalid(NoiseError):
    code = "noise_setting_invalid"


class NoiseForbids(NoiseError):
    """``what`` was asked for, ``reason`` it cannot go with noise, ``instead`` what to do."""

    code = "noise_forbids"

    def __init__(self, what: str, reason: str, instead: str) -> None:
        self.what = what
        super().__init__(f"{what} cannot go with noise: {reason}; {instead}")


class NoiseOverflows(NoiseError):
    code = "noise_overflows"

    def __init__(self, sigma: float, dtype: str) -> None:
        super().__init__(
            f"rows with noise of sigma {sigma:.3g} overflow {dtype}, in which this server takes "
            "them; use less noise or a server that computes in another dtype"
        )


class NoiseDtypeChanged(NoiseError):
    """``began`` is the dtype of the conversation, ``wanted`` the server's. Nothing was sent."""

    code = "noise_dtype_changed"

    def __init__(self, began: str, wanted: str) -> None:
        self.began, self.wanted = began, wanted
        super().__init__(
            f"this conversation is sent as {began}, and the server now wants {wanted}; its rows "
            "would get a second, independent noise, so none was sent: start a new conversation "
            "(its rows are released anew and count anew)"
        )


class BudgetExhausted(NoiseError):
    """No row of what was asked for was sent. epsilons are those of everything replaced.

    ``rows``: how many were asked for, ``room`` how many the budget still has room for.
    """

    code = "budget_exhausted"

    def __init__(self, budget: float, spent: float, delta: float, rows: int, room: int) -> None:
        self.budget, self.spent, self.rows, self.room = budget, spent, rows, room
        self.remaining = max(0.0, budget - spent)
        super().__init__(
            "the noise budget does not allow this, and no row of it was sent: of epsilon "
            f"{budget:g} (everything replaced, delta {delta:g}) {spent:.2f} is spent and "
            f"{self.remaining:.2f} remains, room for {room} of the {rows} new tokens; "
            "send fewer tokens, use more noise (--noise-sigma), or accept a larger loss "
            "(--noise-budget)"
        )


class LedgerError(NoiseError):
    code = "ledger_error"


class LedgerDamaged(LedgerError):
    code = "ledger_damaged"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"the noise ledger {path} cannot be trusted: {reason}; it is left as it is, and "
            "nothing is sent with noise until it is restored or moved away (what it counted is "
            "then forgotten, not unspent)"
        )


class LedgerTurnedBack(LedgerDamaged):
    """An older copy, or one that went on beside this one, has taken the ledger's place."""

    code = "ledger_turned_back"

    def __init__(self, path: Path) -> None:
        super().__init__(
            path,
            "an older or another copy of it has taken its place, so it counts less than before",
        )


class LedgerBusy(LedgerError):
    code = "ledger_busy"

    def __init__(self, path: Path) -> None:
        super().__init__(f"another process holds the noise ledger {path}; try again")


class LedgerFailed(LedgerError):
    code = "ledger_failed"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"the noise ledger {path} cannot be used: {reason}; nothing is sent with noise without "
            "it (--noise-ledger names another place)"
        )
