"""Asks how two tools are related and which of them can serve for the other (ToolScope, M_C:
appendix G.1).

The wording is ours. Each pair is asked about separately, so the answers about three tools need not
agree; audits and correction resolve that.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import Field

from toolscope_core.llm.tasks import fence
from toolscope_core.llm.tasks import prompt_task as prompts
from toolscope_core.model.catalog import Server
from toolscope_core.model.pair import PairOutcome, Relation, Serves
from toolscope_core.model.tool import JsonObject, Tool

RelationAnswer = Literal[Relation, "unsure"]
"""The relations that the model may answer."""
OUTCOME_OF_ANSWER: Mapping[RelationAnswer, PairOutcome] = {
    "duplicate": "merge",
    "subsumes": "merge",
    "family": "family",
    "related": "keep",
    "different": "keep",
    "unsure": "unsure",
}
"""The verdict for each answer."""
SERVES = ("first", "second", "both", "none")
"""The possible answers on which tool serves. The tools of a question are ordered by fingerprint."""

FAMILY = """\
A family are fixed cases of a third tool, whether that one exists or not: one operation, and one \
thing that is fixed in the name, the description or the server of each, another in each, and that \
none of them takes as an argument: a provider, product, site, language, month, unit or format, or \
which kind of things is looked up (the owner of a domain, of an IP address; trending repositories, \
trending developers; the sites, the results of a study). The test: one tool with one more argument \
could stand for all; what else goes in and the form of what comes out are alike, though a case may \
have filters and options of its own.
Siblings are no family: opposite or merely neighbouring operations (search and delete, create and \
update, one item by its id and a list of all), objects that need other inputs or give results of \
another form (create a task, create a user), different quantities that are computed.
"""

SAME_JOB = f"""\
Two tools do the same job when a user who asks for one is fully served by the other: the same \
thing is done to the same kind of object and gives the same kind of result, in whatever words.
- A tool that returns all that the other returns, and more, does the same job: it serves the \
other, and the other does not serve it. So does a record that holds the one small fact that the \
other returns, a batch of which the other does one, and a general tool that, with its arguments \
set to constants or some left out, does just what the other does.
- Other required inputs for one thing (a city or its coordinates; a file, a URL or its encoded \
content; a period or its two dates) leave it the same job, but neither serves the other unless it \
takes either input.
- Public facts that are the same whoever tells them (a price, a rate, the weather, what a company \
reports) are the same job from two providers. What a provider has or ranks in its own way (search \
results, ratings, posts, the data of an account) makes the two a family.
- Tools of two servers that work on what each server keeps to itself (an open page, a session, a \
loaded document, a memory) do the same job, but neither serves the other: only an argument that \
names the server could reach both. What lies outside of both servers (the web, a disk, an account \
with a provider) is not kept in that sense.
They do not do the same job where something differs that no argument can say: they are a family, \
or siblings, or have nothing in common. Likeness of names, of topic or of the product they are \
part of is not enough.
{FAMILY}\
"server" is the owner of a tool, where that is known; its title and what it says of itself may \
stand before the tools. It tells whose users, files or orders are meant: the same operation on two \
products is a family. Two servers for one product, or for what is the same everywhere, such as \
arithmetic, may well do the same job. A tool without a description is known by \
its name and its parameters.
"""

_SYSTEM = f"""\
You curate the toolset of an agent and compare its tools two by two.

{SAME_JOB}
{fence.RULES}
Judge each pair by itself, whatever you said of others. For each question say in one sentence what \
decides it, then:
- relation: "duplicate": the same job in other words; "subsumes": the same job, where one does \
more or is general and its arguments can say all that the other has fixed; "family": as above; \
"related": the same topic or objects, another intent; "different": nothing in common; "unsure": \
what is shown does not tell.
- serves: which of the two could take every call meant for the other today, its schema as it is \
and nothing lost: "first", "second", "both" or "none". A constant may be set: what is the same for \
all of those calls is no missing input. A tool could not if it requires an input that those calls \
do not have, if it has no place for an argument that decides what is done or what \
is found (a filter, a date, a language, a trial run; not the number or layout of results), if it \
returns less, or if it works on what another server keeps. If the relation is neither "duplicate" \
nor "subsumes", it is "none".
- confidence: the probability that the relation is right.
"""


@dataclass(frozen=True, slots=True)
class ToolPair:
    """Two tools, in any order; ``servers`` are those of their servers that have
    texts of their own.
    """

    left: Tool
    right: Tool
    servers: tuple[Server, ...] = ()

    @property
    def ordered(self) -> tuple[Tool, Tool]:
        """The first and the second tool of the question."""
        turned = self.left.fingerprint > self.right.fingerprint
        return (self.right, self.left) if turned else (self.left, self.right)


class RelationForm(prompts.AnswerForm[ToolPair]):
    """An answer; *first* and *second* are the tools in ``ToolPair.ordered``."""

    reason: prompts.Reason
    relation: RelationAnswer
    serves: Literal["first", "second", "both", "none"]
    confidence: prompts.Confidence

    def ledger_answer(self, item: ToolPair) -> JsonObject:
        """See ``AnswerForm``. If the relation does not allow either tool to serve, the answer is
        *none*.
        """
        either_way = self.relation == "subsumes" and self.serves == "both"
        possible = self.relation in ("duplicate", "subsumes") and not either_way
        return {**self.model_dump(), "serves": self.serves if possible else "none"}


def _hashes(item: ToolPair) -> list[str]:
    """The fingerprints, because the prompt names the servers, and the servers' own texts."""
    return [*(tool.fingerprint for tool in item.ordered), *map(fence.server_subject, item.servers)]


