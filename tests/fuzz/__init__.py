"""Damaged input for every way in: `python -m tests.fuzz [TARGET]… [--cases N] [--seed N]`.

A case is a few bytes, made from a good input by random changes. It has one of two right outcomes: a result that holds
what it must, or a `MarleneError` of one line. Anything else is a finding. It is kept in the folder `found`, and every
run of the tests tries it again.
"""
