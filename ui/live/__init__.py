"""The line: a WebSocket by which a page’s text becomes a picture at every key, without a run of the page."""
