"""Banks of simple classifiers: naive Bayes and linear ones, any number in one set of arrays."""

from marlene.banks._bank import InputBank
from marlene.banks._linear import LinearBank
from marlene.banks._naive_bayes import NaiveBayesBank

__all__ = ["KINDS", "InputBank", "LinearBank", "NaiveBayesBank"]

KINDS: dict[str, type[InputBank]] = {kind.name: kind for kind in (NaiveBayesBank, LinearBank)}
"""Banks by their names."""
