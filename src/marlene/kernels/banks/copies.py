"""Classifiers that become copies of others, or forget everything; what they know of an input lies apart in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene.kernels.banks.scales import PRESENCE
from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.prefetch import AHEAD, prefetch

if TYPE_CHECKING:
    from marlene._common.arrays import Ints
    from marlene.kernels.banks.linear import Linear
    from marlene.kernels.banks.naive_bayes import Bayes


@inlined
def _request_bayes(bank: Bayes, slot: int, h: int) -> None:
    """Let what a classifier has learnt of an input come into the processor's cache."""
    columns = bank.gain.shape[1]
    prefetch(bank.gain, slot * columns + h)
    prefetch(bank.present, 2 * slot * columns + h)
    prefetch(bank.present, (2 * slot + 1) * columns + h)


@subkernel
def bayes_copy(bank: Bayes, numeric: Ints, inputs: Ints, giver: int, heir: int, kept: float) -> None:
    """Let a classifier become a copy of another; `kept`: the part of its examples that are kept.

    They differ in no other than these inputs, of which some may be listed twice.
    """
    for j in range(len(inputs)):
        if j + AHEAD < len(inputs):
            _request_bayes(bank, inputs[j + AHEAD], giver)
            _request_bayes(bank, inputs[j + AHEAD], heir)
        slot, i = inputs[j], numeric[inputs[j]]
        bank.gain[slot, heir] = bank.gain[slot, giver]
        for y in range(2):
            bank.present[slot, y, heir] = kept * bank.present[slot, y, giver]
        if i != PRESENCE:
            for y in range(2):
                bank.mean[i, y, heir] = bank.mean[i, y, giver]
                bank.squares[i, y, heir] = kept * bank.squares[i, y, giver]
            for c in range(3):
                bank.curve[i, c, heir] = bank.curve[i, c, giver]
    for y in range(2):
        bank.examples[y, heir] = kept * bank.examples[y, giver]
        bank.weights[y, heir] = kept * bank.weights[y, giver]
        bank.absent[y, heir] = bank.absent[y, giver]
        bank.inputs[y, heir] = kept * bank.inputs[y, giver]
        bank.refreshed[y, heir] = kept * bank.examples[y, giver]
    bank.base[heir] = bank.base[giver]


@subkernel
def bayes_clear(bank: Bayes, numeric: Ints, inputs: Ints, h: int) -> None:
    """Let a classifier forget everything; it has learnt no other than these inputs."""
    for j in range(len(inputs)):
        if j + AHEAD < len(inputs):
            _request_bayes(bank, inputs[j + AHEAD], h)
        slot, i = inputs[j], numeric[inputs[j]]
        bank.gain[slot, h] = bank.present[slot, 0, h] = bank.present[slot, 1, h] = 0.0
        if i != PRESENCE:
            for y in range(2):
                bank.mean[i, y, h] = bank.squares[i, y, h] = 0.0
            for c in range(3):
                bank.curve[i, c, h] = 0.0
    for y in range(2):
        bank.examples[y, h] = bank.weights[y, h] = bank.inputs[y, h] = 0.0
        bank.absent[y, h] = bank.refreshed[y, h] = 0.0
    bank.base[h] = 0.0


@inlined
def _request_linear(bank: Linear, slot: int, h: int) -> None:
    """Let what a classifier has learnt of an input come into the processor's cache."""
    columns = bank.weight.shape[1]
    prefetch(bank.weight, slot * columns + h)
    prefetch(bank.squares, slot * columns + h)


@subkernel
def linear_copy(bank: Linear, inputs: Ints, giver: int, heir: int, kept: float) -> None:
    """Let a classifier become a copy of another; `kept`: the part of AdaGrad's sums that is kept.

    They differ in no other than these inputs, of which some may be listed twice.
    """
    for j in range(len(inputs)):
        if j + AHEAD < len(inputs):
            _request_linear(bank, inputs[j + AHEAD], giver)
            _request_linear(bank, inputs[j + AHEAD], heir)
        slot = inputs[j]
        bank.weight[slot, heir] = bank.weight[slot, giver]
        bank.squares[slot, heir] = kept * bank.squares[slot, giver]
    bank.bias[heir] = bank.bias[giver]
    bank.bias_squares[heir] = kept * bank.bias_squares[giver]
    bank.examples[heir] = bank.examples[giver]


@subkernel
def linear_clear(bank: Linear, inputs: Ints, h: int) -> None:
    """Let a classifier forget everything; it has learnt no other than these inputs."""
    for j in range(len(inputs)):
        if j + AHEAD < len(inputs):
            _request_linear(bank, inputs[j + AHEAD], h)
        bank.weight[inputs[j], h] = 0.0
        bank.squares[inputs[j], h] = 0.0
    bank.bias[h] = bank.bias_squares[h] = bank.examples[h] = 0.0
