"""The seven data sets: what the catalogue says of them is so, and a missing file is asked for in one sentence."""

import bz2
import dataclasses
import hashlib
import http.server
import socket
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from river import datasets

from marlene._common.errors import MarleneError
from marlene.streams import CATALOGUE, from_river, load, read_arff
from marlene.streams import catalogue as module
from marlene.streams.catalogue import find, read, verify

SMALL = b"@relation 'small: -C 1'\n@attribute y {0,1}\n@attribute x numeric\n@data\n1,0.5\n0,1.5\n"


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Put the data folder and the cache below a temporary folder, both absent."""
    monkeypatch.setenv("MARLENE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MARLENE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "data", tmp_path / "cache" / "data"


@pytest.fixture
def replace_entry(monkeypatch):
    def replace(name, **changes):
        changed = {**CATALOGUE, name: dataclasses.replace(CATALOGUE[name], **changes)}
        monkeypatch.setattr(module, "CATALOGUE", changed)

    return replace


@pytest.fixture
def offline(places, replace_entry):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    replace_entry("imdb", url=f"http://127.0.0.1:{port}/Imdb.arff.bz2")
    return places


@pytest.fixture
def small_imdb(places, replace_entry):
    """Serve a small file for IMDB from this machine; give the requests made and the cache."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(bz2.compress(SMALL))

        def log_message(self, *args):
            pass

    requests = []
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        replace_entry(
            "imdb",
            url=f"http://127.0.0.1:{server.server_port}/Imdb.arff.bz2",
            sha256=hashlib.sha256(SMALL).hexdigest(),
            size=len(SMALL),
            examples=2,
            features=1,
            labels=1,
        )
        yield requests, places[1]
        server.shutdown()
        thread.join()


def test_entries():
    assert set(CATALOGUE) == {"slashdot", "ohsumed", "reuters", "yeast", "20ng", "tmc2007", "imdb"}
    for name, entry in CATALOGUE.items():
        assert name == entry.name == name.lower()
        assert len(bytes.fromhex(entry.sha256)) == 32
        assert entry.url.startswith("https://raw.githubusercontent.com/")
        assert entry.url.removesuffix(".bz2").endswith("/" + entry.file)
    with pytest.raises(TypeError):
        CATALOGUE["mine"] = CATALOGUE["imdb"]


@pytest.mark.parametrize("suffix", ["", ".bz2"])
def test_the_data_folder_comes_before_the_cache(places, suffix):
    data, cache = places
    cache.mkdir(parents=True)
    (cache / f"Imdb.arff{suffix}").touch()
    assert find("imdb") == cache / f"Imdb.arff{suffix}"
    data.mkdir()
    (data / f"Imdb.arff{suffix}").touch()
    assert find("imdb") == data / f"Imdb.arff{suffix}"


def test_without_a_data_folder_the_cache_is_used(places, monkeypatch):
    cache = places[1]
    monkeypatch.delenv("MARLENE_DATA")
    cache.mkdir(parents=True)
    (cache / "Imdb.arff").touch()
    assert find("imdb") == cache / "Imdb.arff"


def test_offline_the_user_learns_which_file_goes_where(offline):
    cache = offline[1]
    with pytest.raises(MarleneError) as caught:
        load("imdb")
    message = str(caught.value)
    assert message.startswith("imdb: cannot download http://127.0.0.1:")
    assert message.endswith(f"put Imdb.arff or Imdb.arff.bz2 into {cache} or the folder $MARLENE_DATA names")
    assert "\n" not in message
    assert list(cache.iterdir()) == []


def test_a_download_is_kept(small_imdb):
    requests, cache = small_imdb
    seen = []
    stream = load("IMDB", progress=lambda done, total: seen.append((done, total)))
    assert (stream.name, stream.labels, len(stream)) == ("imdb", ("y",), 2)
    assert (cache / "Imdb.arff").read_bytes() == SMALL
    assert seen[-1] == (len(bz2.compress(SMALL)), None)
    verify("imdb")
    assert load("imdb") == stream
    assert requests == ["/Imdb.arff.bz2"]


def test_a_file_that_was_changed(small_imdb):
    requests, cache = small_imdb
    load("imdb")
    (cache / "Imdb.arff").write_bytes(SMALL + b"1,2\n")
    with pytest.raises(MarleneError, match="this is not imdb: the checksum is"):
        verify("imdb")
    with pytest.raises(MarleneError, match="this is not imdb: expected 2 examples, 1 features and 1 labels, found 3,"):
        read("imdb")
    assert len(requests) == 1


def test_yeast_needs_no_file(places):
    assert repr(load("yeast")) == "<Stream yeast: 2417 examples, 103 features (dense), 14 labels>"
    assert not places[1].exists()


def test_yeast_is_rivers_from_example_917_on():
    stream = load("yeast")
    original = from_river(datasets.Yeast())
    np.testing.assert_array_equal(stream.X, np.concatenate([original.X[917:], original.X[:917]]))
    np.testing.assert_array_equal(stream.Y, np.concatenate([original.Y[917:], original.Y[:917]]))
    assert (stream.features, stream.labels) == (original.features, original.labels)


@pytest.mark.data
def test_yeast_is_mekas(data_folder):
    stream = load("yeast")
    assert stream == read_arff(data_folder / "Yeast.arff.bz2", name="yeast")
    assert stream.X.dtype == np.float64
    assert stream.X.flags.c_contiguous


@pytest.mark.data
def test_tmc2007_has_the_labels_its_xml_file_names(data_folder):
    by_name = read_arff(data_folder / "tmc2007-500.arff.bz2", xml=data_folder / "tmc2007-500.xml", name="tmc2007")
    assert load("tmc2007") == by_name


@pytest.mark.data
@pytest.mark.parametrize("name", CATALOGUE)
def test_the_catalogue_tells_the_truth(name, data_folder):
    entry = CATALOGUE[name]
    assert find(name).parent == data_folder
    verify(name)
    with bz2.open(find(name)) as file:
        assert len(file.read()) == entry.size
    stream = load(name)
    assert (len(stream), len(stream.features), len(stream.labels)) == (entry.examples, entry.features, entry.labels)
    assert {feature.kind for feature in stream.features} == {entry.feature_kind}
    assert isinstance(stream.X, sp.csr_array) == (name != "yeast")
    assert stream.Y.min() == 0
