"""The version of Headlight, which every download names."""

VERSION = "0.10.0"
