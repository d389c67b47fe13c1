"""The authors' Java program, imitated: for `marlene reproduce imitation` and `slips`, and for nothing else.

The program multiplies densities as doubles, which over- and underflow, repairs what is no number, and repeats one
random draw. None of this belongs into the library, so it is here. Its kernels are compiled anew in every process.
"""

from __future__ import annotations

from typing import Any

from marlene.learners import create as create_method

PROGRAM = "program:"
"""How the names of imitations begin."""
BR_PROGRAM, BRPW_PROGRAM = f"{PROGRAM}br-marlene", f"{PROGRAM}brpw-marlene"


def create(name: str, seed: int = 1, **options: Any) -> Any:  # noqa: ANN401 (any learner)
    """Make an untrained learner: an imitation of a program, or what `marlene.learners.create` makes.

    Examples
    --------
    >>> type(create("program:br-marlene")).__name__, create("majority")
    ('ProgramBRMarlene', Majority ())
    """
    if name == BR_PROGRAM:
        # Compiled code is only loaded where it is used.
        from marlene.experiments.program._br_marlene import ProgramBRMarlene  # noqa: PLC0415

        return ProgramBRMarlene(seed)
    if name == BRPW_PROGRAM:
        from marlene.experiments.program._brpw_marlene import ProgramBRPWMarlene  # noqa: PLC0415

        return ProgramBRPWMarlene(seed=seed, **options)
    if name.startswith(PROGRAM):
        from marlene.experiments.program._slips import slipped  # noqa: PLC0415

        return slipped(name.removeprefix(PROGRAM), seed, options)
    return create_method(name, seed, **options)
