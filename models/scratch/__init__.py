"""The from-scratch transformer: read `transformer.py` first, the files beside it are its parts."""
