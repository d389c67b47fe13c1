"""Checkpoints: numbered, whole, kept in numbers, written beside the worker."""

import errno
import shutil
import threading
import time
from pathlib import Path

import pytest

from marlene import Marlene
from marlene._common.errors import MarleneError
from marlene._common.states import load_state, save_state
from marlene.live import Checkpoints, Worker, WorkerSettings
from marlene.live import _checkpoints as module
from marlene.live import _folders as folders
from tests.live.messages import answers, said, same_state, tickets

MESSAGES = tickets(60)


def worker(count):
    mine = Worker(Marlene(base="naive-bayes"))
    said(mine, MESSAGES[:count])
    return mine


def resumed(place):
    mine, checkpoints = worker(0), Checkpoints(place)
    found = checkpoints.resume(mine)
    checkpoints.close()
    return mine if found else None


@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize("remote", [False, True])
def test_the_last_few_are_kept(tmp_path, beside, remote):
    place = f"file://{tmp_path}/state" if remote else str(tmp_path / "state")
    mine, checkpoints, done = worker(0), Checkpoints(place, keep=2, every=10, beside=beside), []
    for _ in range(5):
        said(mine, MESSAGES[mine.counts["messages"] :][:10])
        done.append(checkpoints.offer(mine))
        while checkpoints._child:
            done.append(checkpoints.offer(mine))
    assert [positions["test"] for positions in done if positions] == [10, 20, 30, 40]
    assert sorted(path.name[-6:-4] for path in (tmp_path / "state").glob("*.npz")) == ["40", "50"]
    checkpoints.close()
    same_state(resumed(place), mine)


def test_a_worker_without_checkpoints_begins_anew(tmp_path):
    assert resumed(str(tmp_path / "state")) is None


def test_a_damaged_file_is_passed_over(tmp_path):
    checkpoints, mine = Checkpoints(str(tmp_path)), worker(20)
    checkpoints.write(mine)
    said(mine, MESSAGES[20:])
    checkpoints.write(mine)
    checkpoints.close()
    latest = max(tmp_path.glob("*.npz"))
    latest.write_bytes(latest.read_bytes()[:-100])
    with pytest.warns(UserWarning, match="damaged.*the checkpoint before it is used"):
        same_state(resumed(str(tmp_path)), worker(20))


def test_a_damaged_learner_is_passed_over(tmp_path):
    checkpoints = Checkpoints(str(tmp_path))
    for count in (20, 30):
        checkpoints.write(worker(count))
    checkpoints.close()
    latest = max(tmp_path.glob("*.npz"))
    header, arrays = load_state(latest, module.FILE_TYPE, module.VERSION)
    name = next(name for name in arrays if name.endswith("scales.seen"))
    arrays[name][...] = -1
    save_state(latest, module.FILE_TYPE, module.VERSION, header, arrays)
    with pytest.warns(UserWarning, match="damaged.*the checkpoint before it is used"):
        same_state(resumed(str(tmp_path)), worker(20))


def test_a_file_of_a_newer_program_is_refused(tmp_path):
    checkpoints = Checkpoints(str(tmp_path))
    checkpoints.write(worker(20))
    checkpoints.close()
    (path,) = tmp_path.glob("*.npz")
    save_state(path, module.FILE_TYPE, module.VERSION + 1, *load_state(path, module.FILE_TYPE, module.VERSION))
    with pytest.raises(MarleneError, match=r"npz: version 2 of the format, this program reads version 1$"):
        resumed(str(tmp_path))


def test_a_file_of_an_older_program_is_read(tmp_path):
    """The file holds 79 messages of `tickets(40, seed=3)`, as an earlier program took them."""
    shutil.copy(Path(__file__).with_name("checkpoint-version-1.npz"), tmp_path / "checkpoint-000000000000079.npz")
    chosen, messages = WorkerSettings(max_waiting=10), tickets(60, seed=3)
    mine, whole = (Worker(Marlene(base="naive-bayes"), chosen) for _ in range(2))
    checkpoints = Checkpoints(str(tmp_path))
    assert checkpoints.resume(mine)
    assert checkpoints.written_at == (tmp_path / "checkpoint-000000000000079.npz").stat().st_mtime
    checkpoints.close()
    said(whole, messages[:79])
    assert mine.counts["learnt"] == whole.counts["learnt"]
    # It remembered no answers of examples that no longer wait.
    new, same = ([one for one in answers(said(each, messages[79:])) if one["id"] >= 40] for each in (mine, whole))
    assert [one["id"] for one in new] == [one["id"] for one in same] == list(range(40, 60))
    for one, other in zip(new, same, strict=True):  # what an earlier program learnt differs a little
        assert one["proba"] == pytest.approx(other["proba"], abs=0.05)
    assert mine.counts["learnt"] == whole.counts["learnt"] > 50


