"""The guided lessons: read from Markdown files, shown beside the live app, and their answers computed from the live model."""
