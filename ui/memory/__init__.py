"""What the server keeps for all visitors: models, long work and its results, trainings, and what may be opened."""
