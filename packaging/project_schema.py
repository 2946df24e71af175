"""Writes the JSON Schema of the project file, ``resources/project.schema.json``, from the classes that define it.

Needed only when one of these classes changes: ``python packaging/project_schema.py``.
"""

from __future__ import annotations

import json

from judgenet.assets import asset
from judgenet.core.project import SCHEMA_FILE, project_schema


def main() -> None:
    """Writes the file."""
    text = json.dumps(project_schema(), indent=2, ensure_ascii=False) + "\n"
    asset(SCHEMA_FILE).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
