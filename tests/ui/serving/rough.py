"""The app on a rough machine: `rough.py HOURS run …` is `streamlit run …` where no file grows beyond 300 kB and the clock stands
as many hours off as the file HOURS says at that moment."""

import resource
import sys
import time
from pathlib import Path

from streamlit.web.cli import main

ROOM = 300_000  # bytes, above the server's own log
hours, true = Path(sys.argv.pop(1)), time.time
time.time = lambda: true() + 3600 * float(hours.read_text())
resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
main()
