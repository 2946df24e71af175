"""How much more a mean over pairs varies because pairs share questions: the design effect (Kish 1965).

A run's pairs come in questions, and people's labels of one question are alike. With rho the correlation of two labels
of one question, and N_q the pairs of question q, the mean over all N pairs has the variance of independent pairs times
D = 1 + rho sum N_q (N_q - 1) / N.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]

FEWEST_TWINS: Final = 30
"""With fewer pairs of labelled pairs that share a question, the correlation of their labels is not estimated."""


@dataclass(frozen=True, slots=True)
class DesignEffect:
    """``value`` multiplies the variance of a mean over all ``pairs``, which are of ``questions`` questions.

    ``source`` is that of the correlation within a question: people's ``labels``, or the network's ``verdicts``
    where too few labelled pairs share one. It is never below 1: a plan does not count on questions that help.
    """

    value: float = 1.0
    questions: int = 0
    pairs: int = 0
    source: Literal["labels", "verdicts", ""] = ""

    @property
    def words(self) -> str:
        """What to say of it; empty where no question has two pairs."""
        if not self.source:
            return ""
        source = "people's labels" if self.source == "labels" else "the network's verdicts"
        return (
            f"the {self.pairs:,} judged pairs are of {self.questions:,} questions: planned with a design effect of "
            f"{self.value:.2f}, estimated from {source} of this run"
        )


def design_effect(by_question: Array) -> DesignEffect:
    """The design effect of people's mean score over the judged pairs of a run.

    ``by_question`` has the shape (questions, 4, 4): counts by verdict and by label, as
    :func:`judgenet.stats.resampling.question_counts` gives them. Pairs without a verdict are left out.
    """
    import numpy as np

    judged = by_question[:, 1:, :]
    judged = judged[judged.any(axis=(1, 2))]
    sizes = judged.sum(axis=(1, 2))
    pairs, questions = int(sizes.sum()), len(sizes)
    twins = float((sizes * (sizes - 1)).sum())
    if not twins:
        return DesignEffect(1.0, questions, pairs)
    labels = judged[:, :, 1:].sum(axis=1)
    counts = labels.sum(axis=1)
    from_labels = float((counts * (counts - 1)).sum()) / 2 >= FEWEST_TWINS
    table = labels if from_labels else judged.sum(axis=2)
    alike = likeness(table, np.array([0.0, 0.5, 1.0]))
    return DesignEffect(
        1 + min(1.0, max(0.0, alike)) * twins / pairs, questions, pairs, "labels" if from_labels else "verdicts"
    )


def likeness(table: Array, scores: NDArray[np.floating[Any]]) -> float:
    """The correlation of the scores of two pairs of one question, from counts (questions, classes); 0 where no score
    varies."""
    sizes = table.sum(axis=1)
    mean = float((table @ scores).sum() / sizes.sum())
    centred = scores - mean
    squares = float((table @ centred**2).sum())
    products = float(((table @ centred) ** 2).sum()) - squares
    twins = float((sizes * (sizes - 1)).sum())
    return products / twins / (squares / float(sizes.sum())) if squares and twins else 0.0
