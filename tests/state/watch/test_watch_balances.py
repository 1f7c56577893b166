import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from watch_days import Street
from watched_city import Watched, city_of


@given(seed=st.integers(0, 10**6), rate=st.floats(0.2, 20), posts=st.integers(1, 8))
@settings(max_examples=10)
def test_true_counts_never_leave_their_band_whatever_comes(seed, rate, posts):
    """People are kept: no seed, load or number of stations makes a balance of exact counts flag."""
    watched, street = Watched(city_of(1)), Street(seed, rate, posts)
    for _ in range(60):
        watched.show(**street.period())
    assert not [one for one in watched.ever.values() if one.kind != "stuck_reading"]


def show_street(watched, street, periods, **wrong):
    for _ in range(periods):
        watched.show(**(street.period() | {name: np.array(value) for name, value in wrong.items()}))


def test_a_queue_without_arrivals_is_flagged_within_the_people_at_the_stations(make_watched):
    watched, street = make_watched(1), Street(3, 8.0, 5)
    show_street(watched, street, 20)
    assert not watched.ever
    show_street(watched, street, 6, arrivals_people=[0.0])
    assert watched.open_kinds == ["people_from_nowhere"]
    assert "arrivals, queue and doses do not agree" in watched.anomalies[0].text_en


def test_arrivals_that_change_nothing_are_flagged(make_watched):
    watched, street = make_watched(1), Street(3, 8.0, 5)
    show_street(watched, street, 20)
    show_street(watched, street, 10, doses_given=[0.0])
    assert watched.open_kinds == ["people_vanish"]


def test_a_queue_that_jumps_is_flagged_at_once_and_is_one_anomaly(make_watched):
    watched, street = make_watched(1), Street(4, 8.0, 5)
    show_street(watched, street, 20)
    show_street(watched, street, 1, waiting_people=[[80.0, 0.0, 0.0, 3.0]])
    assert watched.open_kinds == ["queue_jump"]
    show_street(watched, street, 20)
    assert len(watched.ever) == 1
    assert watched.open_kinds == []


def test_more_doses_than_people_are_flagged_at_once(make_watched):
    watched, street = make_watched(1), Street(4, 8.0, 5)
    show_street(watched, street, 20)
    show_street(watched, street, 1, doses_given=[90.0])
    assert watched.open_kinds == ["doses_without_people"]


def test_a_missing_report_is_no_anomaly(make_watched):
    watched, street, rng = make_watched(1), Street(5, 12.0, 6), np.random.default_rng(5)
    for _ in range(150):
        watched.show(told=rng.random(1) < 0.7, **street.period())
    assert not watched.ever


def show_stock(watched, doses, **lots):
    watched.show(
        lots={(0, name): number for name, number in lots.items()},
        doses_given=np.array([float(doses)]),
        arrivals_people=np.full(1, np.nan),
    )


def test_stock_that_falls_by_doses_and_waste_and_rises_by_new_lots_is_true(make_watched):
    watched, rng, left = make_watched(1), np.random.default_rng(1), 1000
    for period in range(60):
        doses, waste = int(rng.integers(0, 9)), int(rng.integers(0, 5))
        left -= doses + waste
        show_stock(watched, doses, a=left, **({"b": 500} if period > 30 else {}))
    assert not [one for one in watched.ever.values() if one.kind != "stuck_reading"]


def test_a_lot_that_grows_is_flagged_at_once(make_watched):
    watched = make_watched(1)
    for left in (100, 95, 90):
        show_stock(watched, 5, a=left)
    show_stock(watched, 5, a=145)
    assert watched.open_kinds == ["stock_rise"]


def test_stock_that_stands_still_while_doses_are_given_is_flagged(make_watched):
    watched = make_watched(1)
    for period in range(6):
        show_stock(watched, 4 + period % 2, a=100)
    assert watched.open_kinds == ["stock_mismatch"]
