"""The version of Headlight: what is taken away names it."""

VERSION = "0.10.0"
