"""How a label begins: which learners of sources are trusted, and the first weights of its candidates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.banks.scales import list_met
from marlene.kernels.compile import inlined, rare
from marlene.kernels.tracking import state
from marlene.kernels.tracking.inherit import (
    FEW_EXAMPLES,
    FOUND_EXAMPLES,
    NAMED_EXAMPLES,
    copy_column,
    inherit_threshold,
    lend_examples,
    offer_all,
)
from marlene.kernels.tracking.lists import fill, is_pooled, learner_place, place_of
from marlene.kernels.tracking.search import begin_search
from marlene.kernels.tracking.state import ALONE, KINDS, NAMESAKE, NOT_YET, OWN_PLACE, SEARCHING, TARGET
from marlene.kernels.tracking.weights import PROVEN, PROVEN_NAMED, find_leaders, set_floors, trust

if TYPE_CHECKING:
    from marlene.kernels.tracking.state import Model

NAMED = 0.99
"""The first weight of sources together, if one has a label of the same name that is to be trusted; and the part of it
that goes to that label."""
HARDLY_PROVEN = 0.5
"""The same, if a label of another name would not be trusted that much: noise is, now and then."""
UNNAMED = 0.8
"""The first weight of sources together, if none has, but the best of their labels is fully trusted."""


@rare
def _learn_trust(model: Model) -> None:
    """Find how much sources that have learnt are to be trusted now; those that are join the pool."""
    streams = model.streams
    for s in range(1, len(streams.labels)):
        if streams.learnt[s]:
            for label in range(streams.labels[s]):
                streams.trust[s, label] = trust(streams, s, label, PROVEN)
                h = state.source_column(model.rooms, s, label)
                if streams.trust[s, label] > 0.0 and not is_pooled(model, h):
                    offer_all(model, h)
            streams.learnt[s] = False


@inlined
def _named_trust(model: Model, s: int, q: int) -> float:
    """Return the trust in the label of a source that has the name of target label q, 0 if there is none."""
    label = model.streams.same[s, q]
    return trust(model.streams, s, label, PROVEN_NAMED) if label >= 0 else 0.0


@rare
def begin(model: Model) -> None:
    """Give the target labels that have none yet their first weights, from what sources have learnt.

    A tracker without snapshots takes nothing from sources either.
    """
    weights, streams = model.weights, model.streams
    if len(model.growth.alive) == 0:
        return
    _learn_trust(model)
    set_floors(weights, model.rooms, streams, model.growth)
    total = best = 0.0
    for s in range(1, len(streams.labels)):
        for label in range(streams.labels[s]):
            total += streams.trust[s, label]
            best = max(best, streams.trust[s, label])
    for q in range(streams.labels[TARGET]):
        if weights.began[q] == NOT_YET:
            _begin_label(model, q, total, best)


@rare
def _begin_label(model: Model, q: int, total: float, best: float) -> None:
    streams, weights, named, giver = model.streams, model.weights, 0.0, 0
    for s in range(1, len(streams.labels)):
        if _named_trust(model, s, q) > named:
            named, giver = _named_trust(model, s, q), s
    label = streams.same[giver, q] if named > 0.0 else -1
    is_proven = bool(named > 0.0 and streams.trust[giver, label] > 0.0)
    foreign = UNNAMED * best if named == 0.0 else NAMED if is_proven else HARDLY_PROVEN
    for k in range(KINDS):
        if model.kinds.used[k]:
            fill(model, k, q)
            if foreign > 0.0:
                _first_weights(model, k, q, foreign, total, named)
    weights.began[q] = ALONE
    if named > 0.0:
        weights.began[q] = NAMESAKE
        examples = NAMED_EXAMPLES if is_proven else FOUND_EXAMPLES
        inherit_threshold(streams, giver, label, q, examples)
        lend_examples(streams, giver, label, q, min(examples, FEW_EXAMPLES))
    elif foreign > 0.0:
        weights.began[q] = SEARCHING
        begin_search(model, q, foreign, total)


@rare
def _first_weights(model: Model, k: int, q: int, foreign: float, total: float, named: float) -> None:
    """Give the candidates of a label their first weights: `foreign` to all of sources together."""
    weights, rooms, streams = model.weights, model.rooms, model.streams
    log = weights.log[k, q]
    log[OWN_PLACE] = math.log(1.0 - foreign)
    unnamed = (1.0 - NAMED) * foreign if named > 0.0 else foreign
    for s in range(1, len(streams.labels)):
        for label in range(streams.labels[s]):
            trusted = streams.trust[s, label]
            place = place_of(weights, rooms, k, q, state.source_column(rooms, s, label)) if trusted > 0.0 else -1
            if place >= 0:
                log[place] = math.log(unnamed * trusted / total)
        same = _named_trust(model, s, q)
        if same > 0.0:
            h = state.learner_column(rooms, s, q)
            listed = model.scratch.touched.listed
            inputs = listed[: list_met(rooms.scales.met[s], listed)]
            copy_column(model, k, inputs, state.source_column(rooms, s, streams.same[s, q]), h, np.inf, 1.0)
            log[learner_place(s)] = math.log(NAMED * foreign * same / named)
    find_leaders(weights, rooms, k, q)
