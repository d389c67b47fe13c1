"""Texts and dates as inputs: the same numbers for a whole column and for a single value."""

from marlene.encoders._dates import DATE_PARTS, FARTHEST, date_inputs, date_seconds, looks_like_date
from marlene.encoders._text import SHARED, WORDS, TextEncoder, word_hash, words_of

__all__ = [
    "DATE_PARTS",
    "FARTHEST",
    "SHARED",
    "WORDS",
    "TextEncoder",
    "date_inputs",
    "date_seconds",
    "looks_like_date",
    "word_hash",
    "words_of",
]
