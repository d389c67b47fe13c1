"""Dates become the same numbers from every type."""

import datetime as dt
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marlene.encoders import date_inputs, date_seconds, looks_like_date

MOMENTS = st.datetimes(dt.datetime.fromisoformat("1900-01-01"), dt.datetime.fromisoformat("2200-01-01"))


@given(MOMENTS, st.sampled_from([0, 2, -5.5]))
def test_all_types_agree(moment, hours):
    zone = dt.timezone(dt.timedelta(hours=hours))
    expected = moment.replace(tzinfo=dt.UTC).timestamp()
    values = [moment, moment.isoformat(), f" {moment} ", moment.isoformat().replace("-", "/"), pd.Timestamp(moment)]
    values += [np.datetime64(moment), moment.replace(tzinfo=dt.UTC).astimezone(zone), expected, np.float64(expected)]
    values += [moment.replace(tzinfo=dt.UTC).astimezone(zone).isoformat()]
    assert [date_seconds(value) for value in values] == [pytest.approx(expected, abs=1e-6)] * len(values)
    assert date_seconds(moment.isoformat()) == date_seconds(moment)
    assert date_seconds(moment.date()) == date_seconds(moment.date().isoformat())


@given(st.lists(MOMENTS, min_size=1, max_size=5))
def test_inputs(moments):
    seconds = np.array([date_seconds(moment) for moment in moments])
    inputs = date_inputs(seconds)
    np.testing.assert_array_equal(inputs, np.concatenate([date_inputs(seconds[[i]]) for i in range(len(seconds))]))
    for row, moment in zip(inputs, moments, strict=True):
        parts = [(moment.hour * 60 + moment.minute) / 1440, moment.weekday() / 7, (moment.month - 1) / 12]
        circles = [f(2 * math.pi * part) for part in parts for f in (math.sin, math.cos)]
        np.testing.assert_allclose(row[1:], circles, atol=1e-12)


def test_missing_and_forms():
    assert np.isnan(date_inputs(np.array([np.nan, 0.0]))).all(axis=1).tolist() == [True, False]
    assert date_seconds("24.12.2023 18:30", "%d.%m.%Y %H:%M") == date_seconds("2023-12-24T18:30")


@pytest.mark.parametrize("value", ["soon", "", "2024-13-01", None, [1], dt.timedelta(1), 1e300, math.inf, math.nan])
def test_what_is_no_date(value):
    with pytest.raises(ValueError, match=r"no date|isoformat|month"):
        date_seconds(value)


@pytest.mark.parametrize("text", ["2024-05-01", "2024/05/01 10:00", "2024-05-01T10:00:00Z"])
def test_what_looks_like_a_date(text):
    assert looks_like_date(text)


@pytest.mark.parametrize("text", ["20240501", "", "2024-05", "1234-56-78", "2024-05/01", "call 2024-05-01"])
def test_what_does_not(text):
    assert not looks_like_date(text)
