"""Texts as words."""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import TYPE_CHECKING

import numpy as np

from marlene._common.checks import whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from marlene._common.arrays import Array, Int32s, Ints

WORDS = 1 << 14
SHARED = 1 << 10
BLOCK = 1 << 13
_SPACE = 32
_ALL_BITS = (1 << 64) - 1
_ASCII_WORD = re.compile(r"[0-9a-z]+")
_BETWEEN = re.compile(r"[\x00-/:-@\[-`{-\x7f]+")


class TextEncoder:
    """Gives every word a column, in the order in which words first appear.

    A word is a run of letters, digits and marks, in lower case. Only whether a word is in a text counts. The first
    `words` different ones have columns of their own; all later ones share `shared` columns, by their hash. So the
    columns of a text depend on nothing but the texts before it.

    Parameters
    ----------
    pairs
        Whether two words in a row are a word of their own, too.
    words
        The most words with a column of their own.
    shared
        The number of columns for all further words; 0 leaves them out.

    Examples
    --------
    >>> encoder = TextEncoder()
    >>> starts, columns = encoder.encode(["Refund, please!", "My refund: WHERE is my refund?"])
    >>> starts.tolist(), columns.tolist()
    ([0, 2, 6], [0, 1, 0, 2, 3, 4])
    >>> encoder.names()
    ['refund', 'please', 'my', 'where', 'is']
    """

    def __init__(self, *, pairs: bool = False, words: int = WORDS, shared: int = SHARED) -> None:
        from marlene.kernels.reading.words import Vocabulary  # noqa: PLC0415 (Numba takes a while)

        self.pairs = pairs
        self.limit = whole_number(words, "the number of words", 1, 1 << 24)
        self.shared = whole_number(shared, "the number of shared columns", 0, 1 << 24)
        self.words: list[str] = []
        places = 1 << (2 * self.limit).bit_length()
        self._vocabulary = Vocabulary(np.zeros(places, np.int32), np.zeros(self.limit, np.uint64))

    def names(self) -> list[str]:
        """Return the names of the columns so far; those of shared columns are numbers after a `#`."""
        full = len(self.words) == self.limit
        return [*self.words, *(f"#{i}" for i in range(self.shared if full else 0))]

    def encode(self, texts: Sequence[str | None], *, learning: bool = True) -> tuple[Ints, Int32s]:
        """Return the columns of the words of every text, ascending, in CSR form.

        Parameters
        ----------
        texts
            Texts; None has no words.
        learning
            Whether new words get columns; otherwise they are left out.
        """
        starts, parts = [np.zeros(1, np.int64)], [np.zeros(0, np.int32)]
        for begin in range(0, len(texts), BLOCK):
            block_starts, columns = self._encode(texts[begin : begin + BLOCK], learning)
            starts.append(block_starts[1:] + starts[-1][-1])
            parts.append(columns)
        return np.concatenate(starts), np.concatenate(parts)

    def _encode(self, texts: Sequence[str | None], learning: bool) -> tuple[Ints, Int32s]:
        from marlene.kernels.reading.words import encode_words  # noqa: PLC0415

        codes, ends = _code_points(texts)
        room = (len(codes) + len(texts)) // 2 + 1
        starts = np.empty(len(texts) + 1, np.int64)
        columns = np.empty(room * (1 + self.pairs), np.int32)
        before = len(self.words)
        spans = np.empty((min(self.limit - before, len(columns)), 2), np.int64)
        known = encode_words(
            codes, ends, self._vocabulary, before, self.shared, self.pairs, learning, starts, columns, spans
        )
        for first, last in spans[: known - before].tolist():
            word = codes[first:last].tobytes().decode("utf-32-le")
            self.words.append(_BETWEEN.sub(" ", word) if self.pairs else word)
        return starts, columns[: starts[-1]].copy()


def words_of(text: str) -> list[str]:
    """Return the words of a text, in lower case.

    Examples
    --------
    >>> words_of("Où est l’été_2024?")
    ['où', 'est', 'l', 'été', '2024']
    """
    lower = text.lower()
    return _ASCII_WORD.findall(lower) if lower.isascii() else list(_words(lower))


def word_hash(word: str) -> int:
    """Return the hash of a word, or of a pair of words with a space between; its upper half chooses a shared column."""
    from marlene.kernels.reading.words import MIX, OFFSET, PRIME, SHIFT  # noqa: PLC0415 (Numba takes a while)

    def mixed(value: int) -> int:
        value = (value ^ (value >> int(SHIFT))) * int(MIX) & _ALL_BITS
        return value ^ (value >> int(SHIFT))

    hashes = []
    for part in word.split(" "):
        value = int(OFFSET)
        for sign in part:
            value = (value ^ ord(sign)) * int(PRIME) & _ALL_BITS
        hashes.append(mixed(value))
    return hashes[0] if len(hashes) == 1 else mixed(hashes[0] * int(PRIME) & _ALL_BITS ^ hashes[1])


def _words(text: str) -> Iterator[str]:
    word = ""
    for sign in f"{text} ":
        if _in_word(sign):
            word += sign
        elif word:
            yield word
            word = ""


@functools.lru_cache(1 << 16)
def _in_word(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "LNM"


def _code_points(texts: Sequence[str | None]) -> tuple[Array, Ints]:
    """Return the code points of all texts in lower case, and where each ends; what is in no word is made a space."""
    lower = ["" if text is None else text.lower() for text in texts]
    ends = np.cumsum(np.fromiter(map(len, lower), np.int64, len(lower)))
    joined = "".join(lower)
    if joined.isascii():
        return np.frombuffer(joined.encode(), np.uint8).astype(np.uint32), ends
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32).copy()
    other = np.unique(codes[codes >= 128])
    outside = [code for code in other.tolist() if not _in_word(chr(code))]
    if outside:
        codes[np.isin(codes, np.array(outside, np.uint32))] = _SPACE
    return codes, ends
