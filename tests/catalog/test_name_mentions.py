"""Names of tools in requests, in whatever spelling."""

import pytest

from toolscope_core.catalog.naming import cited_identifiers, identifier_keys, mentioned_names


@pytest.mark.parametrize(
    "text",
    [
        "Use send_mail for this",
        "Use Send-Mail for this",
        "Please SEND MAIL to Ann",
        "call mail.send-mail now",
        "please send\u200b_mail",
        "please \uff53end_mail",
        "please s\u0435nd_mail",  # a Cyrillic letter
        "sendmail to Ann",
    ],
)
def test_a_name_of_several_words_is_found_in_any_spelling(text):
    assert mentioned_names(text, ["get_file", "send_mail"]) == ("send_mail",)


@pytest.mark.parametrize(
    "text", ["Send a mail to Ann", "mail send", "sendmails", "resend mail", "send to mail", ""]
)
def test_what_only_speaks_of_the_same_is_no_name(text):
    assert mentioned_names(text, ["send_mail", "", "__"]) == ()


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("Translate this letter", False),
        ("Use `translate` on this letter", True),
        ("With the translate tool, do this letter", True),
        ("Ask the function translate", True),
        ("the tool 'Translate' does it", True),
        ("a tool to translate with", False),
    ],
)
def test_a_plain_word_counts_only_where_a_name_stands(text, is_named):
    assert bool(mentioned_names(text, ["translate"])) is is_named


def test_of_other_tools_only_identifiers_count():
    keys = identifier_keys(["send_mail", "alpha/get_file", "translate", "listFiles"])
    assert set(keys.values()) == {"send_mail", "alpha/get_file", "listFiles"}
    text = "Send mail, then `sendMail`, send-mail, alpha/get_file, list files and LIST_FILES."
    assert cited_identifiers(text, keys) == ("send_mail", "alpha/get_file", "listFiles")
    assert cited_identifiers("send mail and translate", keys) == ()
