"""Numbers and arrays: softmax, precision, read-only and ragged arrays, sizes in words."""
