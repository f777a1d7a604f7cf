"""A folder as a ZIP archive, for a download."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from ui.escaping import folder_name


def zip_folder(folder: Path) -> bytes:
    """Return the files of a folder as a ZIP archive, in one folder, which is named without spaces."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, Path(folder_name(folder.name)) / path.relative_to(folder))
    return file.getvalue()
