"""Models that are plain functions of the request: what it asks, read back from its text."""

import json
import re

from toolscope_core.model.protocols import ChatRequest

PHRASINGS = ["Translate the text"]
QUESTIONS = ("Do it for me", "Could you do it?", "I need it done by noon")
RELATIONS = {"merge": "duplicate", "family": "family", "keep": "related"}


def asked(request):
    """The tools by token, as they are shown, and the tokens of each question."""
    lines = request.user.split("\n")
    tools = {
        " ".join(line.split(" ")[2:-1]): json.loads(lines[at + 1].removesuffix(" [cut]"))
        for at, line in enumerate(lines)
        if line.startswith("--- begin ")
    }
    told = request.user.split("\nQuestions:\n")[1].split("\n\n")[0].split("\n")
    return tools, {line[:12]: re.findall(r"t\d+", line[12:]) for line in told}


def answering(verdict=None, groups=None, document=None, score=3, variant=None):
    """A model: ``verdict(one, other)`` of two shown tools gives a verdict or a relation, or that
    with a confidence and the index of the one that serves the other (else *both* of a merge);
    ``groups(tokens, tools)`` lists of tokens; ``document(tools)`` fields; ``variant(tool)`` too.
    """

    def reply(request):
        tools, questions = asked(request)
        rows = []
        for question, tokens in questions.items():
            row = {"question": question, "reason": "So."}
            if request.name == "verdicts":
                judgement = verdict(tools[tokens[0]], tools[tokens[-1]])
                row |= judged(*(judgement if isinstance(judgement, tuple) else (judgement,)))
            elif request.name in ("groups", "families"):
                own = {token: tools[f"{question} {token}"] for token in tokens}
                row |= {"groups": groups(tokens, own) if groups else [tokens]}
            elif request.name == "documents":
                own = {name: tool for name, tool in tools.items() if name.startswith(question)}
                del row["reason"]
                row |= {"name": "tool", "description": "Does it.", "parameters": []}
                row |= document(own) if document else {}
            elif request.name == "variants":
                del row["reason"]
                row |= {"expanded": "Does what it says.", "questions": list(QUESTIONS)}
                row |= variant(tools[tokens[0]]) if variant else {}
            else:
                row |= {"score": score, "lacking": []}
            rows.append(row)
        return {"answers": rows}

    return reply


def planning(calls):
    """A model that plans: ``calls(job, tools)`` gives the calls of a job, ``tools`` being texts by
    number; it knows one other wording and needs the first tool of a plan.
    """

    def reply(request):
        if request.name == "calls":
            (job,) = re.findall(r"--- begin job 1 .*\n(.*)", request.user)
            texts = re.findall(r"--- begin tool \d+\.(\d+) .*\n(.*)", request.user)
            own = {"calls": calls(job, {int(number): text for number, text in texts})}
        else:
            own = {"phrasings": PHRASINGS} if request.name == "phrasings" else {"needed": [1]}
        questions = re.findall(r"^(\w{12}): (?:job|request)", request.user, re.MULTILINE)
        return {"answers": [{"question": one, **own} for one in questions]}

    return reply


def writing(draft=None, polish=None):
    """A model that writes queries: ``draft(tools, due)`` gives the fields of an answer, ``tools``
    being those shown by number and ``due`` a number; ``polish(text)`` the better wording.
    """

    def reply(request):
        lines = request.user.split("\nQuestions:\n")[1].split("\n\n")[0].split("\n")
        blocks = dict(re.findall(r"--- begin (.+) \w{16}\n(.*)", request.user))
        rows = []
        for line in lines:
            question = line[:12]
            if request.name == "drafts":
                due = int(line.rpartition(".")[2])
                tools = {
                    int(name.rpartition(".")[2]): json.loads(text)
                    for name, text in blocks.items()
                    if name.startswith("tool ")
                }
                own = (draft or two_wishes)(tools, due)
            else:
                own = {"request": (polish or polite)(json.loads(blocks[line[14:]]))}
            rows.append({"question": question, **own})
        return {"answers": rows}

    return reply


def two_wishes(tools, due):
    """The tool that is due and the next, and a request in words of theirs that is not their name."""
    places = sorted({due, due % len(tools) + 1})
    about = [tools[at].get("description") or "something else" for at in places]
    return {"tools": places, "request": f"I need this: {' Also: '.join(about)}"[:300]}


def polite(text):
    return f"Could you help me? {text}"


def judged(verdict, confidence=0.9, serves=None):
    """The fields of an answer on a pair."""
    relation = RELATIONS.get(verdict, verdict)
    served = "both" if relation == "duplicate" else "none"
    if serves is not None:
        served = serves if isinstance(serves, str) else ("first", "second")[serves]
    return {"relation": relation, "serves": served, "confidence": confidence}


def served(reply):
    """``reply`` as the ``answer`` of a ``ModelServer``; it also passes a test of the connection."""

    def answer(body):
        name = body["response_format"]["json_schema"]["name"]
        if name == "connection":
            return {"ready": True}
        return reply(ChatRequest("", body["messages"][-1]["content"], name, {}))

    return answer


def same_verb(one, other):
    """Tools are one if their names begin alike."""
    verbs = [re.split("[_ ]", tool["name"])[0] for tool in (one, other)]
    return "merge" if verbs[0] == verbs[1] else "keep"


def questions_of(received):
    """What a server was asked about, each question as often as it was."""
    return [name for got in received for name in asked(_request(got))[1]]


def _request(got):
    return ChatRequest("", got.user, "", {})
