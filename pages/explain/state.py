"""The choices of page "Explain"."""

from __future__ import annotations

from ui.state import Key, link

EXPLAIN = link("explain", "The words", "Methods", "Which to believe")
EXPLAIN_BY = link(
    "explain-by",
    "leave-one-out",
    "gradient × input",
    "integrated gradients",
    "lime",
    "shap",
    "sampled shap",
    "attention × gradient",
    "rollout",
)
EXPLAIN_WORD, EXPLAIN_AGAINST = link("explain-word"), link("explain-against")
EXPLAIN_PAIR = Key("explain-pair", "")  # two methods whose texts stand beside each other
EXPLAIN_TOKENS = link("explain-tokens", default=False)  # gradient × input of the token embedding alone
