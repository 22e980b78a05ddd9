"""A session on a split server whose rows have noise: reopened in the dtype that it began with."""

from __future__ import annotations

from split_client.errors import AnswerInvalid
from split_client.generation.backend import Rows
from split_client.noise.errors import NoiseDtypeChanged
from split_client.transport.remote import RemoteBackend
from split_wire.client import OtherDtype


class OneDtypeBackend(RemoteBackend):
    """The first session's dtype is asked for whenever a session is opened again.

    The noise of a row depends on its dtype. A server that could choose another one after a lost
    session would be sent the same rows with independent noise, which it could average.
    """

    def open(self, wanted: Rows | None = None) -> int | None:
        """As :meth:`RemoteBackend.open`; raises NoiseDtypeChanged as well."""
        try:
            went_through = super().open(wanted)
        except AnswerInvalid as error:
            if isinstance(error.__cause__, OtherDtype):
                cause = error.__cause__
                raise NoiseDtypeChanged(cause.asked, cause.given) from error
            raise
        self._protocol.ask_for(self.dtype)
        return went_through
