"""Multi-label streams from files, tables, arrays and River data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene._common.lazy import lazily

if TYPE_CHECKING:
    from marlene.streams._gaussians import Drift, GaussianStream
    from marlene.streams._load import load
    from marlene.streams._stream import Feature, Stream
    from marlene.streams.arff import read_arff
    from marlene.streams.catalogue import CATALOGUE
    from marlene.streams.frames import from_frame, read_parquet
    from marlene.streams.json_files import read_json
    from marlene.streams.lazy import LazyStream
    from marlene.streams.records import from_river
    from marlene.streams.svmlight import read_svmlight
    from marlene.streams.synthetic import SyntheticExperiment, synthetic_experiment
    from marlene.streams.tables import read_csv

__all__ = [
    "CATALOGUE",
    "Drift",
    "Feature",
    "GaussianStream",
    "LazyStream",
    "Stream",
    "SyntheticExperiment",
    "from_frame",
    "from_river",
    "load",
    "read_arff",
    "read_csv",
    "read_json",
    "read_parquet",
    "read_svmlight",
    "synthetic_experiment",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "_gaussians": ("Drift", "GaussianStream"),
        "_load": ("load",),
        "_stream": ("Feature", "Stream"),
        "arff": ("read_arff",),
        "catalogue": ("CATALOGUE",),
        "frames": ("from_frame", "read_parquet"),
        "json_files": ("read_json",),
        "lazy": ("LazyStream",),
        "records": ("from_river",),
        "svmlight": ("read_svmlight",),
        "synthetic": ("SyntheticExperiment", "synthetic_experiment"),
        "tables": ("read_csv",),
    },
)
