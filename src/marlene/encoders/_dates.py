"""Dates as numbers: seconds since an origin, and hour, weekday and month as points on circles."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints

DATE_PARTS = ("", ": hour sin", ": hour cos", ": weekday sin", ": weekday cos", ": month sin", ": month cos")
"""What follows the name of a column in the names of its seven inputs."""
ORIGIN = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 86_400
MINUTES = 1440
FARTHEST = 2.6e11
"""Seconds from the origin to the end of the year 9999, and some."""


def _circle(points: int) -> Floats:
    """Return sine and cosine of equal steps around a circle; looked up, they are the same bits everywhere."""
    turns = [2 * math.pi * i / points for i in range(points)]
    return np.array([[math.sin(turn), math.cos(turn)] for turn in turns])


_HOUR, _WEEKDAY, _MONTH = _circle(MINUTES), _circle(7), _circle(12)


def date_seconds(value: object, form: str | None = None) -> float:
    """Return the seconds from 1970-01-01 to a date; without a time zone it is taken for UTC.

    Parameters
    ----------
    value
        A `datetime`, a `date`, a `numpy.datetime64`, a number (the seconds themselves), or a text.
    form
        How a text is written, as `datetime.strptime` takes it. Default: ISO 8601, such as 2024-05-01 or
        2024-05-01T09:30:00+02:00; slashes may stand for the hyphens.

    Raises
    ------
    ValueError
        If the value is no date.

    Examples
    --------
    >>> date_seconds("1970-01-02"), date_seconds("1970-01-01T01:00:00+01:00"), date_seconds("2.1.1970", "%d.%m.%Y")
    (86400.0, 0.0, 86400.0)
    """
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, str):
        value = _parsed(value.strip(), form)
    if isinstance(value, datetime):
        aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return (aware - ORIGIN).total_seconds()
    if isinstance(value, date):
        return float((value - ORIGIN.date()).days * DAY)
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, np.timedelta64)
    seconds = float(value) if number else math.nan  # type: ignore[arg-type]
    if not abs(seconds) <= FARTHEST:
        raise ValueError("no date")
    return seconds


def _parsed(text: str, form: str | None) -> datetime:
    if form is not None:
        try:
            return datetime.strptime(text, form)  # noqa: DTZ007 (the time zone is added later)
        except re.error as error:  # a form that has the same part twice
            raise ValueError(f"no form of dates: {error}") from None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return datetime.fromisoformat(text.replace("/", "-"))


def looks_like_date(text: str) -> bool:
    """Tell whether a text is a date as `date_seconds` reads it, with year, month and day.

    Examples
    --------
    >>> looks_like_date("2024-05-01 09:30"), looks_like_date("20240501"), looks_like_date("v1-2-3")
    (True, False, False)
    """
    text = text.strip()
    if len(text) < 10 or text[4] not in "-/" or text[4] != text[7]:
        return False
    try:
        _parsed(text, None)
    except ValueError:
        return False
    return True


def date_inputs(seconds: Floats) -> Floats:
    """Return the seven inputs of each date; a missing one gives seven missing values.

    These are the seconds, and the sine and cosine of the time of day (in minutes), the weekday and the month.

    Examples
    --------
    >>> date_inputs(np.array([6 * 3600.0])).round(3).tolist()
    [[21600.0, 1.0, 0.0, 0.434, -0.901, 0.0, 1.0]]
    """
    known = np.isfinite(seconds)
    whole: Ints = np.floor(np.where(known, seconds, 0.0)).astype(np.int64)
    days = whole // DAY
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    inputs = np.empty((len(seconds), len(DATE_PARTS)))
    inputs[:, 0] = seconds
    inputs[:, 1:3] = _HOUR[whole % DAY // 60]
    inputs[:, 3:5] = _WEEKDAY[(days + 3) % 7]
    inputs[:, 5:7] = _MONTH[months]
    inputs[~known] = np.nan
    return inputs
