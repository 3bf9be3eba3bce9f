"""The kinds of changes between two versions of a tool, each with level, reason and example."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

Level = Literal["breaking", "careful", "info"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""*breaking*: a valid call fails, or a caller gets something unexpected. *careful*: no call
fails, but a call may do something else. *info*: nobody notices.
"""


@dataclass(frozen=True, slots=True)
class ChangeKind:
    """A kind of change.

    ``name`` is used in reports and in ``.toolscope.yaml``. ``level`` is the default, ``effect`` is
    the effect on callers, and ``reason`` explains the level.
    """

    name: str
    level: Level
    effect: str
    reason: str
    example: str


_TABLE = """
tool-removed | breaking | the tool is gone | Every call of it fails. | `delete_note` is no longer listed
tool-merged-away | info | another tool takes its calls | An accepted merge had already moved its callers to another tool. | `fetch_tide`, which the bundle merged into `get_tide`, is gone
tool-added | info | a new tool | Nobody calls it yet. | `archive_note` is new
tool-renamed | breaking | calls by the old name fail | Agents and clients call tools by name. | `get_note` → `fetch_note`
server-changed | breaking | calls to the old one fail | Clients reach a tool through its server. | server `notes` → `pinboard`
id-changed | info | its id has changed | Only ToolScope uses the id. | id `notes/get` → `7`
description-changed | info | agents may choose it in other cases | No call fails. The scan checks the new text, and replayed cases show what agents now find. | *Reads a note.* → *Reads one note.*
missing-version-bump | breaking | the version is not higher than before | Checked only if `version-bump` asks for it. | an argument is gone, and `version` is still `1.4.0`
not-compared | breaking | it could not be compared, so it may break callers | Something that could not be compared must not look unchanged. | a record that cannot be read, or a schema too large to compare
argument-removed | breaking | calls that send it fail or lose it | Callers that still send it fail, or the server ignores it. | `limit` is gone
argument-required | breaking | callers must send it now | Calls without it were valid and now fail. | `limit` is in `required`
argument-type-narrowed | breaking | some calls are no longer valid | Values of the old type are refused. | `type: number` → `integer`
argument-value-removed | breaking | some calls are no longer valid | A value that was allowed is refused. | `enum: [a, b]` → `[a]`
argument-limit-tightened | breaking | some calls are no longer valid | A value within the old limits is refused. | `maximum: 100` → `50`
argument-narrowed | breaking | some calls are no longer valid | The old schema accepts a call that the new one refuses. | a branch of `anyOf` is gone
argument-closed | careful | calls with undeclared arguments now fail | Only calls that send undeclared arguments fail. | `additionalProperties: false` is new
default-changed | careful | calls without it may do something else now | Such calls stay valid, so nothing breaks; but they may mean something else. | `default: 10` → `50`
default-removed | careful | nothing says what calls without it do now | Such calls stay valid, and the server may still fill in the same value. | `default: 10` is gone
default-added | info | it now says what calls without it do | It documents what such calls already did. | `default: 10` is new
argument-added | info | callers may send more | Callers may leave it out. | the optional `sort` is new
argument-widened | info | callers may send more | Every call that was valid still is. | `maximum: 50` → `100`
argument-words | info | the text of an argument has changed | Text rules out no value. | the description of `limit`
result-field-removed | breaking | readers of the result miss it | The old version promised it in every result. | the required output field `city` is gone
result-optional-field-removed | careful | readers of the result no longer get it | It was never promised, so readers already had to do without it. | the optional output field `city` is gone
result-field-optional | breaking | readers of the result may miss it | The old version promised it in every result. | `city` is no longer in `required`
result-type-widened | breaking | the result may be of another type | A reader cannot expect the new type. | `type: string` → `[string, null]`
result-value-added | breaking | the result may be a value that readers do not know | The old schema ruled it out. | `enum: [open]` → `[open, closed]`
result-limit-loosened | breaking | the result may be outside the old limits | The old schema ruled it out. | `maxLength: 10` → `100`
result-widened | breaking | the result may be what readers do not expect | The new schema allows a result that the old one ruled out. | a branch of `anyOf` is new
result-field-added | info | readers get more | Readers ignore it. | the output field `land` is new
result-narrowed | info | fewer results are possible | Every result was possible before. | `type: [string, null]` → `string`
result-words | info | the text of the result has changed | Text rules out no value. | the description of `city`
destructive-set | breaking | it may now delete or overwrite things | Clients let tools that declare themselves non-destructive run without asking. | `destructiveHint: false` → `true`
destructive-declared | careful | it says that it may delete or overwrite things | MCP assumes this if nothing is declared, so only the declaration is new. | `destructiveHint: true` where nothing was declared
read-only-lost | breaking | it is no longer read-only | Clients let read-only tools run without asking. | `readOnlyHint: true` → `false`
idempotent-lost | careful | a repeated call may act twice | Only callers that try again are affected. | `idempotentHint: true` is gone
task-required | breaking | calls that are not tasks fail | Callers have to call it in another way. | `taskSupport: optional` → `required`
task-refused | breaking | calls as tasks fail | Callers have to call it in another way. | `taskSupport: required` → `optional`
annotation-changed | info | an annotation has changed | It changes no call. | `annotations.title`
record-changed | info | something in the record outside the tool has changed | No call or search depends on it. | `icons`, `_meta`
"""  # noqa: E501

CHANGE_KINDS: Mapping[str, ChangeKind] = MappingProxyType(
    {
        name: ChangeKind(name, next(one for one in LEVELS if one == level), *texts)
        for name, level, *texts in (line.split(" | ") for line in _TABLE.strip().splitlines())
    }
)
"""Every kind of change by name, in the order of a tool's definition."""
