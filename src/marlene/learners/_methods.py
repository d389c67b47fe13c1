"""The methods a command line or an experiment can name."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from river import base

from marlene._common.errors import MarleneError
from marlene.learners.baselines._adaptive_tree import AdaptiveTree
from marlene.learners.baselines._bagging import ADWINBagging, OnlineBagging
from marlene.learners.baselines._binary_relevance import BinaryRelevance
from marlene.learners.baselines._chain import ClassifierChain
from marlene.learners.baselines._goowe import GOOWE
from marlene.learners.baselines._guess import COIN, PRIOR, Guess
from marlene.learners.baselines._majority import Majority
from marlene.learners.baselines._multi_target import MultiTargetTree
from marlene.learners.baselines._pruned_sets import PrunedSets
from marlene.learners.baselines._punitive_neighbours import PunitiveNeighbours
from marlene.learners.baselines._relevance import BinaryRelevanceTrees
from marlene.learners.baselines._vowpal_wabbit import VowpalWabbit
from marlene.learners.marlene._br_marlene import BRMarlene, BRResampled
from marlene.learners.marlene._brpw_marlene import BRPWMarlene
from marlene.learners.marlene._marlene import Marlene
from marlene.trees import HoeffdingForest

if TYPE_CHECKING:
    from collections.abc import Callable

    from marlene.learners.baselines._committee import Transformation

RIVER = "river:"
PAPER = "Du, Minku, Lawlor, Zhou: Multi-Label Transfer Learning in Non-Stationary Data Streams"
CHAINS = "Read, Pfahringer, Holmes, Frank: Classifier chains for multi-label classification (2009)"
SETS = "Read, Pfahringer, Holmes: Multi-label classification using ensembles of pruned sets (2008)"
STREAMS = (
    "Read, Bifet, Holmes, Pfahringer: Scalable and efficient multi-label classification for evolving streams (2012)"
)
ISOUP = "Osojnik, Panov, Džeroski: Multi-label classification via multi-target regression on data streams (2017)"
ADAPTIVE = (
    "Esteban, Cano, Zafra, Ventura: Hoeffding adaptive trees for multi-label classification on data streams (2024)"
)
PUNITIVE = (
    "Roseberry, Krawczyk, Cano: Multi-label punitive kNN with self-adjusting memory for drifting data streams (2019)"
)
VOWPAL_WABBIT = "Agarwal, Chapelle, Dudík, Langford: A reliable effective terascale linear learning system (2014)"
WEIGHTED = "Büyükçakır, Bonab, Can: A novel online stacked ensemble for multi-label stream classification (2018)"


@dataclass(frozen=True, slots=True)
class Method:
    """A method by its name on the command line, with its traits.

    Tables and figures choose, group and colour methods by these traits, never by their names.

    Parameters
    ----------
    name
        What `--method` takes.
    summary
        What it does, in a line.
    reference
        Where it was published.
    build
        Makes an untrained learner from a seed and options.
    options
        The options it takes beside the seed.
    proposed
        Whether the paper proposes it.
    in_paper
        Whether the paper's tables have it.
    compared
        Whether the tables that compare all methods have it.
    random
        Whether its outcome depends on the seed.
    ensemble, transformation
        For ensembles over a transformation: which ones.
    pairs
        Whether it has a model for every pair of labels, so that its cost grows with the square of their number.
    transfer
        Whether sub-classifiers of other labels and streams vote.
    rival
        Whether it is a rival from elsewhere, which the page of published methods has.
    package
        An optional package that it needs.
    """

    name: str
    summary: str
    reference: str
    build: Callable[..., base.MultiLabelClassifier]
    options: tuple[str, ...] = ()
    proposed: bool = False
    in_paper: bool = False
    compared: bool = True
    random: bool = True
    ensemble: str | None = None
    transformation: str | None = None
    pairs: bool = False
    transfer: bool = False
    rival: bool = False
    package: str | None = None

    @property
    def available(self) -> bool:
        """Whether the package that it needs is installed."""
        return self.package is None or importlib.util.find_spec(self.package) is not None


BR_OPTIONS = ("drift", "base", "retired")
BRPW_OPTIONS = (*BR_OPTIONS, "pairs", "combine", "weighting", "pooling", "voters", "partner_fading", "partner_margin")
ENSEMBLES: dict[str, tuple[str, type[OnlineBagging | GOOWE]]] = {
    "bagging": ("online bagging", OnlineBagging),
    "adwin-bagging": ("ADWIN bagging", ADWINBagging),
    "goowe": ("GOOWE-ML", GOOWE),
}
TRANSFORMATIONS: dict[str, tuple[str, Callable[..., Transformation], tuple[str, ...]]] = {
    "binary-relevance": ("binary relevance", BinaryRelevanceTrees, ("variance_floor",)),
    "chain": ("classifier chains", ClassifierChain, ("variance_floor",)),
    "pruned-sets": ("pruned sets", PrunedSets, ("parts", "variance_floor")),
    "multi-target": ("multi-target trees (iSOUP)", MultiTargetTree, ("grace_period",)),
}


def _ensemble(
    name: str,
    ensemble: str,
    transformation: str,
    reference: str,
    random: bool = True,
    **settings: Any,  # noqa: ANN401 (parameters of the ensemble)
) -> Method:
    """Return the method that is an ensemble over a transformation; its options are those of the transformation."""
    said, over = ENSEMBLES[ensemble]
    of, transform, options = TRANSFORMATIONS[transformation]

    def build(seed: int, variance_floor: float | None = None, **given: Any) -> OnlineBagging | GOOWE:  # noqa: ANN401
        if variance_floor is not None:
            given["base"] = HoeffdingForest([], variance_floor=variance_floor)
        return over(transform(**given), seed=seed, **settings)

    traits: dict[str, Any] = {
        "in_paper": True,
        "random": random,
        "ensemble": ensemble,
        "transformation": transformation,
    }
    return Method(name, f"{said} of {of}", reference, build, options, **traits)


def _guess(how: str) -> Callable[..., Guess]:
    return lambda seed: Guess(how, seed)


TRACKING = "naive Bayes, linear models and neighbours, transfer by tracking, thresholds learnt online"
USE = "all sub-classifiers vote on every label, weighted by use"
PAIRS = "BR-MARLENE and a model of every pair of labels"
ADAPTING = "a Hoeffding tree of label sets; neighbours or linear models in its leaves; alternate trees"
MEMORY = "nearest neighbours, self-adjusting window, punitive removal (MLSAMPkNN)"
ONE_AGAINST_ALL = "Vowpal Wabbit's --multilabel_oaa (needs the extra vw)"
FREQUENT = "the most frequent value of every label"
TREE_OPTIONS = ("grace_period", "delta", "cardinality", "entropy", "neighbours", "window", "members", "learning_rate")
MEMORY_OPTIONS = ("neighbours", "least", "most", "penalty", "reduction")
MARLENE_OPTIONS = ("base", "transfer", "objective")
VW_OPTIONS = ("loss", "learning_rate", "bits")
RIVAL: dict[str, Any] = {"compared": False, "random": False, "rival": True}
OURS: dict[str, Any] = {"proposed": True, "in_paper": True, "transfer": True}
METHODS = {
    method.name: method
    for method in [
        Method("marlene", TRACKING, "", Marlene, MARLENE_OPTIONS, compared=False, random=False, transfer=True),
        Method("br-marlene", USE, PAPER, BRMarlene, BR_OPTIONS, **OURS),
        Method("brpw-marlene", PAIRS, PAPER, BRPWMarlene, BRPW_OPTIONS, pairs=True, **OURS),
        Method("br-resampled", "BR-MARLENE without transfer", "", BRResampled, BR_OPTIONS),
        _ensemble("ebr", "bagging", "binary-relevance", CHAINS),
        _ensemble("ecc", "bagging", "chain", CHAINS),
        _ensemble("eps", "bagging", "pruned-sets", SETS),
        _ensemble("ert", "bagging", "multi-target", ISOUP, threshold="share"),
        _ensemble("eabr", "adwin-bagging", "binary-relevance", STREAMS),
        _ensemble("eacc", "adwin-bagging", "chain", STREAMS),
        _ensemble("eaps", "adwin-bagging", "pruned-sets", STREAMS),
        _ensemble("gobr", "goowe", "binary-relevance", WEIGHTED, random=False),
        _ensemble("gocc", "goowe", "chain", WEIGHTED),
        _ensemble("gops", "goowe", "pruned-sets", WEIGHTED, random=False),
        _ensemble("gort", "goowe", "multi-target", WEIGHTED, random=False),
        Method("vw", ONE_AGAINST_ALL, VOWPAL_WABBIT, VowpalWabbit, VW_OPTIONS, package="vowpalwabbit", **RIVAL),
        Method("mlsaknn", MEMORY, PUNITIVE, PunitiveNeighbours, MEMORY_OPTIONS, **RIVAL),
        Method("mlhat", ADAPTING, ADAPTIVE, AdaptiveTree, TREE_OPTIONS, **RIVAL | {"random": True}),
        Method("majority", FREQUENT, "", lambda seed: Majority(), compared=False, random=False),  # noqa: ARG005
        Method("prior", "a guess at each label with its share so far", "", _guess(PRIOR), compared=False),
        Method("coin", "a toss of a coin for each label", "", _guess(COIN), compared=False),
    ]
}
"""Every method by its name; `river:<dotted.Class>` comes on top of these."""

DEFAULT_METHOD = "marlene"


def create(name: str, seed: int = 1, **options: Any) -> base.MultiLabelClassifier:  # noqa: ANN401
    """Make an untrained learner.

    Parameters
    ----------
    name
        A key of `METHODS`, or `river:<dotted.Class>` for a River classifier under binary relevance.
    seed
        What its random numbers depend on.
    options
        Further parameters, where the method has them; None stands for the default.

    Examples
    --------
    >>> create("majority")
    Majority ()
    >>> create("river:naive_bayes.GaussianNB").classifier
    GaussianNB ()
    """
    given = {option: value for option, value in options.items() if value is not None}
    taken = METHODS[name].options if name in METHODS else ()
    for option in given:
        if option not in taken and (name in METHODS or name.startswith(RIVER)):
            raise MarleneError(f"method {name} has no option {option!r}")
    if name.startswith(RIVER):
        return BinaryRelevance(_river_classifier(name.removeprefix(RIVER), seed))
    if name not in METHODS:
        close = difflib.get_close_matches(name, METHODS, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        known = ", ".join([*METHODS, f"{RIVER}<dotted.Class>"])
        raise MarleneError(f"there is no method {name!r}{hint}; known: {known}")
    return METHODS[name].build(seed=seed, **given)


def _river_classifier(dotted: str, seed: int) -> base.Classifier:
    module, _, name = dotted.rpartition(".")
    try:
        found = getattr(importlib.import_module(f"river.{module}"), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise MarleneError(
            f"River has no {dotted!r}; expected a class like {RIVER}tree.HoeffdingTreeClassifier"
        ) from error
    if not (isinstance(found, type) and issubclass(found, base.Classifier)):
        raise MarleneError(f"{RIVER}{dotted} is not a River classifier")
    settings = {"seed": seed} if "seed" in inspect.signature(found).parameters else {}
    try:
        return found(**settings)
    except Exception as error:  # whatever its constructor finds wrong
        raise MarleneError(f"{RIVER}{dotted} cannot be made with its default parameters: {error}") from error
