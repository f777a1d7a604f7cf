"""Pictures of a page, and their download in several formats."""
