"""`python -m models.remote`: see `models.remote.serving`."""

import sys

from models.remote.serving import main

sys.exit(main())