def test_uploading_does_not_stop_the_worker(tmp_path, monkeypatch):
    goes_on = threading.Event()
    original = folders.RemoteFolder.send

    def slow(*arguments):
        goes_on.wait()
        original(*arguments)

    monkeypatch.setattr(folders.RemoteFolder, "send", slow)
    place = f"file://{tmp_path}/state"
    checkpoints, mine = Checkpoints(place, every=1), worker(20)
    checkpoints.offer(mine)
    while checkpoints._child.upload is None:
        checkpoints.offer(mine)
    said(mine, MESSAGES[20:])
    assert checkpoints.offer(mine) is None
    assert (checkpoints.written, list((tmp_path / "state").glob("checkpoint-*"))) == (0, [])
    goes_on.set()
    checkpoints.close()
    assert checkpoints.written == 1
    assert resumed(place).counts["messages"] == 20


def test_an_upload_that_fails_is_tried_again(tmp_path, monkeypatch):
    def broken(*_):
        raise RuntimeError("no network")

    place = f"file://{tmp_path}/state"
    checkpoints, mine = Checkpoints(place, every=1, seconds=0.0), worker(20)
    with monkeypatch.context() as broken_network:
        broken_network.setattr(folders.RemoteFolder, "send", broken)
        checkpoints.offer(mine)
        with pytest.warns(UserWarning, match=r"state/checkpoint-000000000000020.npz: no network"):
            checkpoints._completed(wait=True)
    assert (checkpoints.written, checkpoints.failed) == (0, 1)
    checkpoints.offer(mine)
    checkpoints.close()
    assert (checkpoints.written, checkpoints.failed) == (1, 1)
    same_state(resumed(place), mine)


def test_a_full_disk_stops_nothing_but_the_last_write(tmp_path, monkeypatch, capfd):
    checkpoints, mine = Checkpoints(str(tmp_path), every=1), worker(20)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "save_state", full)
    checkpoints.offer(mine)
    while checkpoints._child:
        assert checkpoints.offer(mine) is None
    assert (checkpoints.failed, checkpoints.written) == (1, 0)
    assert capfd.readouterr().err.endswith("checkpoint-000000000000020.npz: No space left on device\n")
    with pytest.raises(MarleneError, match="No space left on device"):
        checkpoints.write(mine)
    checkpoints.close()
    assert list(tmp_path.glob("*.npz")) == []


def test_two_workers_do_not_share_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "PATIENCE", 0.05)
    first = Checkpoints(str(tmp_path))
    with pytest.raises(MarleneError, match="another worker uses this folder"):
        Checkpoints(str(tmp_path))
    first.close()
    Checkpoints(str(tmp_path)).close()


def test_what_a_killed_worker_left_unfinished_is_removed(tmp_path):
    (tmp_path / ".checkpoint-1.npz.abc.tmp").write_bytes(b"part")
    Checkpoints(str(tmp_path)).close()
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_an_unknown_address_is_refused():
    with pytest.raises(MarleneError, match="nowhere://x: "):
        Checkpoints("nowhere://x")


def test_the_worker_goes_on_while_a_checkpoint_is_written(tmp_path, monkeypatch):
    original = module.save_state

    def slow(*arguments):
        time.sleep(0.5)
        original(*arguments)

    monkeypatch.setattr(module, "save_state", slow)
    checkpoints, mine = Checkpoints(str(tmp_path), every=1), worker(20)
    checkpoints.offer(mine)
    said(mine, MESSAGES[20:])
    assert checkpoints._child is not None
    checkpoints._completed(wait=True)
    checkpoints.close()
    assert resumed(str(tmp_path)).counts["messages"] == 20
