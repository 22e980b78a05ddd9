"""Every error of the device client, one tree under :class:`ClientError`.

Each class has a stable ``code`` (what programs compare) and a message that says what to do::

    ClientError
    ├── ServerUnreachable
    │   └── TlsMismatch
    ├── ConnectionLost, UpgradeRefused
    ├── ServerRefused
    │   └── ModelChanged
    ├── TokenInvalid
    ├── AnswerInvalid, SessionUnstable
    ├── ManifestInvalid, ChecksumMismatch, DownloadFailed
    ├── NotEnoughSpace, DiskFull, StoreFailed, ModelInUse, ModelUnknown
    ├── TokenizerInvalid, TextTooCostly
    ├── TemplateFailed, TemplateTooCostly, TemplateMissing
    ├── PromptTooLong, ChatTextTooLong, PromptEmpty
    ├── MessageInvalid, ConversationFileInvalid
    ├── ReplyCut
    ├── GenerationError (in ``generation.errors``)
    └── Cancelled
"""

from __future__ import annotations

from split_wire.errors import RemoteError, SplitError


def _doctor(url: str | None = None) -> str:
    return f"split-client doctor{'' if url is None else f' --url {url}'} finds out more"


class ClientError(Exception):
    """Base of the tree."""

    code: str = "client_error"


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
        if error.remote_code == ModelChanged.code:
            return ModelChanged()
        return cls(
            error.remote_code,
            text,
            retryable=error.remote_retryable,
            retry_after=error.retry_after,
        )


class ModelChanged(ServerRefused):
    """Another model answers at this address than the one whose ends the device holds."""

    code: str = "model_changed"

    def __init__(self) -> None:
        super().__init__(
            "model_changed",
            "the server serves another model now; start again to pull its weights",
        )


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


class ManifestInvalid(ClientError):
    """The manifest of the weights is not one that this client accepts."""

    code = "manifest_invalid"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the server's weights manifest is refused: {reason}")


class ChecksumMismatch(ClientError):
    """Downloaded bytes are not those that the manifest names."""

    code = "checksum_mismatch"

    def __init__(self, file: str, chunk: int) -> None:
        self.file, self.chunk = file, chunk
        super().__init__(
            f"chunk {chunk} of {file} has a wrong checksum; nothing of it was kept, pull again "
            "and tell the server's owner if it stays"
        )


class DownloadFailed(ClientError):
    """The weights could not be fetched; what arrived is kept."""

    code = "download_failed"

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"cannot fetch {file}: {reason}; pull again to continue where it stopped")


class NotEnoughSpace(ClientError):
    """The disk cannot hold the weights (sizes in bytes); nothing was fetched."""

    code = "not_enough_space"

    def __init__(self, needed: int, free: int, folder: str) -> None:
        self.needed, self.free = needed, free
        super().__init__(
            f"the weights need {needed / 1e6:.1f} MB and {free / 1e6:.1f} MB are free in {folder}; "
            "make room (split-client pull --list, --remove) or set SPLIT_CACHE to another folder"
        )


class DiskFull(ClientError):
    """The disk filled up while pulling; what arrived is kept."""

    code = "disk_full"

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(
            f"cannot write to {folder}: {reason}; make room or set SPLIT_CACHE to another folder, "
            "then pull again to continue where it stopped"
        )


class StoreFailed(ClientError):
    """The cache folder cannot be read or written."""

    code = "store_failed"

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(
            f"cannot use the cache folder {folder}: {reason}; set SPLIT_CACHE to another folder"
        )


class ModelInUse(ClientError):
    """Another process pulls, removes or uses the model."""

    code = "model_in_use"

    def __init__(self, digest: str) -> None:
        super().__init__(
            f"model {digest[:12]} is in use by another process; wait for it to end, then try again"
        )


class ModelUnknown(ClientError):
    """No stored model, or more than one, answers to a name."""

    code = "model_unknown"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name!r}: {reason}; see split-client pull --list")


class TokenizerInvalid(ClientError):
    """The tokenizer file cannot be used."""

    code = "tokenizer_invalid"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the model's tokenizer cannot be used: {reason}; pull the weights again")


class TextTooCostly(ClientError):
    """The tokenizer outgrew its limits of time or memory at a text and was stopped."""

    code = "text_too_costly"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"the model's tokenizer was stopped at this text: {reason}; shorten it, or put spaces "
            "and line breaks into it"
        )


class TemplateMissing(ClientError):
    """The model brings no chat template."""

    code = "template_missing"

    def __init__(self) -> None:
        super().__init__("this model has no chat template; use 'generate --raw'")


class TemplateFailed(ClientError):
    """The chat template is broken, or refuses these messages."""

    code = "template_failed"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"the model's chat template failed: {reason}; check the roles of the messages, "
            "or use 'generate --raw'"
        )


class TemplateTooCostly(ClientError):
    """The chat template outgrew its limits of time, memory or size and was stopped."""

    code = "template_too_costly"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"the model's chat template was stopped: {reason}; do not trust this server's model, "
            "or use 'generate --raw'"
        )


class PromptTooLong(ClientError):
    """The prompt leaves no room for a reply (counts in tokens).

    ``at_least``: it may have more than ``tokens``, because nobody counted on.
    """

    code = "prompt_too_long"

    def __init__(self, tokens: int, limit: int, *, at_least: bool = False) -> None:
        self.tokens, self.limit = tokens, limit
        has = "has at least" if at_least else "has"
        super().__init__(
            f"the prompt {has} {tokens} tokens and the model's context is {limit}; shorten it"
        )


class ChatTextTooLong(ClientError):
    """More characters in a chat's messages than the text of a prompt may have."""

    code = "chat_text_too_long"

    def __init__(self, characters: int, limit: int) -> None:
        super().__init__(
            f"the chat has {characters} characters and a prompt at most {limit}; shorten it"
        )


class ReplyCut(ClientError):
    """A reply that was asked to have a form and ended before it was whole; it has no value."""

    code = "reply_cut"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the reply was cut before it had its form: {reason}")


class PromptEmpty(ClientError):
    """Nothing to continue from."""

    code = "prompt_empty"

    def __init__(self) -> None:
        super().__init__("the prompt is empty; write something")


class MessageInvalid(ClientError):
    """A message without a content, or without a role that a chat has."""

    code = "message_invalid"

    def __init__(
        self, index: int, reason: str = "it is not a map with the texts 'role' and 'content'"
    ) -> None:
        super().__init__(f"message {index}: {reason}")


class ConversationFileInvalid(ClientError):
    """A saved conversation cannot be read or written."""

    code = "conversation_file_invalid"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")


class Cancelled(ClientError):
    """The caller asked to stop while waiting for the server."""

    code = "cancelled"

    def __init__(self) -> None:
        super().__init__("stopped on request")
