"""One request to the server of this machine, with a token of the settings that it runs with."""

from __future__ import annotations

import http.client
import json
import ssl
from typing import Any
from urllib.parse import urlsplit

from split_server.errors import ServerError
from split_server.pairing.certificate import certificate_files
from split_server.pairing.state import StateFolder
from split_server.security.tokens import token_in
from split_server.serving.config import ServerConfig
from split_server.serving.health import Unhealthy, address_of

# Of a document of figures, and of what checking all prompts tells.
_MAX_BYTES = 1 << 20


class Refused(ServerError):
    """The server answers with an error."""

    code = "refused"


class OtherServer(ServerError):
    """What listens there shows another certificate than the server of the settings."""

    code = "other_server"

    def __init__(self, url: str) -> None:
        super().__init__(
            f"{url}: its certificate is not the one of these settings, so nothing was sent; give "
            "--state or --tls-cert as the server has it"
        )


class Asking:
    """Asks the server of ``config``; ``name``: whose token of the tokens file it is, None for the
    only one. ``seconds`` for which each answer is waited for.

    Raises Unhealthy, AddressFileUnusable, BadTokens.
    """

    def __init__(self, config: ServerConfig, name: str | None, seconds: float) -> None:
        self.url = address_of(config)
        self._config, self._seconds = config, seconds
        self._token = config.token
        if self._token is None and config.token_file is not None:
            self._token = token_in(config.token_file, name)

    def answer(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """The document that comes back. Raises Unhealthy, OtherServer, Refused."""
        try:
            status, data = self._asked(method, path, body)
            document = json.loads(data)
        except (OSError, http.client.HTTPException) as error:
            raise Unhealthy(self.url, f"no answer ({error or type(error).__name__})") from error
        except (ValueError, RecursionError):
            raise Unhealthy(self.url, "an answer of something else") from None
        if not isinstance(document, dict):
            raise Unhealthy(self.url, "an answer of something else")
        if status != http.client.OK:
            raise Refused(f"{self.url}{path}: {_reason(status, document)}")
        return document

    def _asked(self, method: str, path: str, body: Any) -> tuple[int, bytes]:
        headers = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        sent = None if body is None else json.dumps(body).encode()
        if sent is not None:
            headers["Content-Type"] = "application/json"
        connection = self._connection()
        try:
            connection.request(method, path, sent, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(_MAX_BYTES)
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        """Open; over TLS to nobody but the server of the settings. Raises OSError, OtherServer."""
        parts = urlsplit(self.url)
        host, port = parts.hostname or "", parts.port
        if parts.scheme != "https":
            return http.client.HTTPConnection(host, port, timeout=self._seconds)
        context = ssl.create_default_context()
        # Its own certificate is expected, byte by byte, under whatever name it is asked.
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        connection = http.client.HTTPSConnection(host, port, timeout=self._seconds, context=context)
        connection.connect()
        shown = connection.sock.getpeercert(binary_form=True)
        if shown is None or shown != self._certificate():
            connection.close()
            raise OtherServer(self.url)
        return connection

    def _certificate(self) -> bytes | None:
        """The certificate that the server of the settings shows (DER), None where there is none."""
        config = self._config
        try:
            if config.tls_cert is not None:
                pem = config.tls_cert.expanduser().read_bytes()
            else:
                pem = StateFolder(config.state).read(certificate_files(config.replica)[0]) or b""
            first, end, _ = pem.decode("ascii").partition(ssl.PEM_FOOTER)
            return ssl.PEM_cert_to_DER_cert(first[first.index(ssl.PEM_HEADER) :] + end)
        except (OSError, ValueError):
            return None


def _reason(status: int, document: dict[str, Any]) -> str:
    """What an error says of itself, in the form of either API."""
    error = document.get("error")
    if not isinstance(error, dict):
        return f"it answers {status}"
    return f"{error.get('message')} [{error.get('code')}]"
