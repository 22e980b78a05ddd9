"""Every error of the device client, one tree under :class:`ClientError`.

Each class has a stable ``code`` (what programs compare) and a message that says what to do::

    ClientError
    ├── ServerUnreachable
    │   └── TlsMismatch
    ├── ConnectionLost, UpgradeRefused
    ├── ServerRefused
    │   └── ModelChanged, ModelNotServed, ModelLoading, ModelBusy, ModelUnusable,
    │       NotASplitServer
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

from split_client.errors.base import (
    Cancelled,
    ClientError,
)
from split_client.errors.server import (
    AnswerInvalid,
    ConnectionLost,
    ModelBusy,
    ModelChanged,
    ModelLoading,
    ModelNotServed,
    ModelUnusable,
    NotASplitServer,
    ServerRefused,
    ServerUnreachable,
    SessionUnstable,
    TlsMismatch,
    TokenInvalid,
    UpgradeRefused,
)
from split_client.errors.texts import (
    ChatTextTooLong,
    ConversationFileInvalid,
    MessageInvalid,
    PromptEmpty,
    PromptTooLong,
    ReplyCut,
    TemplateFailed,
    TemplateMissing,
    TemplateTooCostly,
    TextTooCostly,
    TokenizerInvalid,
)
from split_client.errors.weights import (
    ChecksumMismatch,
    DiskFull,
    DownloadFailed,
    ManifestInvalid,
    ModelInUse,
    ModelUnknown,
    NotEnoughSpace,
    StoreFailed,
)

__all__ = [
    "AnswerInvalid",
    "Cancelled",
    "ChatTextTooLong",
    "ChecksumMismatch",
    "ClientError",
    "ConnectionLost",
    "ConversationFileInvalid",
    "DiskFull",
    "DownloadFailed",
    "ManifestInvalid",
    "MessageInvalid",
    "ModelBusy",
    "ModelChanged",
    "ModelInUse",
    "ModelLoading",
    "ModelNotServed",
    "ModelUnknown",
    "ModelUnusable",
    "NotASplitServer",
    "NotEnoughSpace",
    "PromptEmpty",
    "PromptTooLong",
    "ReplyCut",
    "ServerRefused",
    "ServerUnreachable",
    "SessionUnstable",
    "StoreFailed",
    "TemplateFailed",
    "TemplateMissing",
    "TemplateTooCostly",
    "TextTooCostly",
    "TlsMismatch",
    "TokenInvalid",
    "TokenizerInvalid",
    "UpgradeRefused",
]
