"""The measurements run and fill their tables; how fast anything was is not tested."""

import json

import pytest

from benchmarks import __main__ as program
from benchmarks import (
    _measure,
    _record,
    _report,
    arff,
    compilation,
    forest,
    growth,
    learners,
    live,
    memory,
    reading,
    scaling,
    singly,
    vowpal,
)
from benchmarks._measure import Bound, Table
from marlene.streams import load

ARFF = """@relation 'tiny: -C 1'
@attribute label {0,1}
@attribute word {0,1}
@attribute size numeric
@data
{0 1}
{1 1, 2 0.5}
{}
"""


def check(table, n_rows, n_bounds):
    assert table.rows
    assert len(table.rows) == n_rows
    assert len(table.bounds) == n_bounds
    for row in table.rows:
        assert len(row) == len(table.columns)
        assert all(cell > 0 for cell in row if isinstance(cell, float))
        assert all(cell >= 0 for cell in row if isinstance(cell, int))
    assert all(bound.measured > 0 for bound in table.bounds)
    lines = str(table).splitlines()
    assert lines[0] == f"### {table.title}"
    assert sum(line.startswith("|") for line in lines) == n_rows + 2
    assert sum(line.endswith(("holds.", "MISSED.")) for line in lines) == n_bounds


def test_reading(tmp_path):
    file = tmp_path / "tiny.arff"
    file.write_text(ARFF, encoding="utf-8")
    table = arff.read_table(file, rounds=1)
    check(table, n_rows=2, n_bounds=2)
    assert [row[:2] for row in table.rows] == [("marlene", 3), ("liac-arff", 3)]


def test_reading_json_lines():
    pytest.importorskip("orjson")
    table = reading.json_table(rows=50, rounds=1)
    check(table, n_rows=3, n_bounds=1)


def test_reading_json_lines_without_orjson(monkeypatch):
    monkeypatch.setattr(reading.importlib.util, "find_spec", lambda _: None)
    assert "orjson is not installed" in str(reading.json_table(rows=50, rounds=1))


def test_reading_svmlight():
    check(reading.svmlight_table(rows=50, rounds=1), n_rows=2, n_bounds=1)


def test_memory():
    table = memory.memory_table((100_000, 200_000), "majority")
    check(table, n_rows=2, n_bounds=2)
    assert [row[1] for row in table.rows] == [2000, 2000]


def test_words_of_texts():
    check(reading.text_table(rows=50, rounds=1), n_rows=2, n_bounds=1)


def test_trees_on_yeast():
    table = forest.yeast(limit=20)
    check(table, n_rows=3, n_bounds=1)
    assert "14 trees, one per label, predict and then learn 20 examples of 103 features" in table.method
    assert [row[-1] for row in table.rows] == [14, 14, 14]


@pytest.mark.data
def test_trees_on_slashdot():
    table = forest.slashdot(limit=5)
    check(table, n_rows=3, n_bounds=1)
    assert "22 trees, one per label, predict and then learn 5 examples of 1,079 features" in table.method


def test_one_example_at_a_time():
    table = learners.one_by_one(load("yeast", limit=20))
    check(table, n_rows=3, n_bounds=1)


def test_one_example_at_a_time_beside_river():
    check(singly.pairs(None, 20), n_rows=1, n_bounds=1)
    table = singly.pairs(load("yeast", limit=20), 20)
    check(table, n_rows=2, n_bounds=3)
    assert [row[0] for row in table.rows] == ["two numbers, three labels", "yeast"]
    check(singly.late(load("yeast", limit=20)), n_rows=2, n_bounds=1)


def test_blocks_beside_vowpal_wabbit():
    check(vowpal.blocks(20, ["yeast"]), n_rows=1, n_bounds=2)


@pytest.mark.data
def test_learners_on_streams():
    table = learners.streams(["slashdot"], limit=20)
    check(table, n_rows=2, n_bounds=0)
    assert [row[:3] for row in table.rows] == [("slashdot", "br-marlene", 20), ("slashdot", "marlene", 20)]


@pytest.mark.data
def test_pairs_on_streams():
    table = learners.pairs(["yeast"], limit=20)
    assert [row[:2] for row in table.rows] == [("yeast", "all"), ("yeast", "5")]
    assert table.rows[0][2] == 14 + 14 * 13


