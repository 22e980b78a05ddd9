"""Errors of the connection, and of what a server says."""

from __future__ import annotations

from split_client.errors.base import ClientError
from split_wire.errors import RemoteError, SplitError


def _doctor(url: str | None = None) -> str:
    return f"split-client doctor{'' if url is None else f' --url {url}'} finds out more"


class ServerUnreachable(ClientError):
    """No connection came about within the time allowed."""

    code = "server_unreachable"

    def __init__(
        self,
        address: str,
        reason: str,
        advice: str = "check that the server runs and that the URL is right",
        url: str | None = None,
    ) -> None:
        self.reason = reason
        super().__init__(f"cannot reach {address}: {reason}; {advice}; {_doctor(url)}")


class TlsMismatch(ServerUnreachable):
    """A certificate that is not trusted, or TLS at one end alone: as it is until somebody mends it.

    ``code`` is that of the cause (``split_client.transport.reach.causes``).
    """

    def __init__(
        self, address: str, code: str, reason: str, advice: str, url: str | None = None
    ) -> None:
        super().__init__(address, reason, advice, url)
        self.code = code


class ConnectionLost(ClientError):
    """A connection broke before its answer was whole; the same bytes may be sent again."""

    code = "connection_lost"

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"the connection was lost: {reason}; check the network and try again; {_doctor()}"
        )


class UpgradeRefused(ClientError):
    """The server, or something before it, does not let a WebSocket through."""

    code = "upgrade_refused"

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"no WebSocket here: {reason}; use --transport http")


class TokenInvalid(ClientError):
    """A bearer token that no header can carry; the message does not show it."""

    code = "token_invalid"

    def __init__(self) -> None:
        super().__init__(
            "tokens are printable ASCII without spaces; copy the server's again "
            "(--token, or SPLIT_CLIENT_TOKEN)"
        )


class ServerRefused(ClientError):
    """The server answered with an error. ``code`` is the server's, ``retry_after`` in seconds."""

    def __init__(
        self, code: str, message: str, *, retryable: bool = False, retry_after: float | None = None
    ) -> None:
        self.code = code
        self.retryable = retryable
        self.retry_after = retry_after
        super().__init__(message)

    @classmethod
    def of(cls, error: RemoteError) -> ServerRefused:
        """The error to raise for what a server sent."""
        text = str(error).removesuffix(f" [{error.remote_code}]")
        return cls.told(
            error.remote_code,
            text,
            retryable=error.remote_retryable,
            retry_after=error.retry_after,
        )

    @classmethod
    def told(
        cls, code: str, message: str, *, retryable: bool, retry_after: float | None
    ) -> ServerRefused:
        """The error to raise for a refusal in a server's words: of its own class, if it has one."""
        kinds: tuple[type[AboutModel], ...] = (
            ModelNotServed,
            ModelLoading,
            ModelBusy,
            ModelUnusable,
        )
        if code == ModelChanged.code:
            return ModelChanged()
        for kind in kinds:
            if code == kind.code:
                return kind(message, retry_after)
        return cls(code, message, retryable=retryable, retry_after=retry_after)


class NotASplitServer(ServerRefused):
    """HTTP ``status`` with neither a frame nor a refusal that a split server would send."""

    code: str = "not_a_split_server"

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(
            "not_a_split_server",
            f"HTTP status {status} without a frame: this is not a split server; check the URL",
        )


class ModelChanged(ServerRefused):
    """Another model answers at this address than the one whose ends the device holds."""

    code: str = "model_changed"

    def __init__(self) -> None:
        super().__init__(
            "model_changed",
            "the server serves another model now; start again to pull its weights",
        )


class AboutModel(ServerRefused):
    """One of several models cannot be used, or not yet; ``told`` are the server's words."""

    code: str = "about_model"
    again = False
    advice = ""

    def __init__(self, told: str, retry_after: float | None = None) -> None:
        self.told_words = told
        advice = f"; {self.advice}" if self.advice else ""
        super().__init__(
            self.code, f"{told}{advice}", retryable=self.again, retry_after=retry_after
        )


class ModelNotServed(AboutModel):
    """The server has no model of that name; its words tell which there are."""

    code: str = "unknown_model"
    advice = "split-client models lists them, --model NAME or /model NAME chooses one"


class ModelLoading(AboutModel):
    """The server reads the model into its memory; ``retry_after`` is about how long that takes."""

    code: str = "model_loading"
    again = True


class ModelBusy(AboutModel):
    """The model is not loaded, and cannot be at present; the server's words tell why."""

    code: str = "model_busy"
    again = True
    advice = (
        "try again when that one is idle, choose another (split-client models lists them), or ask "
        "whoever runs the server"
    )


class ModelUnusable(AboutModel):
    """What the server has of the model is nothing that it can load."""

    code: str = "model_unusable"
    advice = "split-client models lists the others"


class AnswerInvalid(ClientError):
    """The server's answer breaks the protocol (wrong shape, NaN, cut frame) and is not used."""

    code = "answer_invalid"

    def __init__(self, error: SplitError) -> None:
        self.cause_code = error.code
        super().__init__(
            f"the server's answer cannot be used: {error} ({error.code}); "
            "update both ends, or use another server"
        )


class SessionUnstable(ClientError):
    """The server loses what it was just sent, again and again."""

    code = "session_unstable"

    def __init__(self) -> None:
        super().__init__(
            "the server keeps losing this session; try again later, or raise its memory budget"
        )
