"""A task with answers anybody can check: sums of two numbers, (a, b) and (b, a) being one question."""

import json

from toolscope_core.model.protocols import ChatRequest

SCHEMA = {"type": "object", "properties": {"sums": {"type": "object"}}, "required": ["sums"]}


class Sums:
    """Asks for the sum of two numbers; (a, b) and (b, a) are one question."""

    name, version = "sum", "1"

    def __init__(self, batch=1):
        self.batch = batch

    def size(self, item):
        return 1

    def subjects(self, item):
        return tuple(sorted(str(number) for number in item))

    def request(self, items):
        told = {key: sorted(item) for key, item in sorted(items.items())}
        return ChatRequest("Add.", json.dumps(told), "sums", SCHEMA, most_tokens=100)

    def read(self, items, value):
        sums = value.get("sums", {})
        found = {key: sums[key] for key in items if key in sums}
        return {
            key: {"sum": answer} if isinstance(answer, int) else f"{answer} is no number"
            for key, answer in found.items()
        }


def questions_in(request):
    return json.loads(request.user.split("\n\n")[0])


def add(request):
    return {"sums": {key: sum(item) for key, item in questions_in(request).items()}}


def answer(body):
    """What ``add`` says, for a request as a server sees it."""
    return add(ChatRequest("", body["messages"][-1]["content"], "", {}))


def values(answered):
    """The sums, None for an answer without one."""
    answers = [answered.answers[key] for key in answered.keys if key in answered.answers]
    return [one.value and one.value["sum"] for one in answers]
