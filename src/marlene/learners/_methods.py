"""The methods a command line or an experiment can name."""

from __future__ import annotations

import difflib
import importlib
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from river import base

from marlene._common.errors import MarleneError
from marlene.learners.baselines._bagging import ADWINBagging, OnlineBagging
from marlene.learners.baselines._binary_relevance import BinaryRelevance
from marlene.learners.baselines._chain import ClassifierChain
from marlene.learners.baselines._goowe import GOOWE
from marlene.learners.baselines._majority import Majority
from marlene.learners.baselines._multi_target import MultiTargetTree
from marlene.learners.baselines._pruned_sets import PrunedSets
from marlene.learners.baselines._relevance import BinaryRelevanceTrees
from marlene.learners.marlene._br_marlene import BRMarlene, BRResampled
from marlene.learners.marlene._brpw_marlene import BRPWMarlene
from marlene.learners.marlene._marlene import Marlene

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
WEIGHTED = "Büyükçakır, Bonab, Can: A novel online stacked ensemble for multi-label stream classification (2018)"


@dataclass(frozen=True, slots=True)
class Method:
    """A method by its name on the command line.

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
    """

    name: str
    summary: str
    reference: str
    build: Callable[..., base.MultiLabelClassifier]
    options: tuple[str, ...] = ()


BR_OPTIONS = ("drift", "base")
BRPW_OPTIONS = (*BR_OPTIONS, "pairs", "combine", "weighting", "pooling", "voters")


def _of(
    ensemble: type[OnlineBagging | GOOWE],
    transformation: type[Transformation],
    **settings: Any,  # noqa: ANN401 (parameters of the ensemble)
) -> Callable[..., OnlineBagging | GOOWE]:
    """Return what builds an ensemble over a transformation."""

    def build(seed: int) -> OnlineBagging | GOOWE:
        return ensemble(transformation(), seed=seed, **settings)

    return build


METHODS = {
    method.name: method
    for method in [
        Method(
            "marlene",
            "naive Bayes and linear models, transfer behind a gate, thresholds learnt online",
            "",
            Marlene,
            ("drift", "base", "transfer", "objective"),
        ),
        Method("br-marlene", "all sub-classifiers vote on every label, weighted by use", PAPER, BRMarlene, BR_OPTIONS),
        Method("brpw-marlene", "BR-MARLENE and a model of every pair of labels", PAPER, BRPWMarlene, BRPW_OPTIONS),
        Method("br-resampled", "BR-MARLENE without transfer", "", BRResampled, BR_OPTIONS),
        Method("ebr", "online bagging of binary relevance", CHAINS, _of(OnlineBagging, BinaryRelevanceTrees)),
        Method("ecc", "online bagging of classifier chains", CHAINS, _of(OnlineBagging, ClassifierChain)),
        Method("eps", "online bagging of pruned sets", SETS, _of(OnlineBagging, PrunedSets)),
        Method(
            "ert",
            "online bagging of multi-target trees (iSOUP)",
            ISOUP,
            _of(OnlineBagging, MultiTargetTree, threshold="share"),
        ),
        Method("eabr", "ADWIN bagging of binary relevance", STREAMS, _of(ADWINBagging, BinaryRelevanceTrees)),
        Method("eacc", "ADWIN bagging of classifier chains", STREAMS, _of(ADWINBagging, ClassifierChain)),
        Method("eaps", "ADWIN bagging of pruned sets", STREAMS, _of(ADWINBagging, PrunedSets)),
        Method("gobr", "GOOWE-ML of binary relevance", WEIGHTED, _of(GOOWE, BinaryRelevanceTrees)),
        Method("gocc", "GOOWE-ML of classifier chains", WEIGHTED, _of(GOOWE, ClassifierChain)),
        Method("gops", "GOOWE-ML of pruned sets", WEIGHTED, _of(GOOWE, PrunedSets)),
        Method("gort", "GOOWE-ML of multi-target trees (iSOUP)", WEIGHTED, _of(GOOWE, MultiTargetTree)),
        Method("majority", "the most frequent value of every label", "", lambda seed: Majority()),  # noqa: ARG005
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