def test_growth_with_the_labels(monkeypatch):
    monkeypatch.setattr(learners, "LARGEST_TABLE", 1.0)
    table = learners.growth((5, 40), 20)
    assert [row[:2] for row in table.rows] == [(5, "all"), (5, "5"), (40, "all"), (40, "5")]
    assert [row[2] == "not run" for row in table.rows] == [False, False, True, False]
    assert table.rows[2][4] > table.rows[3][4] > table.rows[0][4]


def test_a_live_worker(monkeypatch):
    parts = ({"x": {"late": 1}}, {"y": {"bill": True}})
    wanted = [json.dumps({"id": i // 2} | parts[i % 2]) for i in range(40)]
    monkeypatch.setattr(live, "messages", lambda _: [text.encode() for text in wanted])
    monkeypatch.setattr(live, "absent_data", str)
    check(live.lines_table(rounds=1), n_rows=1, n_bounds=1)
    check(live.latency_table(), n_rows=2, n_bounds=2)
    check(live.memory_table((200, 400)), n_rows=2, n_bounds=1)


def test_both_ways_of_calling_the_forest_give_the_same():
    stream = load("yeast", limit=50)
    votes, nodes = forest.in_one_call(stream)
    single_votes, single_nodes = forest.one_by_one(stream, [stream.X[[i]] for i in range(len(stream))])
    assert (votes == single_votes).all()
    assert nodes == single_nodes


def test_cost_over_time():
    table = scaling.over_time((1000, 2000, 4000), n_features=50, n_nonzeros=5)
    check(table, n_rows=3, n_bounds=1)
    assert [row[0] for row in table.rows] == ["1 to 1,000", "1,001 to 2,000", "2,001 to 4,000"]
    assert [row[2] for row in table.rows] == [3, 3, 3]


def test_cost_by_size():
    table = scaling.by_size("sizes", [(50, 5), (500, 5)], before=1, measured=2, bound=("cost", 2.0))
    check(table, n_rows=2, n_bounds=1)
    assert [row[:2] for row in table.rows] == [(50, 5), (500, 5)]


@pytest.mark.parametrize(("features", "nonzeros"), [(100, 20), (50, 5), (10_000, 80)])
def test_generated_rows_have_the_non_zeros_they_should(features, nonzeros):
    X, y = next(scaling.blocks(features, nonzeros))
    assert X.shape == (len(y), features)
    assert X.has_canonical_format
    assert (X.indptr[1:] - X.indptr[:-1] == nonzeros).all()
    assert 0.8 < (X[:, [0]].toarray()[:, 0] == y).mean() < 1


def test_compilation():
    cold, warm = compilation.tables(quick=True)
    check(cold, n_rows=2, n_bounds=0)
    check(warm, n_rows=1, n_bounds=0)
    assert warm.rows[0][-1] == 0


FIRST = """
import json, os, pathlib
pathlib.Path(os.environ["MARLENE_CACHE"], "kernels").mkdir(parents=True, exist_ok=True)
print(json.dumps({"import": 0.25, "all": 0.5, "kernels": {"one": 0.125} if "NUMBA_CPU_NAME" in os.environ else {}}))
"""


def test_first_prediction(tmp_path, monkeypatch):
    (tmp_path / "first.py").write_text(FIRST)
    monkeypatch.setattr(compilation, "FIRST", tmp_path / "first.py")
    table = compilation.first_table(tmp_path, 2)
    check(table, n_rows=3, n_bounds=3)
    assert [row[1:] for row in table.rows] == [(0.25, 0.5, "")] * 3
    assert (tmp_path / "package" / "marlene" / "kernels" / "compiled").is_dir()


def test_without_data_one_line_says_so(monkeypatch):
    monkeypatch.delenv(_measure.DATA, raising=False)
    for table in (*arff.tables(quick=True), forest.slashdot(limit=5)):
        assert str(table).splitlines()[2:] == ["Not measured: $MARLENE_DATA does not say where the data sets are."]


def test_bounds():
    fast = Bound("speed", 61.0, 60, "× River's", at_least=True)
    slow = Bound("time", 1.5, 1.0, "s")
    assert fast.holds
    assert not slow.holds
    assert str(fast) == "Bound: speed at least 60 × River's. Measured 61.0 × River's: holds."
    assert str(slow) == "Bound: time at most 1.00 s. Measured 1.50 s: MISSED."
    assert _report.summary({"a": [Table("a", "", bounds=[fast, slow])]}) == "1 of 2 bounds hold; missed: time."


@pytest.fixture
def stub(monkeypatch, tmp_path):
    """A program with one measurement that is made at once, and its own file to write."""

    class Stub:
        @staticmethod
        def tables(*, quick):
            yield Table("One", "How.", ("what", "s"), [("quick" if quick else "slow", 1.5)])

    monkeypatch.setattr(program, "BENCHMARKS", {"one": Stub})
    monkeypatch.setattr(program, "README", tmp_path / "README.md")
    return tmp_path / "README.md"


def test_the_program_prints_and_writes(stub, capsys):
    program.main(["one", "--quick"])
    assert "quick" in capsys.readouterr().out
    assert not stub.exists()
    program.main(["--write"])
    assert capsys.readouterr().out == stub.read_text(encoding="utf-8")
    for wanted in ("| processor", "| river", "| liac-arff", "| numba", "| slow |", "0 of 0 bounds hold."):
        assert wanted in stub.read_text(encoding="utf-8")


@pytest.mark.parametrize("arguments", [["two"], ["--write", "--quick"], ["--write", "--quick", "one"]])
def test_the_program_refuses(stub, capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        program.main(arguments)
    assert ended.value.code == 2
    assert "python -m benchmarks: error: " in capsys.readouterr().err
    assert not stub.exists()


def test_growth(tmp_path):
    over_time, features, non_zeros, labels = made = list(growth.tables(quick=True))
    for table in made:
        check(table, n_rows=2, n_bounds=1)
    assert [row[0] for row in over_time.rows] == [1000, 2000]
    assert [row[0] for row in features.rows] == [1000, 10_000]
    assert [row[0] for row in non_zeros.rows] == [5, 10]
    assert [row[0] for row in labels.rows] == [10, 30]
    growth.draw(made, tmp_path / "growth.png")
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_is_compared_with_a_recorded_one(stub, capsys):
    program.main(["--write"])
    recorded = json.loads(stub.with_suffix(".json").read_text(encoding="utf-8"))
    assert [table["title"] for table in recorded["tables"]] == ["One"]
    capsys.readouterr()
    program.main(["--against", str(stub)])
    assert "; 0 moved" in capsys.readouterr().out
    before = {"one": [Table("Title", "…", ("what", "s", "n"), [("a", 1.0, 3), ("b", 2.0, 3)])]}
    stub.with_suffix(".json").write_text(_record.as_json((), before), encoding="utf-8")
    now = {"one": [Table("Title", "…", ("what", "s", "n"), [("a", 1.5, 3), ("b", 2.1, 3), ("c", 1.0, 3)])]}
    lines = _record.compare(stub, now).splitlines()
    assert lines[2] == "2 numbers are recorded in README.json; 1 moved by 10.0 % or more."
    assert [cell.strip() for cell in lines[-1].split("|")[1:-1]] == ["Title", "a, 3", "s", "1.00", "1.50", "1.50"]


def test_one_measurement_is_renewed_and_the_others_are_kept(stub, monkeypatch):
    def measuring(seconds):
        class Stub:
            @staticmethod
            def tables(*, quick):
                bounds = [Bound("time", seconds, 2.0, "s")]
                yield Table(f"Takes {seconds:.1f} s", "How.", ("what", "s"), [(f"quick: {quick}", seconds)], bounds)

        return Stub

    monkeypatch.setattr(program, "BENCHMARKS", {"one": measuring(1.0), "two": measuring(3.0), "three": measuring(1.5)})
    program.main(["--write"])
    assert stub.read_text(encoding="utf-8").endswith("2 of 3 bounds hold; missed: time.\n")
    monkeypatch.setattr(program, "BENCHMARKS", {"one": measuring(9.0), "two": measuring(2.0), "three": measuring(9.5)})
    program.main(["--write", "two"])
    page = stub.read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if "Takes" in line] == [
        "### Takes 1.0 s",
        "### Takes 2.0 s",
        "### Takes 1.5 s",
    ]
    assert page.endswith("3 of 3 bounds hold.\n")


@pytest.mark.parametrize("content", [None, "{", "[]", '{"tables": 3}'])
def test_what_is_no_recorded_run_is_refused(stub, content):
    if content is not None:
        stub.with_suffix(".json").write_text(content, encoding="utf-8")
    with pytest.raises(SystemExit, match=r"README\.json: not a recorded run"):
        _record.compare(stub, {})
