"""Secrets that a tool asks for in its parameters.

A login tool needs a password, so the question is whether the secret has to do with the job:
*info* where the tool mentions access at all or most tools of its server ask alike, else *warn*.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from toolscope_core.catalog.scan.lookalikes import plain_text
from toolscope_core.catalog.scan.passages import Passage
from toolscope_core.catalog.scan.suspicious_wording import WORD
from toolscope_core.model.catalog import Finding
from toolscope_core.model.tool import Parameter, Tool

BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")
ACCOUNT = re.compile(
    r"\b(?:pass ?(?:word|phrase|code|wd)|secrets?|(?:api|access|auth|secret|service) ?keys?|"
    r"(?:access|auth|bearer|session|refresh|api|jwt|oauth|id|github|user|security) ?tokens?|jwt|"
    r"credentials?|cookies?|cvv|cvc|ssn|social security(?: number)?|credit card number)\b"
)
MACHINE = re.compile(
    r"\b(?:(?:private|ssh|signing|encryption|master) ?keys?|mnemonic|"
    r"(?:seed|recovery) (?:phrase|words)|id rsa|dot ?env|env(?:ironment)? file|system prompt|"
    r"(?:chat|conversation|message) history|keychain|key ?store|shell history)\b"
)
OF_ACCOUNT = re.compile(
    r"log ?(?:in|on|out)\b|sign(?:s|ed|ing)? ?(?:in|up|on)?\b|auth|account|password|passphrase|"
    r"token|credential|secret|\bkeys?\b|crypt|wallet|connect|session|regist|access|security|"
    r"secure|permission|\buser|\badmin|server|database|\bssh\b|\bapi\b|deploy|identi|verif|"
    r"\bcookies?\b|browser|\bpay|purchase|\border|transaction|transfer|\bbank|\bcard|unlock|\block|"
    r"wi-?fi|network|vpn|remote|device|https?\b|request|profile|subscri|social|cloud|lobby",
    re.IGNORECASE,
)
OF_MACHINE = re.compile(
    r"\bkeys?\b|\bssh\b|sign(?:s|ed|ing|ature)?\b|crypt|wallet|certificat|connect|server|\bgit|"
    r"deploy|\bauth|login|credential|secret|conversation|chat|prompt|history|memory|environment",
    re.IGNORECASE,
)
SECRET_PHRASE = re.compile(
    rf"\b(?:your|the|user['’]?s?|their|current|account|admin|root|raw|plain)\W+{WORD}{{0,2}}"
    r"(?:passwords?|passphrase|api\W?keys?|private\W+keys?|ssh\W+keys?|secret\W+keys?|access\W+tokens?|"
    r"auth\w*\W+tokens?|session\W+(?:tokens?|cookies?)|credentials|(?:seed|recovery)\W+phrase|"
    r"credit\W+card\W+number|social\W+security\W+number)\b",
    re.IGNORECASE,
)
ENV_FILE = re.compile(r"\benv(?:ironment)?\b")
PLACE = re.compile(r"\b(?:path|location|name)\W+(?:of|to)\b", re.IGNORECASE)
"""Says where a file lies, which is no secret."""
KINDS = ((MACHINE, OF_MACHINE), (ACCOUNT, OF_ACCOUNT))
SHARED = 3


def find_requested_secrets(tools: Sequence[Tool]) -> Iterator[Finding]:
    """A finding on each parameter that is named or described as a secret."""
    usual = Counter(
        (tool.server, parameter.name) for tool in tools for parameter in tool.parameters
    )
    for tool in tools:
        for parameter in tool.parameters:
            job = _asks(parameter)
            if job is not None:
                habit = bool(tool.server) and usual[tool.server, parameter.name] >= SHARED
                related = habit or bool(job.search(plain_text(_job(tool))))
                yield _finding(tool, parameter, related)


def _asks(parameter: Parameter) -> re.Pattern[str] | None:
    """The words of tools that may ask for this secret; ``None`` if the parameter is no secret."""
    name = " ".join(word for word in BORDER.split(plain_text(parameter.name)) if word).lower()
    if ENV_FILE.search(name) and PLACE.search(parameter.description):
        return None
    phrase = SECRET_PHRASE.search(plain_text(parameter.description))
    text = f"{name} . {phrase.group().lower()}" if phrase else name
    return next((job for secret, job in KINDS if secret.search(text)), None)


def _job(tool: Tool) -> str:
    return f"{' '.join(BORDER.split(tool.name))} {tool.description} {tool.server}"


def _finding(tool: Tool, parameter: Parameter, related: bool) -> Finding:
    passage = Passage(f"schema/properties/{parameter.name}", parameter.description)
    if related:
        message = "The parameter {field} takes a secret; give it only to a server that you trust."
        return passage.finding(tool.id, "info", "asks-secret", message)
    message = (
        "The parameter {field} takes a secret that has nothing to do with what the tool says it "
        "does; leave the parameter or the tool out."
    )
    return passage.finding(tool.id, "warn", "asks-secret", message)
