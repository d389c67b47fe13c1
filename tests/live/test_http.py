"""HTTP: replies, limits, health and metrics."""

import contextlib
import json
import threading

import httpx
import pytest

from marlene import Marlene
from marlene._common.errors import MarleneError
from marlene.live import Checkpoints, Http, Journal, Metrics, Outlets, Stop, Web, Worker, WorkerSettings, serve
from marlene.live import _http as module
from marlene.live._open import Route, host_and_port, open_transport
from marlene.live._serve import Pace
from tests.live.messages import said, tickets

MESSAGE = {"id": 1, "x": {"late": 1}}


@contextlib.contextmanager
def served(folder, token=None, longest=10_000):
    """Run a worker in a thread; yield a client."""
    checkpoints = Checkpoints(str(folder / "state"), beside=False, every=1, keep=1)
    worker, stop = Worker(Marlene(), WorkerSettings(max_waiting=100)), Stop()
    paths = {"event": str(folder / "events"), "dead": str(folder / "dead")}
    transport = Http(Journal(str(folder / "journal"), sync=True), Outlets(paths))
    metrics = Metrics(worker, transport, checkpoints, lots=False)
    web = Web("127.0.0.1", 0, metrics.health, metrics.text, transport, token, longest, metrics.observe)
    thread = threading.Thread(target=serve, args=(worker, transport, checkpoints, stop, metrics.watch), daemon=True)
    said(Worker(Marlene()), tickets(20))  # loads the kernels
    web.start()
    thread.start()
    try:
        with httpx.Client(base_url=web.address, timeout=300.0) as client:
            while client.get("/readyz").status_code != 200:
                assert thread.is_alive()
            yield client
    finally:
        stop.set()
        thread.join()
        web.close()
        checkpoints.close()


def test_requests_are_answered(tmp_path):
    with served(tmp_path) as client:
        first = client.post("/predict", json={**MESSAGE, "id": 0, "y": {"bill": True, "crash": False}})
        assert (first.status_code, first.json()["id"]) == (200, 0)
        assert client.post("/predict", json=MESSAGE).json()["labels"] == ["bill"]
        assert client.post("/learn", json={"id": 1, "y": {"bill": False, "crash": True}}).json() == {
            "outcome": "learnt"
        }
        several = client.post("/predict", json=[{**MESSAGE, "id": 5}, {"id": 6, "x": [1]}])
        assert several.status_code == 200
        assert [*several.json()[1]] == ["error", "input", "position", "message"]
        unknown = client.post("/learn", json={"id": "nobody", "y": {"bill": True}})
        assert unknown.status_code == 422
        assert "never asked for" in unknown.json()["error"]
    assert [json.loads(line)["event"] for line in (tmp_path / "events").read_text().splitlines()] == [
        "new label",
        "new label",
    ]
    assert len((tmp_path / "dead").read_text().splitlines()) == 2
    with served(tmp_path) as client:  # goes on: the example with id 5 still waits
        assert client.post("/learn", json={"id": 5, "y": ["bill"]}).json() == {"outcome": "learnt"}


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b"{", 400, "not JSON"),
        (b"[]", 400, "no messages"),
        (b"[1]", 400, "expected a JSON object"),
        (b"[" * 9000, 400, "not JSON"),
        (b" " * 10_001, 413, "longer than 10000 bytes"),
        (b'{"id": 1}', 422, "nothing to predict"),
    ],
)
def test_what_cannot_be_used(tmp_path, body, status, reason):
    with served(tmp_path) as client:
        found = client.post("/predict", content=body)
        assert (found.status_code, reason in found.json()["error"]) == (status, True)


