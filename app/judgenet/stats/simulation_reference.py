"""What an independent script found for the same simulations: coverage / mean width of nominal 95 % intervals.

Two classes and their origins of labels were run 4,000 times a line, three classes 2,000 times (the bootstrap 300). A
figure that is not here was found under another rule, or for a judge that is described by its rates alone.
"""

from __future__ import annotations

from typing import Final

PublishedFigure = tuple[float, float]
"""Coverage and mean width; a width below 0 is not known."""

_TWO = """
.6,.7 .5  50 .104/.062 .990/.802 .941/.260 .950/.258 .942/.265
.6,.7 .5 200 .103/.062 .973/.518 .944/.133 .945/.132 .946/.137
.6,.7 .9  50 .000/.058 .989/.679 .887/.154 .950/.166 .966/.166
.6,.7 .9 200 .000/.058 .985/.405 .938/.081 .953/.082 .957/.083
.8,.8 .5  50 .951/.062 .965/.441 .934/.219 .948/.221 .937/.265
.8,.8 .5 100 .942/.062 .955/.307 .947/.159 .951/.160 .946/.191
.8,.8 .5 200 .945/.062 .947/.221 .942/.115 .946/.116 .942/.137
.8,.8 .5 400 .946/.062 .952/.170 .946/.084 .947/.084 .948/.097
.8,.8 .7 200 .000/.060 .950/.220 .944/.108 .948/.108 .948/.126
.8,.8 .9  50 .000/.054 .952/.374 .889/.144 .950/.155 .971/.167
.8,.8 .9 200 .000/.054 .952/.197 .941/.076 .957/.077 .958/.083
.7,.9 .5 200 .000/.061 .956/.214 .945/.114 .948/.115 .944/.137
.7,.9 .7 200 .722/.056 .950/.199 .944/.105 .953/.105 .952/.126
.7,.9 .9 200 .000/.045 .956/.169 .929/.073 .948/.074 .958/.083
.9,.9 .5  50 .953/.062 .964/.271 .929/.168 .957/.177 .930/.264
.9,.9 .5 200 .946/.062 .948/.136 .944/.094 .949/.095 .939/.137
.9,.9 .7 200 .225/.059 .956/.134 .943/.089 .950/.090 .946/.126
.9,.9 .9  50 .000/.048 .940/.240 .888/.123 .948/.133 .977/.166
.9,.9 .9 200 .000/.048 .949/.128 .938/.068 .954/.068 .956/.083
"""
_COLUMNS = ("naive", "lee", "ppi", "stratified", "human_only")


def _two() -> dict[tuple[float, float, float, int], dict[str, PublishedFigure]]:
    widths = {}
    for line in _TWO.split("\n")[1:-1]:
        judge, theta, labels, *cells = line.split()
        q_0, q_1 = (float(rate) for rate in judge.split(","))
        figures = [tuple(float(number) for number in cell.split("/")) for cell in cells]
        widths[q_0, q_1, float(theta), int(labels)] = {
            method: (coverage, width) for method, (coverage, width) in zip(_COLUMNS, figures, strict=True)
        }
    return widths


TWO: Final = _two()
"""By specificity, sensitivity, true rate and number of labels."""

THREE: Final[dict[tuple[str, tuple[float, float, float], int], dict[str, PublishedFigure]]] = {
    ("strong", (0.4, 0.2, 0.4), 100): {
        "naive": (0.948, 0.054),
        "k_class": (0.981, 0.162),
        "k_class_bootstrap": (0.957, 0.157),
        "ppi": (0.949, 0.104),
        "human_only": (0.948, 0.175),
    },
    ("strong", (0.2, 0.15, 0.65), 300): {
        "naive": (0.108, 0.050),
        "k_class": (0.958, 0.096),
        "k_class_bootstrap": (0.933, 0.092),
        "ppi": (0.944, 0.064),
        "human_only": (0.950, 0.091),
    },
    ("typical", (0.4, 0.2, 0.4), 100): {
        "naive": (0.940, 0.058),
        "k_class": (0.993, 0.562),
        "k_class_bootstrap": (0.987, 0.825),
        "ppi": (0.953, 0.154),
        "human_only": (0.945, 0.175),
    },
    ("typical", (0.2, 0.15, 0.65), 100): {
        "naive": (0.000, 0.056),
        "k_class": (0.996, 0.556),
        "k_class_bootstrap": (0.993, 0.834),
        "ppi": (0.943, 0.142),
        "human_only": (0.949, 0.158),
    },
    ("typical", (0.2, 0.15, 0.65), 300): {
        "naive": (0.000, 0.056),
        "k_class": (0.980, 0.295),
        "k_class_bootstrap": (0.980, 0.472),
        "ppi": (0.949, 0.084),
        "human_only": (0.950, 0.091),
    },
    ("hardly ever ties", (0.4, 0.2, 0.4), 300): {
        "k_class": (0.982, 0.428),
        "k_class_bootstrap": (0.993, 0.728),
        "ppi": (0.941, 0.093),
        "human_only": (0.947, 0.101),
    },
    ("strong", (0.05, 0.05, 0.9), 30): {"stratified": (0.976, 0.146), "ppi": (0.837, 0.110)},
    ("strong", (0.05, 0.05, 0.9), 100): {"stratified": (0.948, 0.075), "ppi": (0.906, 0.073)},
}
"""By judge, shares of A, tie and B among people, and number of labels."""

ORIGINS: Final[dict[str, dict[str, PublishedFigure]]] = {
    "random subset of the same pairs": {
        "naive": (0.129, 0.059),
        "lee": (0.950, 0.191),
        "ppi": (0.945, 0.104),
        "stratified": (0.947, 0.104),
        "human_only": (0.947, 0.126),
    },
    "as many of each class": {
        "naive": (0.133, -1),
        "lee": (0.955, 0.199),
        "ppi": (0.001, -1),
        "stratified": (0.000, -1),
        "human_only": (0.000, -1),
    },
    "other pairs, 90 % B": {
        "naive": (0.140, -1),
        "lee": (0.967, 0.251),
        "ppi": (0.000, -1),
        "stratified": (0.001, -1),
        "human_only": (0.000, -1),
    },
    "easier pairs": {
        "naive": (0.000, -1),
        "lee": (0.372, 0.137),
        "ppi": (0.670, -1),
        "stratified": (0.665, -1),
        "human_only": (0.947, -1),
    },
}
"""By the name of the origin."""
