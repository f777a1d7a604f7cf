"""Attacks on a server from outside, one module for each kind.

`ATTACKS` of a module has each attack by its name: a function of the server’s address and of how many seconds it goes on, which
returns in one line what the server answered. `prepare` of a module, where it has one, is called with the address before.
"""
