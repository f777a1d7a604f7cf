"""A Trace in, arrays out: what can be computed from what a model did."""

from analysis.heads import alignment, head_scores
from analysis.prediction import prediction_entropy, surprise
from analysis.rollout import rollout
from analysis.statistics import HeadSummary, entropy, head_summary

__all__ = ["HeadSummary", "alignment", "entropy", "head_scores", "head_summary", "prediction_entropy", "rollout", "surprise"]
