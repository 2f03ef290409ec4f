"""Max-min fair shares, and the metrics derived from them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bdpbench.metrics.fairness import (
    max_min_shares,
    normalised_jain_index,
    tcp_friendly_rate,
    throughput_ratio,
)


def test_textbook_example() -> None:
    # A network like Bertsekas and Gallager's: a long flow over three links of 1, one flow on the
    # first, two on the second, one on the third link. The second link fills first, with 1/3 for
    # each flow; the flows on the other links get the remaining 2/3.
    routes = {"long": "abc", "first": "a", "second": "b", "third": "b", "fourth": "c"}
    shares = max_min_shares(routes, dict.fromkeys("abc", 1.0))
    assert shares == pytest.approx(
        {"long": 1 / 3, "first": 2 / 3, "second": 1 / 3, "third": 1 / 3, "fourth": 2 / 3}
    )


def test_who_wants_less_leaves_it_to_the_others() -> None:
    shares = max_min_shares({"a": "l", "b": "l"}, {"l": 10.0}, {"a": 1.0, "b": 1.5})
    assert shares == {"a": 1.0, "b": 1.5}  # neither stops before it has what it asks for
    shares = max_min_shares({"a": "l", "b": "l", "c": "l"}, {"l": 10.0}, {"a": 1.0})
    assert shares == pytest.approx({"a": 1.0, "b": 4.5, "c": 4.5})


def test_nothing_limits_a_flow_over_unknown_links() -> None:
    assert max_min_shares({"a": "l", "b": "m"}, {"m": 2.0}) == {"a": None, "b": 2.0}


_ROUTES = st.dictionaries(
    st.integers(0, 9).map(str), st.sets(st.sampled_from("abcde"), min_size=1), min_size=1
)
_CAPACITIES = st.fixed_dictionaries(dict.fromkeys("abcde", st.floats(0.01, 1e4)))


@given(routes=_ROUTES, capacities=_CAPACITIES)
def test_max_min_fair(routes: dict[str, set[str]], capacities: dict[str, float]) -> None:
    shares = max_min_shares({flow: sorted(links) for flow, links in routes.items()}, capacities)
    load = {
        link: sum(share for flow, share in shares.items() if link in routes[flow])
        for link in capacities
    }
    for link, capacity in capacities.items():
        assert load[link] <= capacity * (1 + 1e-6)
    # Each flow crosses a full link on which no flow has more: the definition of max-min fairness.
    for flow, links in routes.items():
        assert any(
            load[link] >= capacities[link] * (1 - 1e-6)
            and all(
                shares[flow] >= share * (1 - 1e-6)
                for other, share in shares.items()
                if link in routes[other]
            )
            for link in links
        )


def test_normalised_index() -> None:
    # Shares 2 and 8; the second flow gets half of its share: 1 and 1/2: (3/2)²/(2 · 5/4) = 0.9.
    assert normalised_jain_index([2.0, 4.0], [2.0, 8.0]) == pytest.approx(0.9)
    assert normalised_jain_index([2.0, 4.0], [2.0, None]) is None
    assert normalised_jain_index([None, 4.0], [2.0, 1.0]) is None


def test_ratio() -> None:
    assert throughput_ratio(1.0, 0.0) is None
    assert throughput_ratio(None, 1.0) is None


def test_tcp_equation() -> None:
    # s = 1460 bytes, R = 0.1 s, p = 0.01: R sqrt(2p/3) = 0.0081650;
    # 0.4 · 3 · sqrt(0.00375) · 0.01 · 1.0032 = 0.00073720; 11680 bit/0.0089022 s = 1.31204 Mbit/s.
    assert tcp_friendly_rate(1460, 0.1, 0.01) == pytest.approx(1.31204, rel=1e-4)


def test_a_demand_below_zero_gets_nothing_and_does_not_keep_the_others_waiting() -> None:
    routes = {"negative": ["a"], "first": ["a"], "second": ["a"]}
    shares = max_min_shares(routes, {"a": 10}, {"negative": -8e-6, "first": 3})
    assert shares == {"negative": 0, "first": 3, "second": 7}


def test_a_capacity_that_is_no_number_ends() -> None:
    assert max_min_shares({"one": ["a"]}, {"a": float("nan")}) == {"one": None}


def test_flows_that_want_little_leave_the_rest_to_the_others() -> None:
    # All rise to 1, where the first stops, the others to 3, where the second stops: 10 - 1 - 3.
    routes = dict.fromkeys(("first", "second", "third"), ("link",))
    shares = max_min_shares(routes, {"link": 10}, {"first": 1, "second": 3})
    assert shares == {"first": 1.0, "second": 3.0, "third": 6.0}
