"""A visitor's network. Limits are counted by network, because a program can invent cookies but no network."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

HERE = "here"  # this machine
IPV6_PREFIX = 64  # bits: a single customer is given all addresses that begin with the same 64


@lru_cache(4096)
def network(address: str | None) -> str:
    """Return the network of an address: an IPv4 address itself, the first 64 bits of an IPv6 address, `HERE` for this machine and
    for no address, and anything else unchanged."""
    try:
        number = ip_address((address or "").partition("%")[0])
    except ValueError:
        return (address or "")[:64] or HERE
    if isinstance(number, IPv6Address) and number.ipv4_mapped:
        number = number.ipv4_mapped
    if number.is_loopback:
        return HERE
    return str(IPv6Network((number, IPV6_PREFIX), strict=False)) if isinstance(number, IPv6Address) else str(number)


def mine() -> str:
    """Return the network of the visitor whose page runs; `HERE` outside of a page."""
    address = st.context.ip_address if get_script_run_ctx(suppress_warning=True) else None
    return network(address if isinstance(address, str) else None)
