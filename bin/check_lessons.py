"""Check lessons of one's own: `python bin/check_lessons.py FOLDER` says of each file what is wrong and on which line.

The words to know that stand in its folder `lexicon` are checked too.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from models.errors import FileError
from ui.lessons import files
from ui.lexicon import files as lexicon
from ui.lexicon import follow


def main(folder: str) -> int:
    """How many files are wrong."""
    if not Path(folder).is_dir():
        print(f"{folder} is no folder.")
        return 1
    os.environ["HEADLIGHT_LESSONS"] = folder
    wrong = 0
    for name, file in files.files().items():
        if not file.is_relative_to(folder):
            continue
        try:
            if lesson := files.find(name):
                print(f"{name}: “{lesson.title}”, {len(lesson.steps)} steps. It can be read.")
        except FileError as error:
            wrong += 1
            print(error)
    try:
        files.courses()
    except FileError as error:
        wrong += 1
        print(error)
    for file in sorted(Path(folder).glob("lexicon/*.md")):
        try:
            entries = lexicon.entries(file.stem)
            follow.check(entries)
            print(f"lexicon/{file.name}: {len(lexicon.read(file))} words. It can be read.")
        except FileError as error:
            wrong += 1
            print(error)
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1] if len(sys.argv) > 1 else str(files.SHIPPED)), 1))
