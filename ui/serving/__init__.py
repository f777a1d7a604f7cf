"""What the server answers besides the pages: addresses, the modules of the views, who may ask, and when all is sent."""
