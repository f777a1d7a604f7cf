"""The app, run by `brief.py run …` as by `streamlit run …`, but that it forgets a visitor a second after they have gone, not two
minutes: so that a test may see what is left."""

from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.web.cli import main

keep = MemorySessionStorage.__init__
MemorySessionStorage.__init__ = lambda self, *_, **__: keep(self, ttl_seconds=1)
main()
