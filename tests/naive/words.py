"""The words of texts, one character at a time."""

import unicodedata


def words(text):
    kept = "".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in (text or "").lower())
    return [word for word in kept.split(" ") if word]


def columns(texts, pairs, limit):
    """Return the words of each text with a column of their own, in the order of the columns; and all of these."""
    known = {}
    rows = []
    for text in texts:
        found = []
        before = None
        for word in words(text):
            found.append(word)
            if pairs and before is not None:
                found.append(f"{before} {word}")
            before = word
        for word in found:
            if word not in known and len(known) < limit:
                known[word] = len(known)
        rows.append(sorted({known[word] for word in found if word in known}))
    return rows, list(known)
