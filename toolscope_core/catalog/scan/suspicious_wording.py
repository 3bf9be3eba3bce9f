"""Finds wording that addresses the model instead of describing the tool.

The patterns are written for sentences that hijack an agent. They are narrow, because authors of
good tools also write *must* and *always* (a test counts their hits on clean catalogs). They cover
only English. A finding is a reason to look and does not stop an export, except for a secret that is
kept from the user. Other hostile text is kept out of an export by the block on hidden and shadowing
text, and by a person's decision.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from toolscope_core.catalog.scan.encoded import COMMAND, decoded_texts
from toolscope_core.catalog.scan.hidden import Passage, visible
from toolscope_core.catalog.scan.lookalikes import plain_text
from toolscope_core.catalog.scan.orders import EXPLAINS, WORD, TextOrder, find_orders, is_explained
from toolscope_core.model.catalog import Finding, Severity
from toolscope_core.model.tool import Parameter, Tool

_LONGEST_TEXT = 4000
_LONGEST_NAME = 128

FEW = WORD + r"{0,3}"
_NOT = r"(?:do\W+not|don['’]?t|never|must\W+not|should\W+not|without|avoid)"
_GIVES = (
    r"\b(?:include|provide|pass|send|paste|attach|insert|put|append|fill|supply|give|write|forward|"
    r"upload|dump|print|copy|collect|contain\w*|contents?\W+of|leak|exfiltrate|reveal)\W+"
    + WORD
    + r"{0,6}?"
)
_TOOLS = r"(?:tools?|functions?|servers?|actions?|steps?|requests?|tasks?|operations?)"

_MARKS = (
    r"<\|[a-z_]{2,20}\|>|\[/?inst\]|<</?sys>>|\[\s*system\b[^\]]{0,20}\]|#{2,}\s*end\s+of\b",
    r"(?:\A|[\n.!?*#])\s{0,4}(?:system|developer|assistant)\s*(?:prompt|message|override|note)?\s*:"
    r"\s*(?:you|ignore|always|never|do\b|from\b|the\b)",
)
"""Marks between the messages of a conversation, which no description contains."""
_LISTS_TAGS = re.compile(
    r"\b(?:allow|support|permit|accept|subset|saniti[sz]|remov|strip|escap|tags?\b|elements?\b|such\W+as"
    r"|e\.g\.)",
    re.IGNORECASE,
)
_RUNS = re.compile(r"//|\(|\bon[a-z]{3,20}\s*=", re.IGNORECASE)
"""Matches parts that a tag does not have if it is only mentioned: an address, a call, a handler."""


def _is_listed(plain: str, match: re.Match[str]) -> bool:
    """Whether markup is only mentioned, in a list of what is allowed or removed."""
    tag = plain[match.start() : max(match.end(), plain.find(">", match.end()))]
    return not _RUNS.search(tag) and is_explained(plain, match.start(), match.end(), _LISTS_TAGS)


def _is_spoken_of(plain: str, match: re.Match[str]) -> bool:
    cues = (EXPLAINS, _LISTS_TAGS) if match.group().startswith("<") else (EXPLAINS,)
    return any(is_explained(plain, match.start(), match.end(), cue) for cue in cues)


@dataclass(frozen=True, slots=True)
class WordingRule:
    """A kind of wording: its code, the sentence about it, and the pattern for plain text.

    Every match contains at least one of the texts in ``needs``; looking for these first saves most
    searches.
    """

    code: str
    sentence: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]

    def search(self, text: str, lower: str) -> re.Match[str] | None:
        for word in self.needs:  # a loop, since `any` over a generator takes twice the time
            if word in lower:
                matches = self.pattern.finditer(text)
                is_harmless = _is_listed if self.code == "active-markup" else _is_spoken_of
                return next((one for one in matches if not is_harmless(text, one)), None)
        return None


def _rule(code: str, says: str, needs: str, *patterns: str) -> WordingRule:
    return WordingRule(
        code, says, tuple(needs.split()), re.compile("|".join(patterns), re.IGNORECASE)
    )


_PLAIN = _rule(
    "instruction-like",
    "sets other instructions aside, or keeps something from the user; read it before agents do",
    "tell mention reveal disclose inform hide conceal secret user nobody anyone silently secretly"
    " ignore disregard forget override void mode now",
    rf"\b{_NOT}\W+{FEW}(?:tell|inform|mention|reveal|disclose)(?:ing)?\W+{WORD}{{0,5}}?"
    r"(?:users?|humans?|person|anyone|anybody|this|that|it)\b",
    rf"\b(?:tell|let|inform)\W+{FEW}(?:nobody|no\W+one)\b",
    r"\b(?:hide|conceal|keep)\W+"
    + WORD
    + r"{0,4}?(?:secret\b|from\W+(?:the\W+)?(?:users?|humans?)\b)",
    r"\busers?\W+(?:must|should|may|is|are)\W+(?:not|never)\W+(?:to\W+)?"
    r"(?:know|see|notice|learn|find\W+out|be\W+told)\b",
    r"\b(?:silently|secretly|covertly)\W+(?:send|add|copy|forward|upload|post|call|run|read)\b",
    rf"\b(?:ignore|disregard|forget|override|set\W+aside)\W+{FEW}_?(?:above|everything|(?:previous|prior"
    r"|earlier|preceding|former|other|system|given)[\W_]+"
    + FEW
    + r"(?:instructions?|rules|directives|prompts?"
    r"|guidelines|orders))\b",
    rf"\b(?:ignore|disregard|forget)\W+{FEW}(?:instructions?|rules|guidelines)\W+{FEW}(?:above|before|given)\b",
    rf"\b(?:instructions|rules|guidelines)\W+{FEW}(?:void|no\W+longer\W+(?:apply|count|hold))\b",
    r"\byou\W+are\W+now\W+(?:an?|the|in|free)\b|\b(?:developer|god|dan)\W+mode\W+(?:is\W+)?(?:on|enabled)\b",
)
"""The rule for orders that nobody gives in good faith."""
_RULES = (
    _PLAIN,
    _rule(
        "instruction-like",
        "addresses the model instead of describing the tool; read it before agents do",
        "must shall required < [ system developer assistant instruction directive orders ai llm"
        " language mode ## injection",
        *_MARKS,
        r"<\s{0,3}/?\s{0,3}(?:important|system|instructions?|secret|hidden|admin|assistant|critical|prompt"
        r"|override)\s{0,3}/?\s{0,3}>",
        r"\b(?:new|updated|real|actual|secret|hidden|special|override)\W+(?:system\W+)?(?:instructions?"
        r"|directives?|orders)\W*(?::|for\W+(?:you|the\W+(?:assistant|model|agent|ai)))",
        r"\b(?:attention|note\W+to|message\W+(?:to|for)|instructions?\W+(?:to|for))\W+(?:the\W+|all\W+)?"
        r"(?:ai|llms?|language\W+models?|assistants?)\b",
        r"\bprompt\W+injection\b",
    ),
    _rule(
        "insists",
        "pushes the model to use the tool instead of describing it; have it toned down",
        "must always should have shall needs has",
        r"\byou\W+must\W+(?:always|never|first|immediately|also|secretly|silently|now|obey|comply)\b",
        r"\b(?:always|must|should|have\W+to)\W+(?:first\W+)?(?:call|use|invoke|run|prefer|choose|pick|"
        r"select)\W+this\W+(?:tool|function|one|server)\b",
        r"\b(?:this\W+(?:tool|function)|it)\W+(?:must|has\W+to|should|shall|needs\W+to)\W+(?:always\W+)?"
        r"be\W+(?:always\W+)?(?:called|used|invoked|run|preferred|chosen)\W+(?:first|always|every|each"
        r"|before|instead)\b",
    ),
    _rule(
        "ordering-claim",
        "claims priority over other tools; read it before agents do",
        "tool function server action step request task operation",
        rf"\b(?:before|prior\W+to|instead\W+of|rather\W+than|ahead\W+of|after|over)\W+{FEW}(?:any|all|"
        rf"every|each|the)\W+(?:of\W+(?:the|your)\W+)?(?:other|others|another|remaining)\W+{FEW}{_TOOLS}",
        rf"\b(?:before|prior\W+to|ahead\W+of)\W+{FEW}(?:any|every|each|all)\W+{FEW}(?:tools?|function"
        r"\W+calls?|tool\W+calls?|tool\W+use)\b",
        r"(?<!\bif )(?<!\bwhen )\b(?:all|every|any|the)\W+(?:of\W+the\W+)?other\W+"
        + FEW
        + rf"{_TOOLS}\W+(?:is|are|must|should"
        r"|have|has|will|may|can)\W+"
        + FEW
        + r"(?:deprecated|broken|obsolete|disabled|unsafe|unreliable|"
        r"insecure|not|never|fail|be\W+(?:ignored|avoided)|wait)",
        rf"\b{_NOT}\W+{FEW}(?:use|call|invoke|run|trust|using|calling|invoking)\W+(?:any|the|all)\W+"
        rf"other\W+{FEW}{_TOOLS}",
        r"\b(?:this\W+(?:tool|function)|it)\W+(?:takes|has|overrides|supersedes|replaces)\W+"
        + FEW
        + r"(?:precedence|priority|all|any|every)\W+(?:over\W+)?"
        + FEW
        + rf"(?:other\W+)?{FEW}{_TOOLS}",
    ),
    _rule(
        "asks-context",
        "asks for the conversation, the prompt or the environment; leave the tool out",
        "history context log transcript far prompt instructions message env tools",
        rf"(?:{_GIVES}|(?:\A|[.:;\n])\W{{0,3}}(?:the\W+|your\W+)?"
        r"(?:full|entire|complete|whole|verbatim)\W+)"
        r"(?:conversation|chat|message|dialog(?:ue)?)s?\W+(?:history|context|logs?|transcript|so\W+far)\b",
        rf"(?:{_GIVES}|\A\W*)(?:your|the)\W+(?:full\W+|entire\W+|complete\W+)?"
        r"(?:system|developer|initial)\W+(?:prompt|instructions|message)\b(?!\W+or\b)",
        r"\b(?:dump|print|send|paste|attach|collect|forward|upload|copy|exfiltrate|leak|contents?\W+of)"
        rf"\W+{WORD}{{0,4}}(?:environment|env)\W+var(?:iable)?s\b",
        rf"{_GIVES}(?:names|list|descriptions|schemas)\W+(?:and\W+\w+\W+)?of\W+(?:all|every|the\W+other|"
        rf"your)\W+{WORD}{{0,3}}tools\b",
    ),
    _rule(
        "secret-path",
        "mentions where secrets are stored, which a description does not need",
        "~ $home %userprofile /root /home ssh id_ authorized_keys .aws .kube .env .netrc .npmrc "
        ".pypirc .git-c .pgpass _history .docker /etc/ mcp.json claude_desktop wallet.dat "
        "content copy",
        r"(?:~|\$HOME|%USERPROFILE%|/root|/home/\w+)[/\\]\.[a-z]\w*",
        r"\.ssh\b|\bid_(?:rsa|dsa|ecdsa|ed25519)\b|\bauthorized_keys\b|\.aws[/\\]|\.kube[/\\]config",
        r"(?<![\w)])\.env(?:\.\w+)?\b(?=\W*(?:files?|$|[\s,;.)'\"`]))|\.netrc\b|\.npmrc\b"
        r"|\.pypirc\b|\.git-credentials|\.pgpass\b|\.(?:bash|zsh)_history\b|\.docker[/\\]config",
        r"/etc/(?:passwd|shadow|sudoers)\b|\bmcp\.json\b|claude_desktop_config|\bwallet\.dat\b",
        r"\bssh\W+(?:private\W+)?keys?\W+(?:file|content)|\b(?:contents?|copy)\W+of\W+"
        + FEW
        + r"(?:private\W+key|ssh\W+key|key\W+file|credentials?\W+file|password\W+file|keychain)",
    ),
    _rule(
        "active-markup",
        "has an image, link or script that a viewer may load or run; write it as plain text",
        "![ script < data ](",
        r"!\[[^\]]{0,300}\]\s?[(\[]|!\[\[",
        r"\b(?:java|vb)script\s?:|\bdata\s?:\s?(?:text/html|image/svg|application/)",
        r"<\s{0,3}/?\s{0,3}(?:script|iframe|svg|object|embed|applet|frame|frameset|math|noscript|marquee)"
        r"\b[^<>]{0,300}(?:=|/\s?>)|<\s?/\s?(?:script|iframe|svg|style)\s?>|<\s?script\s?>\s?[\w.]+\(",
        r"<\s{0,3}(?:img|a|link|meta|base|form|input|button|style|video|audio|source|body|div|span|p|td)\s"
        r"[^<>]{0,300}=|<\s?style\s?>",
        r"<[a-z][^<>]{0,200}\son[a-z]{3,20}\s*=|<!--",
        r"\]\(\s{0,9}(?:javascript|data|vbscript|file)\s*:",
    ),
)
_FROM_USERS = re.compile(
    rf"\b{_NOT}\W+{FEW}(?:tell|inform|mention|reveal|notify|disclose|alert|warn|show|ask|let)(?:ing)?"
    rf"\W+{WORD}{{0,5}}(?:users?|humans?|person|anyone|anybody|this|that|it)\b"
    rf"|\b(?:hide|hidden|conceal|keep|kept)\W+{WORD}{{0,4}}from\W+(?:the\W+)?(?:users?|humans?)\b"
    rf"|\busers?\W+(?:must|should|need|does|do|may|can)\W*(?:not|n['’]t|never)\W+{FEW}"
    r"(?:know|see|notice|learn|find\W+out|be\W+(?:told|informed|asked|notified))\b"
    r"|\b(?:silently|secretly|covertly|quietly|discreetly|without\W+being\W+asked)\b",
    re.IGNORECASE,
)
"""Matches words that say what the user must not learn."""
_CODES = re.compile(r"\b(?:base-?(?:16|32|64)|hex|encod|decod|percent|rot-?13)", re.IGNORECASE)
"""Matches names of encodings; a tool for such an encoding may show an encoded sentence."""
_COMMON = frozenset("the a to of and you is in for with your all this that user when".split())
_TAKES_SECRETS = frozenset(("secret-path", "asks-context"))
PADDING = re.compile(r"\s{80,}|(?:\n[ \t\r]*+){12,}")
FORMATTING = re.compile(
    r"</?(?:b|i|u|em|strong|br|p|ul|ol|li|code|pre|h[1-6]|div|span|table|tr|td|th|hr|sup|sub)\s*/?>",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A match in a plain text: severity, code of the rule, message, and position."""

    severity: Severity
    code: str
    message: str
    at: int


