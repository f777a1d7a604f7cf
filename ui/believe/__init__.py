"""Which method to believe: tokens leave the text in each method's order, and the prediction says which of them it needed."""
