"""Redis Streams with a real server."""

import json

import pytest
import redis

from marlene import Marlene
from marlene._common.errors import MarleneError
from marlene.live import Checkpoints, RedisStreams, Stop, Worker, serve
from tests.live.over_redis import fill
from tests.live.servers import free_port, redis_server


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with redis_server(tmp_path_factory.mktemp("redis")) as found:
        yield found


def test_entries_are_answered_and_acknowledged(address, tmp_path):
    messages = [
        b'{"id": 1, "x": {"late": 1}, "y": {"bill": true}}',
        b"garbage",
        b'{"id": 2, "x": {"late": 1}}',
    ]
    fill(address, messages)
    server = redis.Redis.from_url(address)
    server.xadd("tickets", {"other": "field"}, id="9-1")
    stop, channels = Stop(), {"answer": "answers", "event": "events", "dead": "dead"}

    def watch(*_):
        if server.xlen("dead") == 2:
            stop.set()

    with_state = Checkpoints(str(tmp_path), keep=1)
    serve(Worker(Marlene()), RedisStreams(f"{address}/tickets", channels), with_state, stop, watch)
    with_state.close()
    answers = [json.loads(fields[b"message"]) for _, fields in server.xrange("answers")]
    assert [answer["id"] for answer in answers] == [1, 2]
    assert (server.xlen("events"), server.xlen("dead")) == (1, 2)
    assert server.xpending("tickets", "marlene")["pending"] == 0
    server.close()


def test_a_server_out_of_reach(monkeypatch):
    transport = RedisStreams(f"redis://127.0.0.1:{free_port()}/0/tickets", {})
    with pytest.raises(MarleneError, match=r"redis tickets: .*refused"):
        transport.open({})
    assert transport.poll(0.001, 10) == []
    monkeypatch.setattr("marlene.live._redis.PATIENCE", -1.0)
    with pytest.raises(MarleneError, match="redis tickets: "):
        transport.poll(0.001, 10)
    assert transport.lag() is None
    transport.close()
