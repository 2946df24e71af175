from __future__ import annotations

import pytest

from judgenet.cli.main import main


def test_a_picture_that_is_not_known_is_told_before_anything_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shots", "pictures", "--only", "runs"]) == 2
    said = capsys.readouterr().err
    assert "--only runs: there is no such picture" in said
    assert "welcome, design, data" in said
