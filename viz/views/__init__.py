"""Views, one folder for each kind: its Python, JavaScript and CSS."""
