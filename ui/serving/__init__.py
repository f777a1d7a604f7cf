"""What the server answers besides the pages: addresses, modules of the views, who may ask, what is too late, when all is sent."""
