"""The web server of a worker: health, metrics, and requests if that is its transport."""

from __future__ import annotations

import asyncio
import hmac
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene.live._http import bodies_of
from marlene.live._messages import LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from marlene.live._http import Http, Reply

NEEDED = "serving over HTTP"


class Web:
    """A web server in a thread of its own.

    Parameters
    ----------
    host, port
        Where it listens; port 0 takes any that is free.
    health
        Returns whether the worker lives, and whether it takes requests.
    metrics
        Returns the metrics as a text and their type.
    http
        The transport of requests, if there is one.
    token
        What clients must send as a bearer token, but for /healthz and /readyz.
    longest
        The longest body of a request in bytes.
    observe
        Called with the seconds that each request took.
    """

    def __init__(
        self,
        host: str,
        port: int,
        health: Callable[[], tuple[bool, bool]],
        metrics: Callable[[], tuple[bytes, str]],
        http: Http | None = None,
        token: str | None = None,
        longest: int = LONGEST,
        observe: Callable[[float], None] | None = None,
    ) -> None:
        uvicorn = optional("uvicorn", "live", NEEDED)
        self._health, self._metrics, self._http = health, metrics, http
        self._token, self._longest, self._observe = token, longest, observe
        try:
            self._socket = socket.create_server((host, port))
        except (OSError, OverflowError) as error:
            said = getattr(error, "strerror", None) or error
            raise MarleneError(f"http://{host}:{port}: cannot listen ({said})") from error
        # Connections inherit this; without it, a reply may wait for the client to confirm its first half.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.address = "http://{}:{}".format(*self._socket.getsockname()[:2])
        settings: dict[str, Any] = {"log_level": "warning", "access_log": False, "lifespan": "off"}
        self._server = uvicorn.Server(uvicorn.Config(self._app(), timeout_graceful_shutdown=5, **settings))
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)

    def start(self) -> None:
        """Listen."""
        self._thread.start()
        while self._thread.is_alive() and not self._server.started:
            time.sleep(0.005)

    def close(self) -> None:
        """End."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join()
        self._socket.close()

    def _app(self) -> Any:  # noqa: ANN401 (starlette is optional)
        applications = optional("starlette.applications", "live", NEEDED)
        route = optional("starlette.routing", "live", NEEDED).Route
        self._responses = optional("starlette.responses", "live", NEEDED)
        routes = [
            route("/healthz", self._healthz),
            route("/readyz", self._readyz),
            route("/metrics", self._show_metrics),
        ]
        if self._http is not None:
            routes += [route(f"/{name}", getattr(self, f"_{name}"), methods=["POST"]) for name in ("predict", "learn")]
        return applications.Starlette(routes=routes)

    async def _healthz(self, _: Any) -> Any:  # noqa: ANN401 (requests and responses of starlette)
        alive, _ready = self._health()
        return self._said(200 if alive else 503, b"ok\n" if alive else b"the worker does not answer\n", "text/plain")

    async def _readyz(self, _: Any) -> Any:  # noqa: ANN401
        ready = all(self._health())
        return self._said(200 if ready else 503, b"ready\n" if ready else b"not ready\n", "text/plain")

    async def _show_metrics(self, request: Any) -> Any:  # noqa: ANN401
        if not self._allowed(request):
            return self._error(401, "a bearer token is needed")
        return self._said(200, *self._metrics())

    async def _predict(self, request: Any) -> Any:  # noqa: ANN401
        return await self._take(request, learn=False)

    async def _learn(self, request: Any) -> Any:  # noqa: ANN401
        return await self._take(request, learn=True)

    async def _take(self, request: Any, learn: bool) -> Any:  # noqa: ANN401
        began = time.perf_counter()
        if not self._allowed(request):
            return self._error(401, "a bearer token is needed")
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > self._longest:
                return self._error(413, f"longer than {self._longest} bytes")
        try:
            bodies, several = bodies_of(bytes(body), time.time())
        except MarleneError as error:
            return self._error(400, str(error))
        replies = await self._replies(bodies, learn)
        if replies is None:
            return self._error(503, "too many messages wait", {"Retry-After": "1"})
        if self._observe is not None and not learn:
            self._observe(time.perf_counter() - began)
        if several:
            worst = max(status for status, _ in replies)
            code = 200 if worst < 500 else worst
            return self._said(code, b"[" + b",".join(text for _, text in replies) + b"]", "application/json")
        return self._said(*replies[0], "application/json")

    async def _replies(self, bodies: list[bytes], learn: bool) -> list[Reply] | None:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[list[Reply]] = loop.create_future()

        def tell(found: list[Reply]) -> None:
            loop.call_soon_threadsafe(lambda: None if future.done() else future.set_result(found))

        if self._http is None or not self._http.submit(bodies, learn, tell):
            return None
        return await future

    def _allowed(self, request: Any) -> bool:  # noqa: ANN401
        if self._token is None:
            return True
        given = request.headers.get("authorization", "")
        return hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode())

    def _error(self, status: int, reason: str, headers: dict[str, str] | None = None) -> Any:  # noqa: ANN401
        return self._responses.JSONResponse({"error": reason}, status, headers)

    def _said(self, status: int, content: bytes, media: str) -> Any:  # noqa: ANN401
        return self._responses.Response(content, status, media_type=media)
