"""The method section of an experiment for a paper: what ran on which data, with which settings, and how that differs
from the original."""

from __future__ import annotations

from collections.abc import Iterator

from judgenet.core import network_json
from judgenet.core.wording import day, of, percent, plural
from judgenet.figures.experiment import ExperimentFigures, ExperimentSet, SetRecord
from judgenet.report.blocks import Block, Bullets, Given, Inline, Line, Paragraph, ReportDocument, Section
from judgenet.report.experiment_document import TARGETS
from judgenet.report.experiment_results import kind_of
from judgenet.report.outline_record import rules_words
from judgenet.version import __version__

WIDEDEEP = "Wider and Deeper LLM Networks are Fairer LLM Evaluators (2023), arXiv 2308.01862"
FAIREVAL = "Large Language Models are not Fair Evaluators (2023), arXiv 2305.17926"


def method(results: ExperimentFigures) -> ReportDocument:
    """The method of all sets of an experiment."""
    return ReportDocument(
        kicker=("Method of the experiment ", results.experiment),
        date=day(max(of_set.at for of_set in results.sets)),
        title=f"{results.title}: method",
        blocks=tuple(_blocks(results)),
        foot=f"JudgeNet {__version__}",
    )


def _blocks(results: ExperimentFigures) -> Iterator[Block]:
    sets, kind = results.sets, kind_of(results)
    yield Section("Data")
    for of_set in sets:
        yield Paragraph(tuple(_data(of_set, kind)))
    yield Section("Judges")
    yield Paragraph((_judges(results, kind),))
    for of_set in sets:
        yield Paragraph(tuple(_models(of_set, kind)))
    if kind != "clouds":
        yield Section("Figures")
        yield Paragraph((_figures(results, kind),))
    yield Section("What differs from the original")
    yield Bullets(tuple(_differences(results, kind)))
    published = _PUBLISHED.get(results.experiment)
    if published:
        yield Section("What the paper reports")
        yield Paragraph((published,))
    yield Section("Sources")
    yield Bullets(((Given(WIDEDEEP),), *(((Given(FAIREVAL),),) if _has_fair_eval(results) else ())))


def _data(of_set: ExperimentSet, kind: str) -> Iterator[Inline]:
    pairs = of_set.pairs
    yield Given(of_set.set)
    tasks = f" of {plural(pairs.tasks, 'task')}" if pairs.tasks else ""
    yield f": {plural(pairs.total, 'pair')}{tasks} ({pairs.selection}; content hash {pairs.data_hash[:12]})"
    if kind != "clouds":
        labels = pairs.labels
        counts = f"A {labels['a']:,}, B {labels['b']:,}, tie {labels['tie']:,}"
        yield f", {pairs.labelled:,} with a human label ({counts})"
    yield ". "
    files = [file for file, _ in of_set.record.source.files]
    if files:
        yield "Read from "
        yield Given(", ".join(files))
        yield ". "
    if of_set.state != "done":
        yield f"The experiment has not run to its end ({of_set.state}): figures rest on the pairs that were judged."


_ARMS = {
    "main-table": "FairEval asks one judge for its evidence and then its scores, k times in each order, and averages "
    "(multiple evidence and balanced position calibration). WideDeep asks the model for the perspectives from which "
    "the pair should be judged; each perspective is a neuron of layer 1, and each neuron of layer 2 reads all "
    "evaluations of layer 1 and judges again.",
    "baselines": "The network (WideDeep: perspectives named by the model, two layers, layer 2 reads layer 1) stands "
    "against a single judge in one order that gives scores only, the same with evidence first, FairEval (k evidences "
    "in each order, averaged), a flat jury (layer 1 of the network alone) and the network without roles, whose "
    "neurons all ask the general question, with as many neurons for each pair as the network has.",
    "width-depth": "Networks of n neurons in each of l layers; each neuron of a deeper layer reads all evaluations of "
    "the layer before. The model named at most as many perspectives as the widest network has neurons, once per pair; "
    "a network of n neurons takes the first n. Shallower networks are the first layers of the deepest one, whose "
    "calls they use.",
    "roles": "Two layers with perspectives named by the model, and the same without: all neurons ask the general "
    "question. Once with a fixed number of neurons, once with as many as the model named perspectives; without roles "
    "each pair then has as many neurons as it has with them.",
    "neuron-budget": "N neurons in two layers, an odd one taken from layer 2, against FairEval with N samples in each "
    "order. Perspectives were named once per pair, as many as the widest layer has neurons. A network with one neuron "
    "fewer in its last layer, and FairEval with fewer samples, are parts of the larger ones, whose calls they use.",
    "word-clouds": "The model was asked once per pair for the perspectives from which it should be judged, each with "
    "a name and a description, at temperature 0. Pairs for which it named none are left out.",
    "annotation-saving": "FairEval (k evidences in each order, averaged) and WideDeep (perspectives named by the "
    "model, two layers).",
}


