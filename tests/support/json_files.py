"""JSON and JSON Lines in files of a test."""

import json


def write_json(path, value):
    """The path, where the value now is."""
    path.write_text(json.dumps(value), "utf-8")
    return path


def write_lines(path, *rows):
    """The path, where each row now is a line."""
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return path


def read_json(path):
    return json.loads(path.read_text("utf-8"))


def read_lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
