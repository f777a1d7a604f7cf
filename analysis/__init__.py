"""A Trace in, arrays out: what can be computed from what a model did."""

from analysis.heads import alignment, head_scores
from analysis.merge import merge, merged_tokens, select, words
from analysis.paragraph import as_written, paragraph
from analysis.patterns import order, patterns
from analysis.prediction import prediction_entropy, surprise
from analysis.query_key import QueryKey, query_key
from analysis.rollout import rollout
from analysis.scope import Scope, Side, scope
from analysis.statistics import HeadSummary, entropy, head_summary

__all__ = [
    "HeadSummary",
    "QueryKey",
    "Scope",
    "Side",
    "alignment",
    "as_written",
    "entropy",
    "head_scores",
    "head_summary",
    "merge",
    "merged_tokens",
    "order",
    "paragraph",
    "patterns",
    "prediction_entropy",
    "query_key",
    "rollout",
    "scope",
    "select",
    "surprise",
    "words",
]
