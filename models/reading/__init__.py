"""Texts before and between readings: inputs, languages, long texts, and the reuse of what was read."""
