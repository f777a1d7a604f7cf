"""Panel "Which to believe": deletes tokens in each method's order, and compares how fast the prediction falls."""
