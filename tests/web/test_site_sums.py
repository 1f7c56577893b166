import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from doseflow.web.site_sums import sum_or_unknown, worst_by_site

rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), max_size=30)


@given(rows)
def test_the_worst_row_of_a_site_is_the_one_that_a_plain_search_finds(pairs):
    site_idx = np.array([site for site, _ in pairs], dtype=np.int64)
    scores = np.array([score for _, score in pairs], dtype=float)
    worst_row, worst_score = worst_by_site(scores, site_idx, 5)
    for site in range(5):
        own = [score for at, score in pairs if at == site]
        assert worst_score[site] == max(own, default=0)
        assert (worst_row[site] == -1) == (not own)
        if own:
            assert pairs[worst_row[site]] == (site, max(own))


def test_a_sum_of_nothing_known_is_unknown_and_not_zero():
    values = np.array([[1.0, np.nan], [np.nan, np.nan], [0.0, 0.0]])
    np.testing.assert_equal(sum_or_unknown(values), [1.0, np.nan, 0.0])
