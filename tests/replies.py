"""Models that are plain functions of the request: what it asks, read back from its text."""

import json
import re


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


def answering(verdict=None, groups=None, document=None, score=3):
    """A model: ``verdict(one, other)`` of two shown tools gives a verdict, or (verdict,
    confidence); ``groups(tokens, tools)`` lists of tokens; ``document(tools)`` fields.
    """

    def reply(request):
        tools, questions = asked(request)
        rows = []
        for question, tokens in questions.items():
            row = {"question": question, "reason": "So."}
            if request.name == "verdicts":
                said = verdict(tools[tokens[0]], tools[tokens[-1]])
                said = said if isinstance(said, tuple) else (said, 0.9)
                row |= {"verdict": said[0], "confidence": said[1]}
            elif request.name == "groups":
                own = {token: tools[f"{question} {token}"] for token in tokens}
                row |= {"groups": groups(tokens, own) if groups else [tokens]}
            elif request.name == "documents":
                own = {name: tool for name, tool in tools.items() if name.startswith(question)}
                del row["reason"]
                row |= {"name": "tool", "description": "Does it.", "parameters": []}
                row |= document(own) if document else {}
            else:
                row |= {"score": score, "lacking": []}
            rows.append(row)
        return {"answers": rows}

    return reply