def _show(items: Mapping[str, ToolPair]) -> prompts.ShownItems:
    """Every tool once, however many questions it appears in."""
    tools = {tool.fingerprint: tool for pair in items.values() for tool in pair.ordered}
    tokens = {one: f"t{number}" for number, one in enumerate(sorted(tools), 1)}
    texts = fence.server_texts(server for pair in items.values() for server in pair.servers) | {
        name: fence.prompt_text(tools[one], (tools[one].server,)) for one, name in tokens.items()
    }
    questions = {}
    for key, item in items.items():
        first, second = (tokens[tool.fingerprint] for tool in item.ordered)
        questions[key] = f"first {first}, second {second}"
    return prompts.ShownItems(texts, questions)


JUDGE_TASK: prompts.PromptTask[ToolPair] = prompts.PromptTask(
    name="judge",
    batch=16,
    system=_SYSTEM,
    reply_name="verdicts",
    form=RelationForm,
    answer_tokens=120,
    hashes=_hashes,
    show=_show,
)
"""The task. An answer is ``{"relation", "serves", "confidence", "reason"}``.

``serves`` is one of ``SERVES``, so it depends neither on the order of the pair nor on the tokens of
a call.
"""


def serves_of(item: ToolPair, answer: JsonObject) -> Serves:
    """Which tool of the pair, *left* or *right*, serves the other according to a stored answer."""
    side: str = answer["serves"]
    if side not in SERVES[:2]:
        return "both" if side == "both" else "none"
    return "left" if (side == "first") == (item.ordered[0] is item.left) else "right"


_LONGEST, LONGEST_CLAUSE = 1_200, 100

SIBLINGS_SYSTEM = f"""\
An agent has both of two tools and takes one for the other, since they sound alike. They do \
different jobs and stay two tools. You write for each a description by which it is not mistaken.

{fence.RULES}
Begin each description with what only this tool does, or on what, from which input, or with what \
result; then say the rest of what its own text says, as briefly. Take everything from the tool's \
own name, text, parameters and results: no ability, limit, address or tool that is not there. Do \
not say what the other tool does and do not name it: what a tool is not helps no search. Keep what \
a caller must know, such as formats, limits and side effects. If nothing in the texts tells the \
two apart, give both descriptions back as they are.
"""


def in_hash_order(pair: ToolPair) -> tuple[Tool, Tool]:
    """The two tools in an order that does not depend on the order of the pair."""
    one, other = sorted((pair.left, pair.right), key=lambda tool: (tool.content_hash, tool.id))
    return one, other


def _show_siblings(item: ToolPair, number: int) -> prompts.ShownItem:
    pair = enumerate(in_hash_order(item), 1)
    texts = {f"tool {number}.{at}": fence.prompt_text(tool) for at, tool in pair}
    return prompts.ShownItem(texts, f"first tool {number}.1, second tool {number}.2")


class DescriptionsForm(prompts.AnswerForm[ToolPair]):
    """A new description of each tool, and a clause for each."""

    first: Annotated[str, prompts.up_to(_LONGEST, least=1), prompts.PASSAGE]
    second: Annotated[str, prompts.up_to(_LONGEST, least=1), prompts.PASSAGE]
    first_clause: Annotated[str, prompts.up_to(LONGEST_CLAUSE), prompts.LINE]
    second_clause: Annotated[str, prompts.up_to(LONGEST_CLAUSE), prompts.LINE]


SIBLINGS_TASK: prompts.PromptTask[ToolPair] = prompts.PromptTask(
    name="siblings",
    batch=4,
    system=SIBLINGS_SYSTEM,
    reply_name="descriptions",
    form=DescriptionsForm,
    answer_tokens=400,
    hashes=lambda pair: [pair.left.content_hash, pair.right.content_hash],
    show=prompts.numbered(_show_siblings),
)
"""An answer is ``{"first", "second", "first_clause", "second_clause"}``.

The descriptions are for the two tools in the order of ``in_hash_order``; each clause could be put
in front of the tool's own description.
"""


_TOKENS_A_TEXT = 12
_AUDITED = 24
"""The number of tools in all the sets of one call."""

_PARTITION = """\
Compare all of them with each other and not only neighbours in a chain. Every token of the \
question stands in exactly one group; a tool that belongs to no other is a group of its own. If \
all belong together, there is one group.
"""

