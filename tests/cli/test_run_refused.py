"""`marlene run` with bad input: one line that says what is wrong, and exit code 2."""

import errno
import subprocess
from pathlib import Path

import pytest

from marlene.cli import _run
from marlene.evaluation import PrequentialResult
from tests.cli.commands import COMMAND, Outcome, caller, environment

call = pytest.fixture(caller)

FILES = {
    "good.csv": "a,y\n1.5,1\n2,0\n",
    "two.csv": "a,y\n1,1\n2,2\n",
    "empty.csv": "a,y\n",
    "nothing.csv": "",
    "inf.csv": "a,y\n1,1\ninf,0\n",
    "ragged.csv": "a,y\n1,1,1\n",
    "colour.csv": "colour,y\n" + "red,1\ngreen,0\n" * 3,
    "negative.csv": "a,y\n" + "-1,1\n-2,0\n" * 10,
    "plain.arff": "@relation r\n@attribute a numeric\n@data\n1\n",
    "two.arff": "@relation 'r: -C 1'\n@attribute y {0,1,2}\n@attribute a numeric\n@data\n2,1\n",
    "inf.arff": "@relation 'r: -C 1'\n@attribute y {0,1}\n@attribute a numeric\n@data\n1,inf\n",
    "notes.txt": "hello\n",
    "notes.doc": "hello\n",
    "bad.jsonl": '{"a": 1, "y": 1}\n{"a": 1,\n',
    "bad.svm": "1 1:1\n1 1;1\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "bytes.csv").write_bytes(bytes(range(256)))
    (tmp_path / "bytes.arff.bz2").write_bytes(b"BZh9 not really")
    (tmp_path / "folder.csv").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def assert_refused(outcome, *said):
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("marlene: ")
    assert outcome.err.count("\n") == 1
    for words in said:
        assert words in outcome.err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("yeasst", "'yeasst' is neither a file nor a data set of the catalogue (did you mean yeast?): "),
        ("absent.csv --labels y", "'absent.csv' is neither a file nor a data set"),
        ("x" * 5000, "too long"),
        ("yeast --drift none", "--drift none: the method marlene has no drift detector to choose"),
        ("yeast --method majorty", "there is no method 'majorty' (did you mean majority?)"),
        ("yeast --method river:os.system", "River has no 'os.system'"),
        ("yeast --method river:stats.Mean", "is not a River classifier"),
        ("yeast --method river:ensemble.BaggingClassifier", "cannot be made with its default parameters"),
        ("yeast --labels y", "labels= does not apply to yeast"),
        ("yeast --features odd", "--features must be one of auto, numeric, binary, not 'odd'"),
        ("notes.doc --labels y", "expected the suffix .arff, .csv, .tsv, .parquet, .json"),
        ("notes.txt", "notes.txt, line 1, column 1: expected a label, which is a number, found 'hello'"),
        ("notes.txt --labels y", "labels= does not apply to notes.txt"),
        ("bad.jsonl --labels y", "bad.jsonl, line 2, column 9: expected JSON objects"),
        ("bad.svm", "bad.svm, line 2, column 3: expected feature:value"),
        ("colour.csv --labels y --drop size", "no column matches the pattern 'size', which is to be dropped"),
        (
            "colour.csv --labels y --kinds colour=words",
            "the kind must be one of numeric, binary, nominal, text, date, bag",
        ),
        ("folder.csv --labels y", "cannot be read (Is a directory)"),
        ("bytes.csv --labels y", "bytes.csv, line "),
        ("bytes.arff.bz2", "the compressed data are damaged"),
        ("good.csv", "say which columns are labels"),
        ("good.csv --labels z*", "no column matches the label pattern 'z*'"),
        ("good.csv --labels -3", "cannot take -3 of 2 columns as labels"),
        ("good.csv --labels 0", "cannot take 0 of 2 columns as labels"),
        ("plain.arff", "label"),
        ("two.csv --labels y", "two.csv, line 3, label 'y': expected 0 or 1, true or false, yes or no, found '2'"),
        ("two.arff", "label 'y'"),
        ("empty.csv --labels y", "empty.csv"),
        ("nothing.csv --labels y", "nothing.csv"),
        ("inf.csv --labels y", "inf.csv, line 3, column 'a': the value is infinite"),
        ("inf.arff", "inf.arff"),
        ("ragged.csv --labels y", "ragged.csv, line 2"),
        ("good.csv --labels y --predictions no/such/out.npz", "there is no folder"),
        ("good.csv --labels y --predictions good.csv/out.npz", "there is no folder"),
        ("good.csv --labels y --predictions folder.csv", "this is not an ordinary file"),
        ("good.csv --labels y --predictions /dev/null", "this is not an ordinary file"),
    ],
)
def test_one_line_and_code_2(call, arguments, said):
    assert_refused(call("run", *arguments.split()), said)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("stream", "method", "said"),
    [
        ("colour.csv", "river:naive_bayes.GaussianNB", "river:naive_bayes.GaussianNB cannot learn colour: "),
        ("negative.csv", "river:naive_bayes.MultinomialNB", "cannot learn negative: "),
    ],
)
def test_a_river_classifier_that_does_not_suit_the_stream(call, stream, method, said):
    outcome = call("run", stream, "--labels", "y", "--method", method)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err.splitlines()[-1]
    assert "Traceback" not in outcome.err


@pytest.mark.usefixtures("folder")
def test_an_error_of_our_own_is_not_dressed_up(call, monkeypatch):
    def broken(*_, **__):
        raise TypeError("a mistake in the package")

    monkeypatch.setattr(_run, "prequential", broken)
    with pytest.raises(TypeError, match="a mistake in the package"):
        call("run", "good.csv", "--labels", "y")


def test_a_file_that_may_not_be_read(call, folder, monkeypatch):
    def denied(self, *_, **__):
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", denied)
    assert_refused(call("run", folder / "good.csv", "--labels", "y"), "good.csv: cannot be read (Permission denied)")
    monkeypatch.setattr(Path, "exists", denied)
    assert_refused(call("run", folder / "good.csv", "--labels", "y"), "Permission denied", "good.csv")


@pytest.mark.usefixtures("folder")
def test_a_folder_that_may_not_be_written(call, monkeypatch):
    monkeypatch.setattr(_run.os, "access", lambda *_: False)
    outcome = call("run", "good.csv", "--labels", "y", "--predictions", "out.npz")
    assert_refused(outcome, "--predictions out.npz: the folder", "cannot be written")


@pytest.mark.parametrize("json", [[], ["--json"]])
def test_scores_are_printed_though_predictions_could_not_be_written(call, folder, monkeypatch, json):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(PrequentialResult, "save_predictions", full)
    outcome = call("run", "good.csv", "--labels", "y", "--predictions", "out.npz", *json)
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1] == "marlene: --predictions out.npz: No space left on device"
    assert ("macro_gmean" if json else "Macro-G-Mean") in outcome.out
    assert not (folder / "out.npz").exists()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "arguments",
    [["--limit", "0"], ["--limit", "x"], ["--window", "0"], ["--start", "-2"], ["--delay", "-1"], ["--nonsense"]],
    ids=" ".join,
)
def test_wrong_options(call, arguments):
    outcome = call("run", "good.csv", "--labels", "y", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert arguments[0] in outcome.err
    assert "Traceback" not in outcome.err


def test_the_same_from_a_process(folder):
    command = [*COMMAND, "run", "two.csv", "--labels", "y", "--json"]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert_refused(Outcome(done.returncode, done.stdout, done.stderr), "two.csv, line 3, label 'y'")
