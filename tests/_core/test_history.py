"""A history stays small, and keeps the first and the last round."""

from itertools import pairwise

from relaxboost._core.history import MAX_RECORDS, History


def test_a_short_run_is_kept_whole():
    history = History()
    for k in range(1, 50):
        history.add(k)
    assert history.records() == tuple(range(1, 50))
    assert history.records("last") == (*range(1, 49), "last")
    assert history.rounds == history.last == 49


def test_a_long_run_is_thinned_by_doubling():
    history = History()
    for k in range(1, 5 * MAX_RECORDS):
        history.add(k)
        if k % 7919 == 0 or MAX_RECORDS - 3 < k < MAX_RECORDS + 3:
            records = history.records()
            assert (records[0], records[-1]) == (1, k)
            assert len(records) == len(set(records)) <= MAX_RECORDS
            steps = {b - a for a, b in pairwise(records[:-1])}
            assert len(steps) == 1  # evenly, but for the last


def test_no_round_no_record():
    assert History().records() == () == History().records("last")