AUDIT_SYSTEM = f"""\
You check sets of tools that are about to become one tool each.

{SAME_JOB}
{fence.RULES}
Each question is about a set of its own: tools of two questions are never compared. Sort the tools \
that it names into groups. A group may hold only tools that all do the \
same job: one of them could serve the callers of all the others, as it is or once the arguments of \
all are united. The tools of a family, each with another value fixed, go into different groups, \
and so do siblings that do neighbouring things. {_PARTITION}"""

FAMILY_SYSTEM = f"""\
You check families of tools: each is about to become one tool with an argument that selects a case.

{FAMILY}
{fence.RULES}
Each question is about a set of its own: tools of two questions are never compared. Sort the tools \
that it names into groups. A group may hold only fixed cases of one \
third tool, which differ in one and the same thing: those of two sites are no cases beside those \
of two languages. Siblings go into different groups. {_PARTITION}"""


@dataclass(frozen=True, slots=True)
class ClusterTools:
    """The tools of a cluster, in any order; ``servers`` is as in ``ToolPair``."""

    tools: tuple[Tool, ...]
    servers: tuple[Server, ...] = ()

    @property
    def tokens(self) -> dict[str, str]:
        """The token for each content hash, in order of hash.

        Tools with equal content share a token, so that no answer separates exact copies. The prompt
        names all servers of these tools.
        """
        distinct = sorted({tool.content_hash for tool in self.tools})
        return {one: f"t{number}" for number, one in enumerate(distinct, 1)}

    @property
    def blocks(self) -> dict[str, fence.PromptText]:
        """The text in the prompt for each token."""
        alike: dict[str, list[Tool]] = {}
        for tool in self.tools:
            alike.setdefault(tool.content_hash, []).append(tool)
        return {
            token: fence.prompt_text(alike[one][0], [tool.server for tool in alike[one]])
            for one, token in self.tokens.items()
        }


class GroupsForm(prompts.AnswerForm[ClusterTools]):
    """An answer. Its groups are stored in the order of their first tokens."""

    reason: prompts.Reason
    groups: list[Annotated[list[str], Field(min_length=1)]]

    def ledger_answer(self, item: ClusterTools) -> JsonObject:
        counts = Counter(token for group in self.groups for token in group)
        tokens = set(item.tokens.values())
        for wrong, why in (
            (set(counts) - tokens, "not asked about"),
            (tokens - set(counts), "in no group"),
            ({token for token, count in counts.items() if count > 1}, "in more than one group"),
        ):
            if wrong:
                cited = ", ".join(repr(one)[:40] for one in sorted(wrong)[:5])
                raise prompts.AnswerError(f"{cited}: {why}")
        order = {token: number for number, token in enumerate(item.tokens.values())}
        groups = [sorted(group, key=order.__getitem__) for group in self.groups]
        ordered = sorted(groups, key=lambda group: order[group[0]])
        return {"groups": ordered, "reason": self.reason}


def _hashes_audit(item: ClusterTools) -> set[str]:
    """The fingerprints, because the prompt names servers, and the servers' own texts."""
    return {*(tool.fingerprint for tool in item.tools), *map(fence.server_subject, item.servers)}


def _show_audit(items: Mapping[str, ClusterTools]) -> prompts.ShownItems:
    blocks = {key: item.blocks for key, item in items.items()}
    texts = fence.server_texts(server for item in items.values() for server in item.servers) | {
        f"{prompts.question_id(key)} {token}": text
        for key, own in blocks.items()
        for token, text in own.items()
    }
    tokens = {token for own in blocks.values() for token in own}
    token = {"type": "string", "enum": sorted(tokens, key=lambda one: (len(one), one))}
    groups = {"type": "array", "items": {"type": "array", "items": token}}
    questions = {key: ", ".join(own) for key, own in blocks.items()}
    return prompts.ShownItems(texts, questions, {"groups": groups}, _TOKENS_A_TEXT * len(texts))


AUDIT_TASK: prompts.PromptTask[ClusterTools] = prompts.PromptTask(
    name="audit",
    batch=_AUDITED,
    system=AUDIT_SYSTEM,
    reply_name="groups",
    form=GroupsForm,
    answer_tokens=150,
    hashes=_hashes_audit,
    show=_show_audit,
    call_tokens=100,
    size=lambda item: len(item.tokens),
)
"""Groups of tools that do the same job.

An answer is ``{"groups": [[token…]…], "reason"}``, where the groups are a partition of the tokens.
"""
FAMILY_AUDIT_TASK = replace(
    AUDIT_TASK, name="family audit", system=FAMILY_SYSTEM, reply_name="families"
)
"""The audit task for the cases of a family."""


def audit_groups(item: ClusterTools, answer: JsonObject) -> tuple[tuple[str, ...], ...]:
    """The tool ids in each group of a stored answer, sorted."""
    hash_of = {token: one for one, token in item.tokens.items()}
    ids: dict[str, list[str]] = {}
    for tool in item.tools:
        ids.setdefault(tool.content_hash, []).append(tool.id)
    groups = ([i for token in group for i in ids[hash_of[token]]] for group in answer["groups"])
    return tuple(sorted(tuple(sorted(group)) for group in groups))
