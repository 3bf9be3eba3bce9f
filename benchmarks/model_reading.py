"""Write the prompts of a run that judges with a model to a folder, and take the answers from there.

 python -m benchmarks.model_reading write FOLDER --catalog PATH [--labels FILE]
 python -m benchmarks.model_reading read FOLDER

``verdicts.md``, ``groups.md`` and ``families.md`` say what is asked and how to answer.
``verdicts-001.md`` and so on are the prompts. They come in rounds, because audits, and the pairs
that a family lacks, are known only from answers. Answers are rows in any ``*.json`` or ``*.jsonl``
file in the folder. ``read`` treats them as a model's answers and writes the prompts that follow.
Once no prompt waits, it prints the table and writes ``proposed.md``.

The labels are those of a group of servers (the judge then never saw them), or a file with rows as
in ``relations/``. Labels with confidence 2 or 3 count. *Right* pairs are one job and on one card.
``data/readings`` has the answers of readers, for each catalog. To use them again, copy them into
the folder.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import measuring
from benchmarks.held_out import judged_unseen
from benchmarks.server_merges import CARDS, LEAST_CONFIDENCE, TRUTHS, card_of, on_cards, truth_of
from benchmarks.train_judge import CATALOGS, SERVERS, load
from toolscope_core.llm.merge_questions import ask_for_verdicts
from toolscope_core.llm.model_requests import ModelRequests
from toolscope_core.llm.request_workers import Terms
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.merging.analysis import Analysis, with_verdicts
from toolscope_core.merging.model_verdicts import ModelVerdicts
from toolscope_core.model.configuration import Patience, PlanConfig, QuestionConfig
from toolscope_core.model.decision import Constraints
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Answer, Call, ChatReply, ChatRequest
from toolscope_core.model.tool import JsonObject

BATCH = 25
"""The number of questions in a prompt, about as many as a reader takes at a time."""
RUN = "run.json"
PROPOSED = "proposed.md"
WAITS = "it waits for its answers"
_HOW = """
# What is asked

{system}
# How to answer

Each prompt `{name}-NNN.md` shows tools and ends with questions. For each question write one line \
of JSON into `{name}-NNN.jsonl` beside it, which follows this schema (`question` is the word of 12 \
letters and digits in front of it; tools are named by their tokens, `t1` and so on):

{schema}
"""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reading is about: a catalog file, its labels (empty if there are none), and the number
    of questions in a prompt.
    """

    catalog: str
    labels: str = ""
    batch: int = BATCH

    @property
    def name(self) -> str:
        path = Path(self.catalog)
        return path.parent.name if path.stem in ("servers", "tools") else path.stem


class FolderModel:
    """A model whose answers are files in a folder. A request without answers becomes a prompt
    there.
    """

    name, origin = "reader", "file://folder"

    def __init__(self, folder: Path) -> None:
        self.parameters: JsonObject = {}
        self.waiting: dict[str, list[str]] = {}
        self._folder = folder
        self._rows = dict(_answer_rows(folder))
        self._prompts = {path.read_text("utf-8"): path for path in folder.glob("*-[0-9]*.md")}

    def ask(self, request: ChatRequest) -> ChatReply:
        """The rows that answer the questions of a request. If one is missing, the reply is not
        final.
        """
        questions = _row_schema(request)["properties"]["question"]["enum"]
        unanswered = [question for question in questions if question not in self._rows]
        if not unanswered:
            return ChatReply({"answers": [self._rows[question] for question in questions]})
        self.waiting[self._prompt(request).name] = unanswered
        return ChatReply(None, reason=WAITS, final=False)

    def _prompt(self, request: ChatRequest) -> Path:
        """The file of a prompt. If it does not exist, it is written, together with the
        instructions.
        """
        text = f"{request.user}\n"
        if text not in self._prompts:
            names = [path.name for path in self._prompts.values()]
            number = 1 + sum(name.startswith(f"{request.name}-") for name in names)
            path = self._folder / f"{request.name}-{number:03}.md"
            path.write_text(text, "utf-8")
            self._prompts[text] = path
            how = _HOW.format(name=request.name, system=request.system, schema=_stated(request))
            (self._folder / f"{request.name}.md").write_text(how.lstrip(), "utf-8")
        return self._prompts[text]


