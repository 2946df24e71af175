"""The method of a run in sentences for a paper, what was left out, and the literature.

A sentence is written only where it holds for the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from judgenet.core.acceptance import ACCEPTED, acceptance_words
from judgenet.core.learned import LEARNED
from judgenet.core.network import LearnedKind, LearnedRule, designed_width
from judgenet.core.wording import aggregation_title, digest, of, plural, rule_meaning
from judgenet.report.blocks import Block, Bullets, Given, Inline, Line, Paragraph, Section
from judgenet.report.model import Report
from judgenet.report.outline_probabilities import method_words
from judgenet.report.outline_rates import chosen_words
from judgenet.report.outline_record import caution_lines, first_line, left_line, rules_words
from judgenet.report.outline_tables import neuron_name
from judgenet.report.settings import applied_temperature, not_applied, reasoning_phrase
from judgenet.stats.resampling import FEWEST_QUESTIONS

METHOD_TITLE = "Method"
SOURCES_TITLE = "Sources"
_MOST_NAMED = 8

_SOURCES = {
    "Zhang et al.": "Zhang, X., Yu, B., Yu, H., Lv, Y., Liu, T., Huang, F., Xu, H., Li, Y.: Wider and deeper LLM "
    "networks are fairer LLM evaluators. arXiv 2308.01862, 2023.",
    "Lee et al.": "Lee, C., Zeng, T., Jeong, J., Sohn, J., Lee, K.: How to correctly report LLM-as-a-judge "
    "evaluations. arXiv 2511.21140, 2025.",
    "Koo et al.": "Koo, R., Lee, M., Raheja, V., Park, J. I., Kim, Z. M., Kang, D.: Benchmarking cognitive biases in "
    "large language models as evaluators. arXiv 2309.17012, 2023.",
    "Wang et al.": "Wang, P., Li, L., Chen, L., Cai, Z., Zhu, D., Lin, B., Cao, Y., Liu, Q., Liu, T., Sui, Z.: Large "
    "language models are not fair evaluators. arXiv 2305.17926, 2023.",
    "Angelopoulos et al.": "Angelopoulos, A. N., Duchi, J. C., Zrnic, T.: PPI++: Efficient prediction-powered "
    "inference. arXiv 2311.01453, 2023.",
    "Liu et al.": "Liu, Y., Iter, D., Xu, Y., Wang, S., Xu, R., Zhu, C.: G-Eval: NLG evaluation using GPT-4 with "
    "better human alignment. EMNLP 2023, arXiv 2303.16634.",
    "Dubois et al.": "Dubois, Y., Galambosi, B., Liang, P., Hashimoto, T. B.: Length-controlled AlpacaEval: a simple "
    "way to debias automatic evaluators. arXiv 2404.04475, 2024.",
}
"""The literature by the name under which the method cites it."""


def method_section(report: Report) -> Iterable[Block]:
    """The method, what was left out, notes on the figures, and the sources."""
    yield Section(METHOD_TITLE)
    for line in method_lines(report):
        yield Paragraph(line)
    if report.left_out:
        yield Section("Left out", level=3)
        yield Bullets(tuple((*left_line(left), *first_line(left)) for left in report.left_out))
    notes = caution_lines(report)
    if notes:
        yield Section("Notes on the figures", level=3)
        yield Bullets(notes)
    yield Section(SOURCES_TITLE, level=3)
    yield Bullets(tuple((text,) for text in sources(report)))


def method_lines(report: Report) -> tuple[Line, ...]:
    """The method as three paragraphs: the judges, the data, and how the figures are computed."""
    return (_judges(report), _data(report), _figures(report))


def short_method(report: Report) -> tuple[Line, Line]:
    """The method in two sentences: the judges and their verdict; how the figures are computed."""
    names = list(dict.fromkeys(use.returned or use.requested for use in report.about.models))
    if report.about.recorded:
        judged: list[Inline] = [f"The verdicts of {plural(len(report.neurons), 'judge')} were recorded elsewhere"]
    else:
        orders = {"both": "in both orders", "ab": "with A first", "ba": "with B first"}
        order = orders.get(report.spec.orders, "in an order drawn at random")
        judged = [f"{_network(report).removesuffix('. ')}, {order}"]
        if names:
            judged += [", by ", Given(_named(names))]
    judged.append(f"; the network's verdict is {aggregation_title(report.decides)}.")
    rates = report.rates
    if rates.corrected.value is not None:
        figures = (
            f"The win rate counts a tie half and is corrected with {plural(rates.labelled, 'human label')}, stratified "
            "by verdict"
        )
    elif report.headline.agreement.n_used:
        figures = "Agreement compares the network's verdicts with human labels, and the win rate is uncorrected"
    else:
        figures = "There are no human labels to compare the verdicts with, and the win rate is uncorrected"
    return tuple(judged), (f"{figures}; answers that could not be scored are missing: never zero, never a tie.",)


def sources(report: Report) -> tuple[str, ...]:
    """The literature that the method names, and nothing else."""
    text = " ".join(part for line in method_lines(report) for part in line if isinstance(part, str))
    return tuple(source for name, source in _SOURCES.items() if name in text)


# Who judged


_ROLE_TEXTS = {
    "generated": "with roles that the model named for each pair",
    "fixed": "with fixed roles",
    "criteria": "each by one criterion of the pair",
    "none": "without roles, all on the same question",
}
_READ = {"full": "read all of the layer before", "explicit": "read those they are wired to"}
_ASKED = {
    "both": "Every neuron was asked in both orders, in separate calls",
    "ab": "Every neuron was asked once, A shown first",
    "ba": "Every neuron was asked once, B shown first",
}


def _judges(report: Report) -> Line:
    spec, about = report.spec, report.about
    parts: list[Inline] = []
    if about.recorded:
        # These judges were asked by somebody else: nothing is known of how.
        parts.append(f"{about.recorded} Each judge, or judge and prompt, is a neuron of one layer: ")
        names = [neuron_name(report, neuron) for neuron in report.neurons]
        parts += [Given(_named(names)), ". "]
    else:
        parts.append(_network(report))
        if spec.roles.kind == "fixed":
            parts += ["The roles were ", Given(_named([role.name for role in spec.roles.roles])), ". "]
        asked = _ASKED.get(spec.orders, f"Every neuron was asked in one order, drawn with seed {spec.seed}")
        evidence = "and gave its evidence before its scores" if spec.evidence else "and gave scores without evidence"
        parts.append(f"{asked} {evidence}. ")
        parts += _models(report)
        if words := method_words(report):
            parts.append(words)
        if about.prompts_digest:
            parts.append(f"The prompts have the digest {digest(about.prompts_digest)}. ")
    parts.append("A neuron's verdict is the sign of its summed scores; ")
    parts.append(f"in a vote {rules_words(spec.aggregation)}. ")
    if report.data.weighted:
        parts.append(
            "Votes and averages count each neuron by the weight of its criterion over the mean weight of the pair's "
            "criteria. "
        )
    decides = report.decides
    if decides == "chair":
        parts.append("The chair reads the last layer, and its verdict is the network's.")
    elif decides == ACCEPTED and spec.aggregation.acceptance is not None:
        parts.append(Given(acceptance_words(spec.aggregation.acceptance)))
    elif decides == LEARNED and spec.aggregation.learned is not None:
        parts.append(_learned(spec.aggregation.learned))
    else:
        parts.append(f"The network's verdict is {aggregation_title(decides)}, {rule_meaning(decides)}.")
    parts.append(" The aggregations c1* and c2* are those of Zhang et al. (2023).")
    return tuple(parts)


_KINDS: dict[LearnedKind, str] = {
    "nonnegative": "a logistic regression with weights of 0 or more over the neurons' votes",
    "any_sign": "a logistic regression over the neurons' votes",
    "ising": "an Ising model of the neurons' verdicts, in which these depend on one another and on the label",
    "dawid_skene": "the estimate of Dawid and Skene (1979) over the neurons' verdicts, which uses no labels",
}


def _learned(rule: LearnedRule) -> str:
    fitted = f", fitted to {plural(rule.labels, 'labelled pair')} of an earlier run" if rule.labels else ""
    return f"The network's verdict is learned: {_KINDS[rule.kind]}{fitted}."


def _network(report: Report) -> str:
    spec = report.spec
    widths = [designed_width(spec, layer) for layer in range(spec.depth)]
    as_many = f"as many neurons as {'it has criteria' if spec.roles.kind == 'criteria' else 'there were roles'}"
    first = as_many if widths[0] is None else plural(widths[0], "neuron")
    comma = "," if spec.roles.kind == "criteria" else ""
    parts = [f"Each pair was judged by {first}{comma} {_ROLE_TEXTS[spec.roles.kind]}"]
    for layer, width in enumerate(widths[1:], 1):
        number = "as many" if width is None else f"{width:,}"
        wiring = spec.layers[layer].wiring
        read = _READ.get(wiring.kind, f"read their neighbours up to {wiring.window} away")
        parts.append(f"then by {number} that {read}")
    return ", ".join(parts) + ". "


def _models(report: Report) -> list[Inline]:
    """The models asked, what they answered as, and with which parameters."""
    about = report.about
    if not about.models:
        return []
    answered: dict[str, list[str]] = {}
    for use in about.models:
        names = answered.setdefault(use.requested, [])
        name = "an unnamed model" if use.returned is None else use.returned
        if name not in names:
            names.append(name)
    parts: list[Inline] = ["The judge was " if len(answered) == 1 else "The judges were "]
    for place, (asked, names) in enumerate(answered.items()):
        same = names == [asked]
        words = asked if same else f"{asked} (answered as {_named(names)})"
        parts += ["; " if place else "", Given(words)]
    reasoning = reasoning_phrase(about.parameters)
    if len({(used.temperature, used.max_tokens) for used in about.parameters}) == 1:
        temperature = applied_temperature(about.parameters)
        temperature_words = "the endpoint's own temperature" if temperature is None else f"temperature {temperature:g}"
        parts.append(f", with {temperature_words} and at most {about.parameters[0].max_tokens:,} tokens a reply")
    if reasoning:
        parts.append(f", with {reasoning}")
    parts.append(". ")
    parts += [f"{sentence} " for sentence in not_applied(about.parameters)]
    return parts


def _named(names: list[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED])
    left = len(names) - _MOST_NAMED
    return f"{shown} and {left:,} more" if left > 0 else shown


# What was judged


def _data(report: Report) -> Line:
    data, rates = report.data, report.rates
    parts: list[Inline] = [f"The data are {plural(data.pairs, 'pair')} of responses"]
    if data.system_a is not None and data.system_b is not None:
        parts += [" by ", Given(data.system_a), " (A) and ", Given(data.system_b), " (B)"]
    elif len(data.systems) > 1:
        parts.append(f" by {plural(len(data.systems), 'system')}")
    repeated = 0 < data.questions < data.pairs
    parts.append(f" to {plural(data.questions, 'question')}" if repeated else "")
    parts.append(f" (hash {digest(data.hash)}); {of(data.finished, data.pairs)} are judged. " if data.hash else ". ")
    if data.criteria:
        shown = "" if report.spec.roles.kind == "criteria" else ", which every neuron was shown"
        parts.append(f"{data.criteria}{shown}. ")
    if not data.labelled:
        parts.append("No pair has a human label to compare the verdicts with.")
        return tuple(parts)
    parts.append(f"{of(data.labelled, data.pairs)} pairs have a human label")
    if data.annotated:
        parts.append(f", {data.annotated:,} of them from several of {data.annotators:,} people")
    parts.append(". ")
    if rates.labelled:
        parts.append(chosen_words(rates))
    return tuple(parts)


# How the figures came about


def _rate_interval(report: Report) -> str:
    rates, data = report.rates, report.data
    if rates.corrected.interval is None:
        return f"It has no interval: {rates.corrected.reason}."
    if rates.corrected.questions is not None and data.questions < data.pairs:
        return (
            f"Its 95 % interval takes the standard error from a bootstrap over {data.questions:,} questions "
            f"({report.resamples:,} resamples, seed {report.bootstrap_seed})."
        )
    return "Its 95 % interval is normal, with the variance of the labels within and between the verdicts."


def _figures(report: Report) -> Line:
    rates = report.rates
    parts: list[str] = []
    if rates.corrected.value is not None:
        parts += _corrected_sentences(report)
    elif rates.judged:
        parts.append(
            "The win rate is that of the verdicts alone and uncorrected for their errors, which Lee et al. (2025) show "
            "to bias it."
        )
    if rates.length_adjusted.value is not None:
        parts.append(
            "The rate at equal length is the intercept of a logistic regression of the verdicts on the difference of "
            "lengths, after Dubois et al. (2024), without a term for the difficulty of questions."
        )
    if report.headline.agreement.n_used:
        parts += _agreement_sentences(report)
    if report.position.flip_rate is not None:
        parts.append(
            "Verdicts in both orders are compared as by Koo et al. (2023) and Wang et al. (2023), among pairs that "
            "have a verdict in both."
        )
    if report.left_out:
        counts = "; ".join(f"{left.what} {left.count:,} of {left.total:,}" for left in report.left_out)
        parts.append(f"Left out: {counts}. What is unscored is missing: never zero, never a tie.")
    parts.append(
        "Everything is computed over pairs: calls and neurons are repeated looks at the same pair and never add to n."
    )
    version = report.about.versions.get("judgenet")
    if version:
        parts.append(f"The run was made with JudgeNet {version}.")
    return (" ".join(parts),)


def _corrected_sentences(report: Report) -> Iterator[str]:
    rates = report.rates
    yield (
        "The win rate of B, a tie counting half, is stratified by verdict: people's mean score within each "
        "verdict, with one label more spread evenly over the classes, weighted by the verdict's share of "
        f"{plural(rates.judged, 'judged pair')}; it uses {plural(rates.labelled, 'label')}. "
        f"{_rate_interval(report)} It corrects the rate of the verdicts alone, which Lee et al. "
        "(2025) show to be biased."
    )
    if rates.estimates["ppi"].value is not None:
        yield "PPI++ (Angelopoulos et al. 2023) is its cross-check."
    if rates.estimates["lee"].value is not None:
        yield "The estimate of Lee et al. (2025) is given too."


def _agreement_sentences(report: Report) -> Iterator[str]:
    questions = report.data.questions
    repeated = 0 < questions < report.data.pairs
    resampling = f"{report.resamples:,} resamples, seed {report.bootstrap_seed}"
    if repeated and questions < FEWEST_QUESTIONS:
        yield (
            f"With {plural(questions, 'question')} there are no intervals of agreement: {FEWEST_QUESTIONS} are needed."
        )
    elif repeated:
        yield (
            f"Intervals of agreement are percentiles of a bootstrap over questions ({resampling}), with "
            "pseudo-questions drawn into each and Student's quantile."
        )
    else:
        yield (
            "Intervals of accuracy are Wilson's, those of F1 and kappa percentiles of a bootstrap over pairs "
            f"({resampling}), with pseudo-pairs drawn into each."
        )
    classes = len(report.headline.agreement.labels)
    yield f"Macro-F1 averages {plural(classes, 'class', 'classes')}; kappa is Cohen's, unweighted."
