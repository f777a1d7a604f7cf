"""Analyses of a model's trace: a Trace in, arrays out."""

from analysis.attention_flow import flow
from analysis.attention_rollout import rollout
from analysis.attribution import Attribution
from analysis.attribution_tests import Curves, Faithfulness, Question, faithfulness
from analysis.behaviour import Behaviour
from analysis.carriers import Overview, overview
from analysis.circuits import Circuit, find_circuit
from analysis.comparison import Common, align, align_texts, compare
from analysis.composition import head_weights
from analysis.contexts import Occurrence, occurrences, word_states
from analysis.copying import copying_scores
from analysis.corpora import Averages, over
from analysis.direct import head_sources, logit_attribution
from analysis.effects import edge_effects, head_effects
from analysis.embedding import analogy, cosines, nearest
from analysis.evolution import Pair, maps, pair
from analysis.explaining import Explanation, agreement, attributions, explain, spread
from analysis.head_patterns import order, patterns
from analysis.heads import alignment, head_scores
from analysis.importance import head_importance, prune
from analysis.labels import head_examples, head_labels
from analysis.lens import Lens, logit_lens, tuned_lens
from analysis.loops import Escape, WayOut, escape, penalty_for, temperature_for, way_out
from analysis.merging import merge, merged_tokens, select, words
from analysis.one_weight import QueryKey, query_key
from analysis.patches import patching
from analysis.prediction import prediction_entropy, surprise
from analysis.projections import Projection, project, projection
from analysis.reading import as_written, paragraph
from analysis.redundancy import head_likeness, lost_together
from analysis.references import feedforward_means, head_means
from analysis.routes import Paths, Step, Stream, paths, shares, streams
from analysis.scopes import Scope, Side, scope
from analysis.similarity import HeadMap, head_divergence, head_map
from analysis.statistics import HeadSummary, entropy, head_statistics, head_summary
from analysis.steering import direction, push, random_direction
from analysis.wiring import circuit_edges

__all__ = [
    "Attribution",
    "Averages",
    "Behaviour",
    "Circuit",
    "Common",
    "Curves",
    "Escape",
    "Explanation",
    "Faithfulness",
    "HeadMap",
    "HeadSummary",
    "Lens",
    "Occurrence",
    "Overview",
    "Pair",
    "Paths",
    "Projection",
    "QueryKey",
    "Question",
    "Scope",
    "Side",
    "Step",
    "Stream",
    "WayOut",
    "agreement",
    "align",
    "align_texts",
    "alignment",
    "analogy",
    "as_written",
    "attributions",
    "circuit_edges",
    "compare",
    "copying_scores",
    "cosines",
    "direction",
    "edge_effects",
    "entropy",
    "escape",
    "explain",
    "faithfulness",
    "feedforward_means",
    "find_circuit",
    "flow",
    "head_divergence",
    "head_effects",
    "head_examples",
    "head_importance",
    "head_labels",
    "head_likeness",
    "head_map",
    "head_means",
    "head_scores",
    "head_sources",
    "head_statistics",
    "head_summary",
    "head_weights",
    "logit_attribution",
    "logit_lens",
    "lost_together",
    "maps",
    "merge",
    "merged_tokens",
    "nearest",
    "occurrences",
    "order",
    "over",
    "overview",
    "pair",
    "paragraph",
    "patching",
    "paths",
    "patterns",
    "penalty_for",
    "prediction_entropy",
    "project",
    "projection",
    "prune",
    "push",
    "query_key",
    "random_direction",
    "rollout",
    "scope",
    "select",
    "shares",
    "spread",
    "streams",
    "surprise",
    "temperature_for",
    "tuned_lens",
    "way_out",
    "word_states",
    "words",
]