class MemoryAnswers:
    """A ledger in memory."""

    def __init__(self) -> None:
        self.rows: dict[str, Answer] = {}
        self.errors: set[str] = set()

    def answers(self, keys: Sequence[str]) -> Mapping[str, Answer]:
        """See ``protocols.Ledger``."""
        return {key: self.rows[key] for key in keys if key in self.rows}

    def commit(self, call: Call, answers: Sequence[Answer]) -> None:
        """See ``protocols.Ledger``."""
        self.errors |= {call.error} - {""}
        for answer in answers:
            self.rows.setdefault(answer.key, answer)


def main() -> None:
    parser = measuring.parser_of(__doc__)
    parser.add_argument("way", choices=("write", "read"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--catalog", type=Path)
    parser.add_argument("--labels", default="")
    parser.add_argument("--batch", type=int, default=BATCH)
    options = parser.parse_args()
    if options.way == "write":
        if options.catalog is None:
            parser.error("write needs --catalog PATH")
        options.folder.mkdir(parents=True, exist_ok=True)
        reading = Reading(str(options.catalog), options.labels, options.batch)
        (options.folder / RUN).write_text(json.dumps(asdict(reading)), "utf-8")
    print_reading(options.folder)


def print_reading(folder: Path) -> None:
    """Print the open prompts or, if all are answered, the results."""
    reading = Reading(**json.loads((folder / RUN).read_text("utf-8")))
    analysis = _analysed(reading)
    model, ledger = FolderModel(folder), MemoryAnswers()
    ask(analysis, model, ledger, QuestionConfig(batch=reading.batch))
    for reason in sorted(ledger.errors - {WAITS}):
        print(f"unusable: {reason}")
    for name, questions in model.waiting.items():
        print(f"waits: {name}: {len(questions)} answers, {questions[0]} the first")
    if model.waiting:
        return
    model_verdicts = ask(analysis, model, MemoryAnswers(), QuestionConfig())
    report(folder, reading, analysis, model_verdicts)


def ask(
    analysis: Analysis, model: FolderModel, ledger: MemoryAnswers, config: QuestionConfig
) -> ModelVerdicts:
    """The model's verdicts, as far as it has answered. They come from the
    program's own requests.
    """
    patience = Patience(failures=len(analysis.catalog.tools) ** 2)  # all prompts may wait
    terms = Terms("reading", concurrency=1, patience=patience)
    return ask_for_verdicts(analysis, Constraints(), ModelRequests(model, ledger, terms), config)


def report(
    folder: Path, reading: Reading, analysis: Analysis, model_verdicts: ModelVerdicts
) -> None:
    """Print the table for the offline judge and the model, and write the proposals."""
    print(f"{reading.name}: {len(analysis.catalog.tools)} tools, {len(analysis.scores)} candidates")
    for usage in model_verdicts.costs:
        print(f"{usage.task}: {usage.questions} questions, {usage.calls} calls")
    labels = list(_labels(reading))
    for name, judgement in (
        ("offline", analysis),
        ("with the model", with_verdicts(analysis, model_verdicts)),
    ):
        plan = plan_merge(judgement, (), PlanConfig(accept="none"))
        cards = Counter(map(card_of, plan.clusters))
        replaced = sum(len(one.members) - 1 for one in plan.clusters if card_of(one) == "drop_in")
        print(f"\n{name}: {replaced} tools replaced; cards: {dict(sorted(cards.items()))}")
        if labels:
            print_labelled(plan, labels)
    (folder / PROPOSED).write_text("\n".join(_listing(plan)), "utf-8")
    print(f"\n{folder / PROPOSED} lists what is proposed with the model")


def print_labelled(plan: MergePlan, labels: Sequence[JsonObject]) -> None:
    """Print what became of the labelled pairs."""
    counts: Counter[tuple[str, str]] = Counter()
    kept: Counter[bool] = Counter()
    for label, card, cluster in on_cards(plan, labels):
        counts[truth_of(label), card] += 1
        stays = cluster.canonical if cluster and card == "drop_in" else None
        if stays in (label["left"], label["right"]):
            side = "left" if stays == label["left"] else "right"
            kept[label["serves"] in (side, "both")] += 1
    same_job, families = TRUTHS[:2], TRUTHS[2]
    together = sum(counts[truth, card] for truth in TRUTHS for card in CARDS[:2])
    right = sum(counts[truth, card] for truth in same_job for card in CARDS[:2])
    positives = sum(counts[truth, card] for truth in same_job for card in CARDS)
    print(f"  merges: {right} right, {together - right} wrong, {positives - right} missed")
    proposed = sum(counts[truth, "family"] for truth in TRUTHS)
    right = counts[families, "family"]
    positives = sum(counts[families, card] for card in CARDS)
    print(f"  families: {right} right, {proposed - right} wrong, {positives - right} missed")
    print(f"  kept tools of drop-ins: {kept[True]} right, {kept[False]} wrong")


def _listing(plan: MergePlan) -> Iterator[str]:
    tools = plan.catalog.by_id
    for card in (*CARDS[:3], "looks_alike"):
        for cluster in plan.clusters:
            if card_of(cluster) == card:
                yield f"\n## {card}: {cluster.canonical}\n"
                yield from (f"- {measuring.tool_line(tools[member])}" for member in cluster.members)
                yield from (f"  - against: {reason}" for reason in cluster.reasons)


def _analysed(reading: Reading) -> Analysis:
    labelled = [load(name) for name in CATALOGS] if reading.name in SERVERS else []
    return judged_unseen(
        measuring.analysis_of(measuring.read_file(Path(reading.catalog))), reading.name, labelled
    )


def _labels(reading: Reading) -> Iterator[JsonObject]:
    own = measuring.data_folder("relations") / f"{reading.name}.jsonl"
    group = measuring.data_folder("servers") / "relations.jsonl"
    path = Path(reading.labels) if reading.labels else group if reading.name in SERVERS else own
    for row in measuring.json_rows(path) if path.exists() else ():
        own_row = row.get("catalog", reading.name) == reading.name
        if own_row and row["confidence"] >= LEAST_CONFIDENCE:
            yield row


def _answer_rows(folder: Path) -> Iterator[tuple[str, JsonObject]]:
    """All answers in a folder, with their questions. A file has one per line, a list, or a list
    under ``answers``.

    Rows without a question are notes that somebody made.
    """
    for path in sorted((*folder.glob("*.json"), *folder.glob("*.jsonl"))):
        if path.name == RUN:
            continue
        try:
            rows = [row for row in _rows_of(path) if "question" in row]
            yield from ((str(row["question"]), row) for row in rows)
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigError(f"{path.name} cannot be read: {error}; mend its JSON") from None


def _rows_of(path: Path) -> Iterable[JsonObject]:
    if path.suffix == ".jsonl":
        lines = path.read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines if line.strip()]
    value = json.loads(path.read_text("utf-8"))
    rows: list[JsonObject] = value["answers"] if isinstance(value, dict) else value
    return rows


def _row_schema(request: ChatRequest) -> JsonObject:
    row: JsonObject = (request.schema or {})["properties"]["answers"]["items"]
    return row


def _stated(request: ChatRequest) -> str:
    """The schema of one answer, without the questions and tools of this request."""
    row: Any = json.loads(json.dumps(_row_schema(request)))
    del row["properties"]["question"]["enum"]
    if "groups" in row["properties"]:
        del row["properties"]["groups"]["items"]["items"]["enum"]
    return json.dumps(row)


if __name__ == "__main__":
    main()