def test_health_metrics_and_token(tmp_path):
    with served(tmp_path, "secret") as client:
        assert client.post("/predict", json=MESSAGE).status_code == 401
        assert client.get("/metrics", headers={"Authorization": "Bearer wrong"}).status_code == 401
        known = {"Authorization": "Bearer secret"}
        assert client.post("/predict", json={**MESSAGE, "y": {"bill": True}}, headers=known).status_code == 200
        assert client.get("/healthz").text == "ok\n"
        found = ""
        while "marlene_predictions_total 1.0" not in found:
            found = client.get("/metrics", headers=known).text
    for line in ("marlene_predictions_total 1.0", "marlene_prediction_seconds_count 1.0", 'marlene_labels{key=""} 1.0'):
        assert line in found
    for name in ("memory_bytes", "lag_messages", "checkpoint_age_seconds", "waiting", "micro_f1", "dead_total"):
        assert f"marlene_{name}" in found


def test_a_full_queue_asks_to_come_again(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_WAITING", 1)
    with served(tmp_path) as client:
        found = client.post("/predict", json=[MESSAGE, MESSAGE])
        assert (found.status_code, found.headers["retry-after"]) == (503, "1")


def test_labels_and_predictions_take_turns(tmp_path):
    transport = Http(Journal(str(tmp_path)), Outlets({}))
    transport.open({})
    assert transport.poll(0.0, 8) == []
    told = []
    for number in range(20):
        assert transport.submit([b'{"id": %d, "y": {}}' % number], True, told.append)
    assert transport.submit([b'{"id": 1, "x": {}}'], False, told.append)
    lots = []
    while records := transport.poll(0.0, 8):
        lots.append([b'"x"' in record.body for record in records])
        transport.send([], records)
    assert lots[0] == [True]
    assert len(lots[1]) == 8
    assert len(told) == 21
    transport.close()


def test_lots_are_as_large_as_time_allows():
    pace = Pace(0.02)
    for _ in range(20):
        pace.note(pace.most, pace.most * 0.0001)
    assert pace.most == 200
    pace.note(200, 4.0)  # much slower all of a sudden
    assert pace.most == 1
    for _ in range(100):
        pace.note(pace.most, pace.most * 1e-6)
    assert pace.most == 256
    with pytest.raises(MarleneError, match="block_seconds must be a number above 0"):
        Pace(0.0)


def test_a_line_that_was_not_written_whole_is_cut_off(tmp_path):
    journal = Journal(str(tmp_path), segment=10)
    assert list(journal.open(None)) == []
    records = [*journal.write([b"one", b"two"]), *journal.write([b"three"]), *journal.write([b"four"])]
    journal.close()
    with (tmp_path / "journal-000000002.jsonl").open("ab") as file:
        file.write(b"half")
    again = Journal(str(tmp_path), segment=10)
    assert list(again.open(records[0].position)) == records[1:]
    assert again.write([b"five"])[0].position == [2, 10]
    again.forget([2, 0])
    again.close()
    assert [path.name for path in tmp_path.iterdir()] == ["journal-000000002.jsonl"]


def test_addresses():
    with pytest.raises(MarleneError, match="give a folder of this machine"):
        open_transport(Route("http://:0"))
    with pytest.raises(MarleneError, match="expected a file, or an address"):
        open_transport(Route("amqp://x"))
    with pytest.raises(MarleneError, match="expected redis://HOST"):
        open_transport(Route("redis://x"))
    with pytest.raises(MarleneError, match="expected HOST:PORT"):
        host_and_port("host:port")
    first = Web("127.0.0.1", 0, lambda: (True, True), lambda: (b"", ""))
    with pytest.raises(MarleneError, match="cannot listen"):
        Web("127.0.0.1", int(first.address.rpartition(":")[2]), lambda: (True, True), lambda: (b"", ""))
    first._socket.close()


@pytest.mark.parametrize("most", [1, 8, 50, 99])
def test_all_that_is_in_the_journal_is_taken_again(tmp_path, most):
    journal = Journal(str(tmp_path / "journal"))
    assert list(journal.open(None)) == []
    written = journal.write([f'{{"id": {i}}}'.encode() for i in range(50)])
    journal.close()
    transport = Http(Journal(str(tmp_path / "journal")), Outlets({}))
    transport.open({})
    taken = []
    while not transport.ready:
        lot = transport.poll(0.0, most)
        assert len(lot) <= most
        taken += lot
    transport.close()
    assert taken == written
