"""One folder a kind of view: its Python, JavaScript and CSS."""
