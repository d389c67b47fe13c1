"""The weights examples are learnt with."""

import itertools

import numpy as np
import pytest
from scipy import stats

from marlene.kernels.ensemble.resampling import mix_many, poisson_draws
from marlene.learners.marlene._members import member_key, stable_hash

DRAWS = 20_000


@pytest.mark.parametrize("rate", [0.3, 1.0, 4.5, 15.9, 16.1, 50.0, 1000.0])
def test_draws_follow_poissons_distribution(rate):
    draws = poisson_draws(np.uint64(7), DRAWS, rate)
    cells = np.unique(stats.poisson.ppf(np.linspace(0.05, 0.95, 10), rate)).astype(int)
    edges = np.concatenate([[-1], cells, [np.iinfo(np.int64).max]])
    expected = DRAWS * np.diff(stats.poisson.cdf(edges, rate))
    observed = np.array([((draws > low) & (draws <= high)).sum() for low, high in itertools.pairwise(edges)])
    assert stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue > 1e-3
    assert abs(draws.mean() - rate) < 5 * np.sqrt(rate / DRAWS)


def test_draws_do_not_depend_on_each_other():
    draws = poisson_draws(np.uint64(7), DRAWS, 1.0).astype(float)
    other = poisson_draws(np.uint64(8), DRAWS, 1.0).astype(float)
    assert abs(np.corrcoef(draws[1:], draws[:-1])[0, 1]) < 0.03
    assert abs(np.corrcoef(draws, other)[0, 1]) < 0.03


def test_a_draw_is_the_same_whatever_was_drawn_before():
    assert np.array_equal(poisson_draws(np.uint64(5), 10, 3.0), poisson_draws(np.uint64(5), 100, 3.0)[:10])


def test_every_part_of_an_origin_and_the_seed_matter():
    origins = [("archive", "spam", 0), (None, "spam", 0), ("archive", "ham", 0), ("archive", "spam", 1)]
    keys = {int(member_key(1, *origin)) for origin in origins} | {int(member_key(2, *origins[0]))}
    assert len(keys) == 5


def test_hashes_are_the_same_in_every_process():
    assert stable_hash("spam") == 13320149526906013135
    assert int(mix_many(np.array([1, 2], np.uint64))) == 16216609496213459576
    assert stable_hash("1") != stable_hash(1)
    assert int(mix_many(np.array([1, 2], np.uint64))) != int(mix_many(np.array([2, 1], np.uint64)))
