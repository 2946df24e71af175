"""What is known of a model at an endpoint while a run goes on, and why it or its endpoint was stopped."""

from __future__ import annotations

from typing import Any

from judgenet.core.evaluation import Reason
from judgenet.engine.limits import Gate
from judgenet.engine.ports import EndpointStopped


class EndpointStop:
    """Why an endpoint, or a model of it, was stopped."""

    def __init__(self, reason: Reason, message: str, status: int | None, model: str | None) -> None:
        self.reason = reason
        self.message = message
        self.status = status
        self.model = model

    def error(self, attempts: int, kind: type[EndpointStopped] = EndpointStopped) -> EndpointStopped:
        """The error for a call that was stopped after so many attempts."""
        return kind(self.reason, self.message, status=self.status, attempts=attempts, model=self.model)


class KnownModel:
    """What is known of a model at an endpoint.

    Attributes:
        learned: what the endpoint refuses of requests to the model, and what is done instead.
        gate: lets one call at a time through until the model has answered.
        lessons: what was learned in this run.
        blind: set where the model takes no pictures.
    """

    def __init__(self, learned: dict[str, Any]) -> None:
        self.learned = learned
        self.gate = Gate()
        self.lessons: set[tuple[str, str]] = set()
        self.blind: EndpointStop | None = None
        self.reported_window = False
        self.reported_scores = False
