"""Noised mode of one client: calibrated once, one account, conversations with keys of their own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from split_client.noise.account import Account
from split_client.noise.calibration import Calibration, Table, calibrate
from split_client.noise.conversation import NoisedConversation
from split_client.noise.errors import LedgerError, NoiseSettingInvalid
from split_client.noise.ledger import Ledger
from split_client.noise.settings import NoiseSettings, default_ledger
from split_client.noise.spent import Budget, Kind
from split_client.noise.words import (
    ELSEWHERE_LINE,
    SEEN_LINE,
    budget_line,
    conversation_line,
    ledger_line,
    mechanism_lines,
    penalty_line,
)
from split_client.weights.store import StoredModel
from split_privacy.errors import InvalidPrivacyParameter
from split_privacy.mechanism import RowMechanism


@dataclass(frozen=True, slots=True)
class NoiseMode:
    """Close it when done: what was recorded ahead is given back."""

    settings: NoiseSettings
    calibration: Calibration
    mechanism: RowMechanism
    table: Table
    model: str
    ledger: Ledger
    account: Account
    own_penalty: float

    @classmethod
    def open(
        cls,
        settings: NoiseSettings,
        table: Table,
        stored: StoredModel,
        own_penalty: float = 1.0,
        tell: Callable[[], None] = lambda: None,
    ) -> NoiseMode:
        """For the model that is ``stored``, whose makers recommend ``own_penalty`` of repetition.

        ``tell`` is called before the table's numbers are worked out, once for each table and norm.

        Raises NoiseSettingInvalid, LedgerDamaged, LedgerFailed, and BudgetExhausted where not even
        one row may be sent.
        """
        model = stored.manifest.digest
        calibration = calibrate(table, settings.clip, stored.folder, tell)
        mechanism = _mechanism(settings, calibration, table.width)
        ledger = Ledger(settings.ledger or default_ledger())
        budget = None
        if settings.budget_epsilon is not None:
            budget = Budget(settings.budget_epsilon, settings.delta)
        account = Account(ledger, settings.identity, model, Kind.of(mechanism), budget)
        account.require_room()
        return cls(settings, calibration, mechanism, table, model, ledger, account, own_penalty)

    def conversation(self, key: bytes | None = None) -> NoisedConversation:
        """A conversation under ``key``, the settings' or a new one. Raises LedgerFailed."""
        path = self.ledger.path
        folder = path.with_name(f"{path.stem}.releases")
        clean, chosen = self.table.clean, key or self.settings.key
        return NoisedConversation(self.mechanism, clean, self.model, self.account, folder, chosen)

    def lines(self, conversation: NoisedConversation | None) -> list[str]:
        """Lines on the noise's promises and what was spent, exactly. Raises the ledger's errors."""
        settings, spent = self.settings, self.account.spent()
        lines = mechanism_lines(self.mechanism, self.calibration, settings.delta)
        if conversation is not None and conversation.spent.rows:
            lines.append(conversation_line(conversation.spent, settings.delta))
        lines.append(ledger_line(spent, settings.delta, settings.identity))
        if self.ledger.elsewhere:
            lines.append(ELSEWHERE_LINE)
        if self.account.budget is not None:
            lines.append(budget_line(self.account.budget, spent, self.account.kind))
        if self.own_penalty != 1.0:
            lines.append(penalty_line(self.own_penalty))
        lines.append(SEEN_LINE)
        return lines

    def close(self) -> None:
        """Safe to call twice. Where the ledger fails it goes on counting more than was sent."""
        with contextlib.suppress(LedgerError):
            self.account.close()


def _mechanism(settings: NoiseSettings, calibration: Calibration, width: int) -> RowMechanism:
    clip, sensitivity = calibration.clip, calibration.sensitivity
    try:
        if settings.sigma is not None:
            return RowMechanism(settings.sigma, clip, sensitivity, width)
        epsilon = settings.epsilon or 0.0
        return RowMechanism.for_epsilon(epsilon, settings.delta, clip, sensitivity, width)
    except InvalidPrivacyParameter as error:
        raise NoiseSettingInvalid(f"noise cannot be made so: {error}") from error
