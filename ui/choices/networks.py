"""The names on screen of the networks that can be trained and that stand beside a transformer; the first is the default."""

from __future__ import annotations

NETWORKS = {"transformer": "Transformer", "lstm": "LSTM", "gru": "GRU", "convolution": "Causal convolution"}
LAYERS_OF = {"lstm": "an LSTM", "gru": "a GRU", "convolution": "a causal convolution"}  # in “2 layers of …”
