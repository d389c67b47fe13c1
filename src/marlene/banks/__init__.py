"""Banks of simple classifiers, any number in one set of arrays: naive Bayes, linear, or both; and neighbours."""

from marlene.banks._bank import InputBank
from marlene.banks._linear import LinearBank
from marlene.banks._mixed import SIMPLE_BANKS, MixedBank
from marlene.banks._naive_bayes import NaiveBayesBank
from marlene.banks._neighbours import Neighbours

__all__ = ["SIMPLE_BANKS", "InputBank", "LinearBank", "MixedBank", "NaiveBayesBank", "Neighbours"]