@dataclass(frozen=True, slots=True)
class Wording:
    """A text with obfuscation removed, what the rules find in it (at most one hit per rule), and
    the sentences that read like orders.
    """

    plain: str
    hits: tuple[Hit, ...]
    orders: tuple[TextOrder, ...] = ()

    def findings(self, tool_id: str, path: str) -> Iterator[Finding]:
        """The hits as findings on the text at ``path`` of a tool."""
        plain = Passage(path, self.plain)
        is_env_file = "env" in re.split(r"[\W_]+", path.rpartition("properties/")[2].lower())
        for hit in self.hits:
            if is_env_file and hit.code == "secret-path" and "“.env" in hit.message:
                continue  # the parameter asks for the settings of this file
            yield plain.finding(tool_id, hit.severity, hit.code, hit.message, hit.at)


@lru_cache(maxsize=1 << 14)  # most texts occur often
def read_wording(text: str) -> Wording:
    """The matches of the rules in a text.

    They are *warn*, *block* for a secret that is taken without the user's knowledge, or *info* for
    tags that only format text.
    """
    if text.isascii() and text.isidentifier():
        return Wording(text, ())
    plain = plain_text(text)
    orders = tuple(find_orders(plain)) if len(plain) >= _SHORTEST else ()
    return Wording(plain, tuple(_hits(plain)), orders)


