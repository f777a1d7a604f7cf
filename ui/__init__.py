"""Code that the pages share: the side bar, the state in the address, the models in memory, and showing views."""
