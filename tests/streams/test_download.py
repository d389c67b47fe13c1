"""Downloads from a server on this machine, well-behaved or not."""

import bz2
import hashlib
import http.server
import socket
import threading

import pytest

from marlene._common.errors import MarleneError
from marlene.streams._download import download

BODY = b"@relation mail\n" * 20_000
SHA256 = hashlib.sha256(BODY).hexdigest()
BOMB = bz2.compress(bytes(5_000_000))
TWO_STREAMS = bz2.compress(BODY[:1000]) + bz2.compress(BODY[1000:])


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        getattr(self, "get_" + self.path.strip("/").partition(".")[0].replace("-", "_"))()

    def log_message(self, *args):
        pass

    def answer(self, body, *, length=None, status=200, **headers):
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def get_whole(self):
        self.answer(BODY, length=len(BODY))

    def get_unsaid(self):
        self.answer(BODY)

    def get_packed(self):
        self.answer(TWO_STREAMS, length=len(TWO_STREAMS))

    def get_packed_part(self):
        self.answer(TWO_STREAMS[:-20])

    def get_packed_wrong(self):
        self.answer(b"this is no bzip2 file")

    def get_bomb(self):
        self.answer(BOMB)

    def get_truncated(self):
        self.answer(BODY[:-1], length=len(BODY))

    def get_truncated_chunks(self):
        self.answer(b"ff\r\nabc", **{"Transfer-Encoding": "chunked"})

    def get_long(self):
        self.answer(BODY + b"more")

    def get_missing(self):
        self.answer(b"no such file", length=12, status=404)

    def get_moved(self):
        self.answer(b"", length=0, status=302, Location="/whole")

    def get_to_disk(self):
        self.answer(b"", length=0, status=302, Location="file:///etc/hostname")

    def get_to_ftp(self):
        self.answer(b"", length=0, status=302, Location="ftp://127.0.0.1/whole")

    def get_to_another(self):
        self.answer(b"", length=0, status=302, Location="http://127.0.0.1:1/whole")

    def get_circle(self):
        self.answer(b"", length=0, status=302, Location="/circle")

    def get_silent(self):
        self.server.released.wait(20)

    def get_stalling(self):
        self.answer(BODY[:100], length=len(BODY))
        self.wfile.flush()
        self.server.released.wait(20)

    def get_rude(self):
        self.wfile.write(b"what do you want\r\n\r\n")


@pytest.fixture(scope="module")
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.released = threading.Event()
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}/"
        running.released.set()
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def target(tmp_path):
    return tmp_path / "cache" / "mail.arff"


def fetch(url, target, **settings):
    download(url, target, SHA256, limit=len(BODY), **settings)


@pytest.mark.parametrize("page", ["whole", "unsaid", "moved", "packed.bz2"])
def test_what_arrives_whole_is_stored(server, target, page):
    fetch(server + page, target)
    assert target.read_bytes() == BODY
    assert [file.name for file in target.parent.iterdir()] == ["mail.arff"]


def test_a_packed_file_may_stay_packed(server, tmp_path):
    target = tmp_path / "mail.arff.bz2"
    download(server + "packed.bz2", target, hashlib.sha256(TWO_STREAMS).hexdigest(), limit=len(BODY))
    assert target.read_bytes() == TWO_STREAMS


def test_progress(server, target):
    seen = []
    fetch(server + "whole", target, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(BODY), len(BODY))
    assert seen == sorted(seen)
    assert len(seen) > 1
    fetch(server + "unsaid", target, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(BODY), None)


def test_an_interrupted_download_leaves_nothing(server, target):
    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(server + "whole", target, progress=interrupt)
    assert list(target.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("truncated", f"received {len(BODY) - 1} of {len(BODY)} bytes|IncompleteRead"),
        ("truncated-chunks", "IncompleteRead"),
        ("packed-part.bz2", "end-of-stream"),
        ("packed-wrong.bz2", "Invalid data stream"),
        ("bomb.bz2", f"more than the {len(BODY)} bytes"),
        ("long", f"more than the {len(BODY)} bytes"),
        ("missing", "the server answered 404 Not Found"),
        ("to-disk", "file:///etc/hostname"),
        ("to-ftp", "it leads to another server, ftp://127.0.0.1"),
        ("to-another", "it leads to another server, http://127.0.0.1:1"),
        ("circle", "the server answered 302"),
        ("silent", "the server does not answer"),
        ("stalling", "the server does not answer"),
        ("rude", "what do you want"),
    ],
)
def test_what_goes_wrong_is_one_sentence(server, target, page, reason):
    with pytest.raises(MarleneError, match=reason) as caught:
        fetch(server + page, target, timeout=0.3 if "not answer" in reason else 20)
    assert str(caught.value).startswith(f"cannot download {server}{page}: ")
    assert "\n" not in str(caught.value)
    assert list(target.parent.iterdir()) == []


def test_a_wrong_checksum_keeps_the_old_file(server, target):
    target.parent.mkdir()
    target.write_bytes(b"old")
    with pytest.raises(MarleneError, match=r"the checksum is .*… instead of 000000000000…"):
        download(server + "whole", target, "0" * 64, limit=len(BODY))
    assert target.read_bytes() == b"old"
    assert [file.name for file in target.parent.iterdir()] == ["mail.arff"]


def test_nobody_listens(target):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(MarleneError, match=r"Connection refused|actively refused"):
        fetch(f"http://127.0.0.1:{port}/", target)


@pytest.mark.parametrize(
    "url", ["file:///etc/hostname", "ftp://127.0.0.1/x", "data:text/plain,x", "mail.arff", "", "http://example.org/x"]
)
def test_other_schemes_are_refused(target, url):
    with pytest.raises(MarleneError, match="only https"):
        fetch(url, target)


def test_a_folder_that_cannot_be_made(server, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(MarleneError, match="cannot download"):
        fetch(server + "whole", tmp_path / "cache" / "mail.arff")
