"""Data that the server keeps for all visitors: models, jobs and their results, trainings, and access rules."""
