from __future__ import annotations

from judgenet.ui.app import Studio
from tests.ui.conftest import settle


async def test_it_opens_on_the_welcome_page(studio: Studio) -> None:
    await settle()
    assert studio.window.isVisible()
    assert studio.window.context.navigator.page == "welcome"
