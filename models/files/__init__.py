"""Files of traces and weights, and the progress of reading them."""
