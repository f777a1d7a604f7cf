"""The lexicon: words of the field, dotted where they first stand on a page, and what a press on them says."""
