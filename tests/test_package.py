"""The package as it is published: wheel, sdist, metadata, public names, and what its documents promise."""

import importlib
import inspect
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import yaml

import marlene

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
MODULES = [
    module
    for module in pkgutil.walk_packages(marlene.__path__, "marlene.")
    if not any(part.startswith("_") for part in module.name.split("."))
]
INTERNAL = ("marlene.kernels", "marlene.learners.", "marlene.experiments.reproduce.", "marlene.experiments.program")
PACKAGES = [module.name for module in MODULES if module.ispkg and not module.name.startswith(INTERNAL)]
IMPORT = """
import pathlib, sys
sys.path.insert(0, sys.argv[1])
import marlene
from marlene import cli, drift, evaluation, experiments, learners, metrics, streams
assert pathlib.Path(marlene.__file__).parent.parent == pathlib.Path(sys.argv[1]), marlene.__file__
print(marlene.__version__, len(streams.load("yeast", limit=10)), len(experiments.paper.data_sets()))
"""


def build(kind, folder):
    command = [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    return build("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def unpacked_sdist(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    shutil.unpack_archive(build("sdist", tmp_path_factory.mktemp("sdist")), folder, filter="data")
    (root,) = folder.iterdir()
    return root


def test_the_wheel_can_be_imported_on_its_own(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    command = [sys.executable, "-I", "-c", IMPORT, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{marlene.__version__} 10 7\n"


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    packed = {name for name in names if not name.startswith(f"marlene-{marlene.__version__}.dist-info/")}
    kept = [
        path
        for suffix in ("py", "csv", "toml", "mplstyle", "css", "js", "gz", "txt")
        for path in (ROOT / "src").rglob(f"*.{suffix}")
    ]
    assert packed == {path.relative_to(ROOT / "src").as_posix() for path in kept} | {"marlene/py.typed"}


def test_the_metadata_of_the_wheel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        information = f"marlene-{marlene.__version__}.dist-info"
        metadata = Parser().parsestr(archive.read(f"{information}/METADATA").decode())
        entry_points = archive.read(f"{information}/entry_points.txt").decode()
        assert f"{information}/licenses/LICENSE" in archive.namelist()
    assert metadata["Version"] == marlene.__version__
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["Requires-Python"] == ">=3.11"
    assert {"experiments", "distributed", "sklearn", "all", "dev"} <= set(metadata.get_all("Provides-Extra"))
    assert "marlene = marlene.cli:main" in entry_points
    urls = dict(url.split(", ") for url in metadata.get_all("Project-URL"))
    assert urls.keys() == {"Source", "Issues", "Changelog", "Documentation"}
    told = metadata.get_all("Classifier")
    assert [f"Programming Language :: Python :: 3.{minor}" in told for minor in range(11, 15)] == [True] * 4
    links = re.findall(r"\]\(([^)]*)\)", metadata.get_payload())
    assert f"{urls['Source']}/blob/v{marlene.__version__}/docs/streams.md" in links
    assert f"{urls['Source']}/raw/v{marlene.__version__}/docs/results/figures/transfer.png" in links
    assert [link for link in links if not link.startswith("https://")] == []


def test_the_citation_names_this_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited.keys() >= {"cff-version", "message", "title", "authors", "preferred-citation"}
    assert cited["version"] == marlene.__version__
    assert cited["license"] == "BSD-3-Clause"
    paper = cited["preferred-citation"]
    assert [author["family-names"] for author in paper["authors"]] == ["Du", "Minku", "Lawlor", "Zhou"]
    assert re.search(
        rf"^## {re.escape(marlene.__version__)}\b", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )


def test_the_workflow_takes_the_steps_of_the_makefile():
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))
    steps = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    assert [step.split()[:2] for step in steps] == [["make", "demo"], ["make", "test"], ["make", "release-check"]]
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {step.split()[1] for step in steps} <= set(targets)
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]


def test_the_sdist_has_every_file_the_makefile_needs(unpacked_sdist):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = {word for word in makefile.split() if (ROOT / word).is_file()}
    assert {"pyproject.toml", "constraints.txt", "tools/venv.py"} <= named
    modules = {f"{name}/__main__.py" for name in re.findall(r"-m (\w+)", makefile) if (ROOT / name).is_dir()}
    assert modules == {"benchmarks/__main__.py"}
    assert [name for name in sorted(named | modules) if not (unpacked_sdist / name).is_file()] == []


@pytest.mark.parametrize("target", ["demo", "test", "lint", "bench", "clean"])
def test_make_finds_what_it_needs_in_the_sdist(unpacked_sdist, target):
    command = ["make", "--dry-run", target]
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(command, cwd=unpacked_sdist, env=alone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("folder", ["src", "tests", "benchmarks", "tools"])
def test_the_sdist_has_all_python_there_is(unpacked_sdist, folder):
    there, packed = (
        sorted(path.relative_to(root).as_posix() for path in (root / folder).rglob("*.py"))
        for root in (ROOT, unpacked_sdist)
    )
    assert packed == there != []


def test_the_version_is_the_same_everywhere():
    cited = re.search(r"^version: *(\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited[1] == marlene.__version__


@pytest.mark.parametrize("name", PACKAGES)
def test_public_names_are_listed_and_exist(name):
    package = importlib.import_module(name)
    assert package.__doc__
    assert len(package.__all__) == len(set(package.__all__)) > 0
    for public in package.__all__:
        assert not public.startswith("_")
        assert hasattr(package, public)


def test_public_names_are_there_before_they_are_asked_for():
    code = "import marlene, sys; print(*dir(marlene)); print('numba' in sys.modules)"
    named, loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split("\n", 1)
    assert {*marlene.__all__, "__version__"} <= {*named.split()}
    assert not {"Any", "TYPE_CHECKING", "annotations"} & {*named.split()}
    assert loaded == "False\n"


@pytest.mark.parametrize("name", [module.name for module in MODULES])
def test_public_names_are_documented(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for public in getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")]):
        found = getattr(module, public)
        if (inspect.isroutine(found) or inspect.isclass(found)) and found.__module__.startswith("marlene."):
            assert inspect.getdoc(found), f"{name}.{public}"


@pytest.mark.parametrize("forbidden", [r"pickle\.loads?\b", r"allow_pickle *= *True", r"\b(joblib|dill)\.load"])
def test_nothing_is_unpickled(forbidden):
    assert [path.name for path in SOURCES if re.search(forbidden, path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_every_make_command_of_a_document_exists(document):
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    promised = set(re.findall(r"(?:^ {4}|`)make ([\w-]+)", (ROOT / document).read_text(encoding="utf-8"), re.MULTILINE))
    assert {"test"} <= promised <= targets
    assert {"demo", "test", "lint", "bench", "clean"} <= targets