def _judges(results: ExperimentFigures, kind: str) -> str:
    text = _ARMS[results.experiment]
    if kind == "clouds":
        return text
    first = results.sets[0]
    samples = max(row.samples for row in first.rows)
    if samples > 1:
        text += f" Here k is {'up to ' if kind == 'budget' else ''}{samples}."
    spec = network_json.from_json(next(iter(first.networks.values())))
    return text + (
        " Every neuron was asked in both orders of the responses, in separate calls, except where one order is "
        "named; scores were mapped back to the responses at once. A neuron's verdict is the sign of its summed scores. "
        "c1* averages all calls, c2*(l) is the vote of a layer and c2*(all) that of all neurons: "
        f"{rules_words(spec.aggregation)}. A call that gave no valid scores is missing, never zero and never a tie."
    )


def _models(of_set: ExperimentSet, kind: str) -> Iterator[Inline]:
    record, calls = of_set.record, of_set.calls
    yield Given(of_set.set)
    yield ": "
    for model in record.models:
        yield Given(f"{model.asked} at {model.endpoint}")
        if model.answered_as and model.answered_as != model.asked:
            yield " (answered as "
            yield Given(model.answered_as)
            yield ")"
        yield "; "
    temperatures = {
        "the endpoint's default" if temperature == "default" else f"{temperature:g}"
        for network in of_set.networks.values()
        for temperature in [network_json.from_json(network).settings.temperature]
        if temperature is not None
    }
    limits = sorted({use.max_tokens for use in record.parameters})
    yield f"temperature {' and '.join(sorted(temperatures)) or 'n/a'} (roles at 0){_not_applied(record)}, "
    yield f"at most {' and '.join(f'{most:,}' for most in limits) or 'n/a'} tokens an answer{_further(record)}; "
    prompts = ", ".join(text[:12] for text in record.prompts)
    yield f"prompts {prompts or 'n/a'}, seed {record.seed}, JudgeNet {record.judgenet}. "
    if kind != "clouds":
        yield f"The networks rest on {calls.different:,} different calls, some of which serve several of them."


def _further(record: SetRecord) -> str:
    """The further settings of the answers, empty where they have none."""
    given = list(dict.fromkeys(use.more for use in record.parameters if use.more))
    if not given:
        return ""
    asked = [use for use in record.parameters if use.more]
    otherwise = sum(use.reasoning_otherwise or 0 for use in asked)
    note = f", reasoning otherwise in {of(otherwise, sum(use.answers for use in asked))}" if otherwise else ""
    return f", further settings {' and '.join(given)}{note}"


def _not_applied(record: SetRecord) -> str:
    """In how many answers a temperature that was asked for was not applied; empty where all were."""
    heated = [use for use in record.parameters if use.temperature != "default"]
    count = sum(use.temperature_not_applied or 0 for use in heated)
    if not count:
        return ""
    return f", not applied in {of(count, sum(use.answers for use in heated))} answers, as the endpoint refuses it"


