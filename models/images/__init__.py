"""Images as a model reads them: opened, checked, and cut into patches."""
