"""The notebook in ``examples`` runs as it stands, on the embedded model."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from judgenet.assets import example


def test_the_example_notebook_runs(weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGENET_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    shutil.copy(example("general.jsonl"), tmp_path)
    notebook = nbformat.read(example("judgenet.ipynb"), as_version=4)
    client = NotebookClient(
        notebook, timeout=200, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute(env=dict(os.environ))
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    texts = [output["data"].get("text/plain", "") for output in outputs if "data" in output]
    assert "<Pairs: 24 pairs, 24 of them with a human label>" in texts
    assert "'done'" in texts
    assert (tmp_path / "notebook-run" / "report.html").exists()
