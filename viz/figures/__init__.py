"""Pictures that Plotly draws, a file a subject; style.py has what they look like in common."""