def _figures(results: ExperimentFigures, kind: str) -> str:
    text = (
        "Accuracy is the share of pairs whose verdict (A, B or tie) equals the human label; macro-F1 averages the "
        "classes that occur; kappa is Cohen's. Pairs without a label or a verdict are left out, and every figure says "
        "on how many it rests. Intervals are 95 %: Wilson's for accuracy, percentile bootstrap over pairs for the "
        "others (5,000 resamples, seed 0, with pseudo-pairs drawn into each), over questions where these repeat, with "
        "Student's quantile. Differences are of the same pairs: that of accuracies has Wald's interval, or Tango's "
        "where fewer than 10 pairs are right by one network only; the others, and all of them over questions, a paired "
        "bootstrap. p is McNemar's, exact or over questions, adjusted for all rows of a set by Holm. Everything is "
        "computed over pairs: calls and neurons are repeated looks at the same pair and never add to n."
    )
    if quorum := max((row.quorum or 0 for of_set in results.sets for row in of_set.rows), default=0):
        text += (
            f" A verdict needs valid answers of {plural(quorum, 'neuron')}, or of all that it rests on where these are "
            "fewer; pairs without count as missing."
        )
    saving = results.sets[0].saving
    if kind == "saving" and saving is not None:
        text += (
            f" The target is an agreement of {percent(saving.target)} ({TARGETS[saving.target_from]}). "
            "Reviewing a random share r and correcting it gives (1 - r) x + r for an accuracy of x, so that "
            "r = (h - x) / (1 - x) reaches h. Least certain first orders pairs by the entropy of their calls' verdicts."
        )
    return text


def _differences(results: ExperimentFigures, kind: str) -> Iterator[Line]:
    record = results.sets[0].record
    models = ", ".join(dict.fromkeys(model.asked for model in record.models))
    yield ("The paper's neurons are gpt-3.5-turbo-0301; here: ", Given(models or "no call was made yet"), ".")
    yield (
        "Perspectives and evaluations were asked for as structured replies where the endpoint has them, not by marks "
        "in the text; their order is kept.",
    )
    if kind == "clouds":
        return
    limits = {use.max_tokens for use in record.parameters}
    if limits and limits != {512}:
        yield ("The original limits an answer to 512 tokens, which cuts evidence; the limit here is named above.",)
    yield (
        "A neuron of layer 2 reads the whole of layer 1, as the paper says; the released script reads neighbours only. "
        "The script stores 0 and 0 where an answer cannot be read, and does not vote.",
    )
    yield ("How the two orders of a neuron join into one vote is left open by the paper: here its scores are summed.",)
    if kind in ("sweep", "budget"):
        yield (
            "The number of perspectives asked for is the same for all widths: the model was not asked anew for each.",
        )
    if _has_fair_eval(results):
        yield ("FairEval is asked with this program's prompts and at the temperature of the network.",)


def _has_fair_eval(results: ExperimentFigures) -> bool:
    return any(row.row.startswith("faireval") for row in results.sets[0].rows)


_PUBLISHED = {
    "main-table": "Gains of WideDeep over FairEval of 3.2, 4.4 and 3.0 points of accuracy and of 3.7, 8.4 and 6.3 "
    "points of kappa on FairEval (80 pairs), PandaLM (999) and LLMEval² (2,553). Of the pairs of LLMEval² 482 are "
    "ties, and a judge that always gives the most common label reaches 41.1 %. The cells of its tables are not "
    "repeated here.",
    "width-depth": "Two layers are best, more lose; the paper explains that by neurons becoming alike.",
    "roles": "Without roles accuracy falls by 1.33 points at two layers and by 1.67 points at unlimited width, "
    "macro-F1 by 1.95 and 5.80 points (on 300 pairs, 4 and 5 pairs of accuracy).",
    "neuron-budget": "FairEval is best at five neurons, WideDeep keeps rising.",
    "annotation-saving": "People agree with each other at 80 %; with WideDeep at 74 % on the Chinese set 23 % of the "
    "pairs must still be reviewed, with FairEval 37.5 %, with a single GPT-4 39.3 %.",
}
