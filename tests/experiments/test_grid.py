"""What a description of a grid means, and what is refused."""

import pytest

from marlene._common.errors import LONGEST, MarleneError
from marlene.experiments import Grid, Run
from marlene.experiments._grid import EVALUATION, LOADED, SYNTHETIC
from tests.fuzz._mutations import VALUES

TOML = """
seeds = [1, 7]

[evaluation]
window = 30

[[streams]]
load = ["yeast", "slashdot"]
features = "numeric"
limit = 100

[[streams]]
synthetic = ["SS", "AA"]
size = [50, 500]
sources = ["none", "similar"]
seed = "run"

[[methods]]
name = "br-marlene"
drift = ["none", "ddm-oci"]

[[methods]]
name = "majority"
"""
STREAM = {"load": "yeast"}
METHOD = {"name": "majority"}
NEEDED = "needs a synthetic stream, change or alarms"


def test_a_file_and_its_runs(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text(TOML)
    runs = Grid.from_toml(path).runs()
    assert len(runs) == (2 + 8) * 3 * 2
    assert runs[0] == Run(
        {"load": "yeast", "features": "numeric", "limit": 100}, "br-marlene", {"drift": "none"}, 1, {"window": 30}
    )
    assert runs[-1] == Run(
        {"synthetic": "AA", "size": 500, "sources": "similar", "source_size": 5000, "seed": "run"},
        "majority",
        {},
        7,
        {"window": 30},
    )
    assert len({run.key for run in runs}) == len(runs)
    assert [run.title for run in runs[-3:]] == [
        "br-marlene (drift=ddm-oci) on AA-500 after similar, seed 7",
        "majority on AA-500 after similar, seed 1",
        "majority on AA-500 after similar, seed 7",
    ]


def test_a_key_depends_on_everything_and_on_nothing_else():
    run = Run({"load": "yeast", "limit": 5}, "br-marlene", {"drift": "none"}, 1, {})
    assert run.key == Run({"limit": 5, "load": "yeast"}, "br-marlene", {"drift": "none"}, 1, {}).key
    others = [
        Run({"load": "yeast", "limit": 6}, "br-marlene", {"drift": "none"}, 1, {}),
        Run({"load": "yeast", "limit": 5}, "br-resampled", {"drift": "none"}, 1, {}),
        Run({"load": "yeast", "limit": 5}, "br-marlene", {}, 1, {}),
        Run({"load": "yeast", "limit": 5}, "br-marlene", {"drift": "none"}, 2, {}),
        Run({"load": "yeast", "limit": 5}, "br-marlene", {"drift": "none"}, 1, {"start": 3}),
    ]
    assert len({run.key, *(other.key for other in others)}) == 6
    # Kept results are found by it: it must not change from version to version.
    assert Run({"load": "yeast"}, "majority").key == "c898ba31df2e574c4bc8"


def test_the_same_run_twice_is_one():
    assert len(Grid([STREAM, STREAM], [METHOD, METHOD], seeds=[1, 1, 2]).runs()) == 2


def test_a_number_of_seeds():
    assert [run.seed for run in Grid([STREAM], [METHOD], seeds=3).runs()] == [1, 2, 3]


def test_changes_and_archives_and_only_the_seeds_that_matter():
    changes = {"change": ["rotated", "swapped"], "change_seed": [1, 2, 3]}
    archives = {"archive": ["none", "same", "noise", "imdb"], "archive_seed": [1, 4]}
    runs = Grid([STREAM | changes, STREAM | archives, STREAM | {"change": "few"}], [METHOD]).runs()
    assert [run.stream | {"load": None} for run in runs] == [
        {"load": None} | kept
        for kept in (
            {"change": "rotated"},
            *({"change": "swapped", "change_seed": seed} for seed in (1, 2, 3)),
            {"archive": "none"},
            {"archive": "same"},
            *({"archive": "noise", "archive_seed": seed} for seed in (1, 4)),
            {"archive": "imdb"},
            {"change": "few", "change_seed": 1},
        )
    ]
    assert [(run.course, run.sources) for run in runs] == [
        ("yeast, rotated", "none"),
        *((f"yeast, swapped (seed {seed})", "none") for seed in (1, 2, 3)),
        ("yeast, second half", "none"),
        ("yeast, second half after first half", "first half"),
        *(
            (f"yeast, second half after first half, noise (seed {seed})", f"first half, noise (seed {seed})")
            for seed in (1, 4)
        ),
        ("yeast, second half after the beginning of imdb", "the beginning of imdb"),
        ("yeast, few (seed 1)", "none"),
    ]
    both = Run(STREAM | {"archive": "renamed", "change": "few", "sources": ["imdb"], "alarms": 2}, "majority")
    assert both.course == "yeast, second half, few (seed 1), 2 false alarms after imdb, first half, renamed"


def test_who_is_told_of_drifts():
    changed, alarmed = STREAM | {"change": "few"}, STREAM | {"alarms": 2}
    assert not Run(changed, "marlene").told
    assert Run(changed | {"told": True}, "marlene").told
    assert Run(changed | {"told": True}, "br-marlene", {"drift": "none"}).told
    assert Run(changed, "br-marlene", {"drift": "oracle"}).told
    assert Run(alarmed, "marlene").told
    assert not Run(alarmed, "br-marlene").told
    warm = Run(changed | {"archive": "warm", "told": True}, "marlene")
    assert warm.course == "yeast, second half, few (seed 1), told after first half, as the target"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seeds": 0}, "grid, seeds: expected a number of seeds or a list of them, not 0"),
        ({"seeds": []}, "grid, seeds: expected a number of seeds or a list of them, not []"),
        ({"seeds": [1, "2"]}, "grid, seeds: expected a number of seeds or a list of them, not [1, '2']"),
        ({"streams": []}, "grid, streams: expected a list with at least one entry"),
        ({"streams": "yeast"}, "grid, streams: expected a list with at least one entry"),
        ({"streams": ["yeast"]}, "grid, stream 1: expected a table of names and values, not 'yeast'"),
        ({"streams": [STREAM, {"limit": 3}]}, "grid, stream 2: expected either load or synthetic"),
        ({"streams": [STREAM | {"synthetic": "SS"}]}, "grid, stream 1: expected either load or synthetic"),
        (
            {"streams": [STREAM | {"lmit": 3}]},
            f"grid, stream 1: 'lmit' is not one of {', '.join(LOADED)}",
        ),
        ({"streams": [STREAM | {"limit": "3"}]}, "grid, stream 1: limit cannot be '3'"),
        ({"streams": [STREAM | {"limit": True}]}, "grid, stream 1: limit cannot be True"),
        (
            {"streams": [STREAM | {"change": ["rotated", "turned"]}]},
            "grid, stream 1: change must be one of rotated, swapped, recurring, gradual, few, replaced, not 'turned'",
        ),
        ({"streams": [STREAM | {"change": True}]}, "grid, stream 1: change cannot be True"),
        ({"streams": [STREAM | {"change_seed": 2}]}, "grid, stream 1: change_seed needs change"),
        (
            {"streams": [STREAM | {"change": "few", "change_seed": -1}]},
            "grid, stream 1: change_seed must be a whole number of at least 0, not -1",
        ),
        ({"streams": [STREAM | {"archive": 3}]}, "grid, stream 1: archive cannot be 3"),
        ({"streams": [STREAM | {"archive_seed": 2}]}, "grid, stream 1: archive_seed needs archive"),
        (
            {"streams": [{"synthetic": "SS", "change": "few"}]},
            "grid, stream 1: 'change' is not one of synthetic, size, sources, source_size, seed, told",
        ),
        ({"streams": [STREAM | {"alarms": -1}]}, "grid: alarms must be a number from 0 to 99"),
        (
            {"streams": [{"synthetic": "SA"}]},
            "grid, stream 1: synthetic must be one of SS, IS, II, IA, AA, AS, not 'SA'",
        ),
        (
            {"streams": [{"synthetic": "SS", "sources": ["none", "same"]}]},
            "grid, stream 1: sources must be one of none, similar, non-similar, one-non-similar, not 'same'",
        ),
        ({"streams": [{"synthetic": "SS", "seed": "x"}]}, "grid, stream 1: seed must be a number or 'run', not 'x'"),
        ({"methods": [{}]}, "grid, method 1: expected a name, see `marlene methods`"),
        ({"methods": [METHOD, METHOD | {"drift": "none"}]}, "grid, method 2: method majority has no option 'drift'"),
        (
            {"methods": [{"name": "br-marlene", "drift": ["none", "dmm"]}]},
            "grid, method 1: no drift detector is called 'dmm'; there are balanced, ddm-oci, ddm, adwin, none, oracle",
        ),
        (
            {"evaluation": {"windows": 3}},
            "grid, evaluation: 'windows' is not one of window, start, delay, fading, after",
        ),
        ({"evaluation": {"window": True}}, "grid, evaluation: window cannot be True"),
        (
            {"streams": [{"load": "imdb"}], "methods": [{"name": "br-marlene", "drift": "oracle"}]},
            f"grid: br-marlene (drift=oracle) on imdb, seed 1: drift = 'oracle' {NEEDED}",
        ),
        ({"methods": [{"name": "marlene", "drift": "oracle"}]}, "grid, method 1: method marlene has no option 'drift'"),
        (
            {"streams": [STREAM | {"told": True}], "methods": [{"name": "marlene"}]},
            f"grid: marlene on yeast, told, seed 1: told = true {NEEDED}",
        ),
        (
            {"streams": [{"synthetic": "SS", "told": True}]},
            "grid: majority on SS-500, told, seed 1: told = true, but majority cannot be told of drifts",
        ),
        ({"streams": [STREAM | {"told": 1}]}, "grid, stream 1: told cannot be 1"),
    ],
)
def test_what_is_refused(changed, message):
    with pytest.raises(MarleneError) as refused:
        Grid(**{"streams": [STREAM], "methods": [METHOD], "seeds": 1} | changed)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("streams = [", ": not a TOML file: "),
        ("stream = 1", ": 'stream' is not one of streams, methods, seeds, evaluation"),
        ("seeds = 1", ": there are no streams; expected [[streams]]"),
        ("[[streams]]\nload = 'yeast'", ": there are no methods; expected [[methods]]"),
        ("[[streams]]\nload = 3\n[[methods]]\nname = 'majority'", ", stream 1: load cannot be 3"),
    ],
)
def test_the_file_is_named(tmp_path, text, message):
    path = tmp_path / "grid.toml"
    path.write_text(text)
    with pytest.raises(MarleneError) as refused:
        Grid.from_toml(path)
    assert str(refused.value).startswith(f"{path}{message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"seeds = {'9' * 5000}", "not a TOML file: Exceeds the limit"),
        ("seeds = 10000000000\n[[streams]]\nload = 'yeast'\n[[methods]]\nname = 'ebr'", "more than 1000000 runs"),
        (f"seeds = {'[' * 5000}{']' * 5000}", "not a TOML file: maximum recursion depth exceeded"),
        (f"[[streams]]\nload = 'yeast'\n{'x' * 100_000} = 1\n[[methods]]\nname = 'ebr'", "stream 1: 'xxx"),
        ("[[streams]]\nload = 'yeast'\n\"two\\nlines\" = 1\n[[methods]]\nname = 'ebr'", "stream 1: 'two.nlines'"),
        ("[[streams]]\nload = 'yeast'\n[[methods]]\nname = \"two\\nlines\"", "there is no method 'two.nlines'"),
    ],
    ids=["digits", "seeds", "nested", "long", "a key of two lines", "a name of two lines"],
)
def test_text_from_elsewhere_gives_one_short_line(tmp_path, text, message):
    path = tmp_path / "grid.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MarleneError, match=message) as refused:
        Grid.from_toml(path).runs()
    assert len(str(refused.value)) <= LONGEST
    assert str(refused.value).isprintable()


STREAMS = ({"load": "yeast", "limit": 100}, {"synthetic": "SS", "size": 50, "sources": "similar"})
ENTRIES = {
    "streams": (*LOADED, *SYNTHETIC),
    "methods": ("name", "drift", "base", "features"),
    "evaluation": tuple(EVALUATION),
}


@pytest.mark.parametrize(
    ("table", "name"), [(table, name) for table, names in ENTRIES.items() for name in sorted(set(names))]
)
def test_whatever_an_entry_is_it_is_taken_or_refused_in_one_line(table, name):
    refused = []
    for value in (*VALUES, -1.5, [["a"]], {"a": {"b": 1}}, "run"):
        for stream in STREAMS:
            told = {"streams": stream, "methods": {"name": "br-marlene"}, "evaluation": {}}
            told[table] = told[table] | {name: value}
            try:
                runs = Grid([told["streams"]], [told["methods"]], evaluation=told["evaluation"]).runs()
                assert all(run.title for run in runs)
                assert runs
            except MarleneError as error:
                refused.append(str(error))
    assert len(refused) > 10
    assert all(said and said.isprintable() for said in refused)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(MarleneError, match="No such file"):
        Grid.from_toml(tmp_path / "absent.toml")