_SHORTEST = 8
"""The length that a text needs to be able to give an order."""
_FEWEST_WORDS = 4


def _hits(plain: str) -> Iterator[Hit]:
    lower = plain.lower()
    codes = set()
    for rule in _RULES:
        match = None if rule.code in codes else rule.search(plain, lower)
        if match:
            codes.add(rule.code)
            yield _hit(rule.code, rule.sentence, match.group(), match.start())
    if encoded := _encoded(plain):
        yield encoded
    secret = _FROM_USERS.search(plain) if codes & _TAKES_SECRETS else None
    if secret:
        message = "The {field} asks for secrets and hides this from the user; leave this tool out."
        yield Hit("block", "steals-secret", message, secret.start())
    blanks = "  " in plain or not plain.isprintable()
    padding = PADDING.search(plain) if blanks else None
    if padding:
        message = (
            "The {field} has a long run of blanks that pushes the rest out of view; read it "
            "to the end and remove the blanks."
        )
        yield Hit("warn", "padding", message, padding.end())
    tag = FORMATTING.search(plain)
    if tag:
        message = (
            "The {field} has HTML tags, which cost tokens and tell a model nothing; remove them."
        )
        yield Hit("info", "html-tags", message, tag.start())


def _encoded(plain: str) -> Hit | None:
    """Encoded parts of a text: *block* for orders and commands, *warn* for sentences."""
    for text, at in decoded_texts(plain):
        shown = quotation(visible(text[:_LONGEST_TEXT]))
        is_order = any(find_orders(text)) or any(
            rule.search(text, text.lower()) for rule in _RULES if rule.code != "active-markup"
        )
        if COMMAND.search(text) or is_order:
            message = f"The {{field}} has encoded orders, “{shown}”; leave this tool out."
            return Hit("block", "encoded-order", message, at)
        is_job = _CODES.search(plain.partition(". ")[0]) or is_explained(plain, at, at + 1)
        if _is_prose(text) and not is_job:
            message = f"The {{field}} has an encoded text, “{shown}”; read it before agents do."
            return Hit("warn", "encoded-text", message, at)
    return None


