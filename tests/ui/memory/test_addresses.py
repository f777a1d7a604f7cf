"""Where a visitor comes from, as bounds count it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.memory.addresses import HERE, network


@given(st.ip_addresses(v=6), st.integers(0, 2**64 - 1))
def test_all_addresses_of_a_customer_are_one_network(address, other):
    neighbour = type(address)(int(address) >> 64 << 64 | other)
    if not (address.is_loopback or neighbour.is_loopback or address.ipv4_mapped or neighbour.ipv4_mapped):
        assert network(str(address)) == network(str(neighbour))


@given(st.ip_addresses(v=4), st.ip_addresses(v=4))
def test_other_ipv4_addresses_are_other_networks_also_where_ipv6_carries_them(address, other):
    if not (address.is_loopback or other.is_loopback):
        assert (network(str(address)) == network(str(other))) == (address == other)
    assert network(f"::ffff:{address}") == network(str(address))


def test_neighbouring_customers_are_two_networks():
    assert network("2001:db8:0:1::1") != network("2001:db8:0:2::1")


@pytest.mark.parametrize("address", [None, "", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_this_machine_is_one_network(address):
    assert network(address) == HERE


@pytest.mark.parametrize(("address", "same"), [("fe80::1%eth0", "fe80::2%wlan0"), ("unix:", "unix:"), ("x" * 10_000, "x" * 64)])
def test_any_other_name_is_a_network_too(address, same):
    assert network(address) == network(same) and len(network(address)) <= 64
