"""Banks of simple classifiers: naive Bayes and linear ones, or both side by side, any number in one set of arrays."""

from marlene.banks._bank import InputBank
from marlene.banks._linear import LinearBank
from marlene.banks._mixed import SIMPLE_BANKS, MixedBank
from marlene.banks._naive_bayes import NaiveBayesBank

__all__ = ["SIMPLE_BANKS", "InputBank", "LinearBank", "MixedBank", "NaiveBayesBank"]
