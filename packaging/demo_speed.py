"""Prints the seconds that the demo model needs on this computer for a call of typical size.

``start.py`` runs it in the environment that it made, to choose how many example pairs the demo can judge.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from judgenet.core.endpoints import EndpointProfile
from judgenet.engine.embedded import MODEL_NAME, EmbeddedEndpoint
from judgenet.engine.ports import ChatRequest, ReplySchema

PROMPT = Path(__file__).read_text(encoding="utf-8")[:1200]
"""About 300 tokens."""
ANSWER = ReplySchema("answer", {"type": "string", "minLength": 120, "maxLength": 120})
"""About 30 tokens, whatever the model says."""


async def measure() -> float:
    endpoint = EmbeddedEndpoint(EndpointProfile("embedded", kind="embedded"))
    request = ChatRequest(MODEL_NAME, "", PROMPT, "", "json", ANSWER, temperature=0.0, max_tokens=300)
    try:
        return (await endpoint.chat(request)).latency_s
    finally:
        await endpoint.close()


if __name__ == "__main__":
    print(f"{asyncio.run(measure()):.3f}")
