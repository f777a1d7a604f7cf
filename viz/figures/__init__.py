"""Pictures that Plotly draws, one file for each subject; style.py has their common style."""
