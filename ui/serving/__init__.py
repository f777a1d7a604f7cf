"""What the server answers besides the pages: addresses, the views' modules, who may ask, what comes too late, when all is sent."""