def _is_prose(text: str) -> bool:
    """Whether a text is a sentence of English words."""
    words = text.lower().split()
    return len(words) >= _FEWEST_WORDS and sum(word in _COMMON for word in words) > 1


def _hit(code: str, sentence: str, quoted: str, at: int) -> Hit:
    words = quotation(quoted)
    said = f" “{words}”" if words else ""
    return Hit("warn", code, f"The {{field}}{said} {sentence}.", at)


def quotation(text: str) -> str:
    """The beginning of a text, in the form in which a message quotes it."""
    return " ".join(text.split())[:60].replace("{", "{{").replace("}", "}}")


def find_order(passage: Passage) -> Finding | None:
    """A *block* finding on a server's text that places itself above others, or keeps something
    from the user.
    """
    plain = plain_text(passage.text)
    match = _PLAIN.search(plain, plain.lower())
    if match is None:
        return None
    words = quotation(match.group())
    message = f"The {{field}} “{words}” gives the model orders; have it removed, or leave it out."
    plain_passage = Passage(passage.path, plain)
    return plain_passage.finding("", "block", "gives-orders", message, match.start())


def find_length(tool_id: str, passage: Passage) -> Finding | None:
    """A *warn* finding on a text or name that is too long for a review."""
    most = _LONGEST_NAME if passage.path == "name" else _LONGEST_TEXT
    if len(passage.text) <= most:
        return None
    message = (
        f"The {{field}} is {len(passage.text):,} characters long, more than {most:,}. Something "
        "may be hidden in it: read it to the end, or shorten it."
    )
    return passage.finding(tool_id, "warn", "over-long", message, most)


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
_PLACE = re.compile(r"\b(?:path|location|name)\W+(?:of|to)\b", re.IGNORECASE)
"""Matches words that say where a file is, which is not a secret."""
_KINDS = ((MACHINE, OF_MACHINE), (ACCOUNT, OF_ACCOUNT))
SHARED = 3


