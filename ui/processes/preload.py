"""Modules that servers share: on Linux, servers are forked from a process that has imported this module, so its memory is shared.

It starts no thread and reads no model, because a fork would copy them only in part.
"""

import gc

import pandas  # noqa: F401
import plotly.graph_objects  # noqa: F401
import sklearn.decomposition  # noqa: F401
import streamlit.web.cli  # noqa: F401
import torch  # noqa: F401
import transformers.modeling_utils  # noqa: F401

from analysis import flow  # noqa: F401
from models import names  # noqa: F401
from models.scratch import model_folder  # noqa: F401

gc.collect()
gc.freeze()  # a collection would write to what is shared
