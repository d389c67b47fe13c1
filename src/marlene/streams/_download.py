"""Downloads that are checked before they replace a file."""

from __future__ import annotations

import bz2
import contextlib
import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, TypeAlias, cast
from urllib.parse import urlsplit

from marlene._common.errors import MarleneError
from marlene._common.files import AnyPath, atomic_write

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the bytes received so far and the total, or None if the server does not say it."""

CHUNK = 1 << 16


class _Body:
    """The body of a response, counted while it is read."""

    def __init__(self, response: http.client.HTTPResponse, progress: Progress | None) -> None:
        self.total = response.length
        self.received = 0
        self._response = response
        self._progress = progress

    def read(self, size: int) -> bytes:
        data = self._response.read(size)
        self.received += len(data)
        if self._progress is not None and data:
            self._progress(self.received, self.total)
        if not data and self.total is not None and self.received < self.total:
            raise MarleneError(f"received {self.received} of {self.total} bytes")
        return data


def download(
    url: str,
    target: AnyPath,
    sha256: str,
    *,
    limit: int,
    progress: Progress | None = None,
    timeout: float = 30,
) -> None:
    """Fetch a file; if that fails, leave nothing behind and say why in one sentence.

    Parameters
    ----------
    url
        An https address; http only for a server on this machine. A redirection is followed only to the same server. A .bz2 file is decompressed while it is received, unless the target is .bz2 too.
    target
        The file to write. It appears only when it is complete and its checksum is right.
    sha256
        The checksum of the file as stored.
    limit
        Store at most this many bytes: neither an endless body nor a decompression bomb fills the disk.
    progress
        Called with the bytes received.
    timeout
        Seconds to wait for an answer of the server.

    Examples
    --------
    >>> download("file:///etc/hostname", "copy", "0" * 64, limit=100)
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: cannot download file:///etc/hostname: only https addresses are followed
    """  # noqa: E501 (a doctest shows the message on one line)
    if not _is_safe(url):
        raise MarleneError(f"cannot download {url}: only https addresses are followed")
    try:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        with _open(url, timeout) as response, atomic_write(target) as file:
            packed = urlsplit(url).path.endswith(".bz2") and Path(target).suffix != ".bz2"
            _copy(_Body(response, progress), file, packed=packed, sha256=sha256, limit=limit)
    except (OSError, EOFError, MarleneError, http.client.HTTPException) as error:
        raise MarleneError(f"cannot download {url}: {' '.join(_reason(error).split())}") from error


def _is_safe(url: str) -> bool:
    """Tell whether nobody on the way can read or change what this address sends."""
    found = urlsplit(url)
    return found.scheme == "https" or (found.scheme == "http" and found.hostname in {"127.0.0.1", "::1", "localhost"})


class _SameServer(urllib.request.HTTPRedirectHandler):
    """Follow no redirection to another server, or to a less safe address."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if (new.scheme, new.netloc) != (old.scheme, old.netloc):
            fp.close()
            raise MarleneError(f"it leads to another server, {new.scheme}://{new.netloc}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _open(url: str, timeout: float) -> http.client.HTTPResponse:
    """Open a web address; without handlers for files, FTP and data addresses, no redirect leads there."""
    web, opener = urllib.request, urllib.request.OpenerDirector()
    protocols = (web.ProxyHandler, web.HTTPHandler, web.HTTPSHandler, web.UnknownHandler)
    answers = (web.HTTPDefaultErrorHandler, web.HTTPErrorProcessor, _SameServer)
    for handler in (*protocols, *answers):
        opener.add_handler(handler())
    request = web.Request(url, headers={"User-Agent": "marlene"})
    return cast("http.client.HTTPResponse", opener.open(request, timeout=timeout))


def _copy(body: _Body, file: IO[bytes], *, packed: bool, sha256: str, limit: int) -> None:
    digest = hashlib.sha256()
    written = 0
    with bz2.BZ2File(cast("IO[bytes]", body)) if packed else contextlib.nullcontext(body) as source:
        while data := source.read(CHUNK):
            written += len(data)
            if written > limit:
                raise MarleneError(f"the file has more than the {limit} bytes it should have")
            digest.update(data)
            file.write(data)
    if digest.hexdigest() != sha256:
        raise MarleneError(f"the checksum is {digest.hexdigest()[:12]}… instead of {sha256[:12]}…")


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        # The error holds the connection to the server.
        error.close()
        return f"the server answered {error.code} {error.reason}"
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, Exception):
        return _reason(error.reason)
    if isinstance(error, TimeoutError):
        return "the server does not answer"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