def find_requested_secrets(tools: Sequence[Tool]) -> Iterator[Finding]:
    """A finding for each parameter that has the name or description of a secret."""
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
    """The pattern for tools that may ask for this secret; ``None`` if the parameter is not a
    secret.
    """
    name = " ".join(word for word in BORDER.split(plain_text(parameter.name)) if word).lower()
    if ENV_FILE.search(name) and _PLACE.search(parameter.description):
        return None
    phrase = SECRET_PHRASE.search(plain_text(parameter.description))
    text = f"{name} . {phrase.group().lower()}" if phrase else name
    return next((job for secret, job in _KINDS if secret.search(text)), None)


def _job(tool: Tool) -> str:
    return f"{' '.join(BORDER.split(tool.name))} {tool.description} {tool.server}"


def _finding(tool: Tool, parameter: Parameter, related: bool) -> Finding:
    passage = Passage(f"schema/properties/{parameter.name}", parameter.description)
    if related:
        message = "The parameter {field} takes a secret; use it only with a server that you trust."
        return passage.finding(tool.id, "info", "asks-secret", message)
    message = (
        "The parameter {field} takes a secret, which the tool's described job does not need; "
        "leave out the parameter or the tool."
    )
    return passage.finding(tool.id, "warn", "asks-secret", message)
