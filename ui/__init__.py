"""What the pages share: the side bar, the state in the URL, the models in memory, the mounting of a view."""
