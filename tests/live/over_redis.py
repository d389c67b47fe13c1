"""A transport of Redis Streams for `tests.live.killed`: it ends with the last entry there is."""

import redis

from marlene.live import RedisStreams


class Ending(RedisStreams):
    """Gives few entries at a time, and ends."""

    kept = ()

    def poll(self, seconds, most):
        if not self.kept:
            new = self._pending is None
            self.kept = super().poll(min(seconds, 0.01), most)
            if new and not self.kept:
                return None
        some, self.kept = self.kept[:5], self.kept[5:]
        return some


def transport(folder):
    address = (folder / "address.txt").read_text()
    channels = {"answer": "answers", "event": "answers", "dead": "dead"}
    return Ending(f"{address}/tickets", channels)


def fill(address, messages):
    server = redis.Redis.from_url(address)
    pipeline = server.pipeline(transaction=False)
    for number, message in enumerate(messages, 1):
        pipeline.xadd("tickets", {"message": message}, id=f"{number}-1")
    pipeline.execute()
    server.close()


def outputs(address, stream):
    server = redis.Redis.from_url(address)
    found = [fields[b"message"] for _, fields in server.xrange(stream)]
    pending = server.xpending("tickets", "marlene")["pending"]
    server.close()
    return found, pending
