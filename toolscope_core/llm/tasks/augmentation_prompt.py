"""Asks for an expanded description of a tool and questions that it answers (Retrieval–Plan–Select,
§3.1 and appendix B.1). The wording is ours.
"""

from typing import Annotated

from pydantic import Field

from toolscope_core.llm.tasks.fence import RULES
from toolscope_core.llm.tasks.prompt_task import PromptTask, numbered, show_tool
from toolscope_core.llm.tasks.replies import PASSAGE, AnswerError, AnswerForm, up_to
from toolscope_core.model.tool import Augmentation, JsonObject, Tool

LEAST_QUESTIONS, MOST_QUESTIONS = 3, 8
LONGEST_EXPANDED, LONGEST_QUESTION = 1_200, 300

SYSTEM = f"""\
People ask an agent for things in their own words, and a search has to find the right tool among \
many that look alike. You write what helps it to find a tool.

{RULES}
For each tool write two things. "expanded": forty to seventy words of plain prose that say what \
one call does, to what, from which inputs, and what comes back; then what sets it apart from tools \
that sound like it, if its own text tells. Say only what its text says or plainly implies: no \
ability, argument, limit, address or tool that is not there, and no praise. "questions": six \
requests that people would make and one call of this tool would serve, with made-up values for its \
inputs. Vary who speaks, the words and the form; name neither the tool nor its parameters.
"""


def augmentation_of(answer: JsonObject) -> Augmentation:
    """The variant of a stored answer."""
    return Augmentation(answer["expanded"], tuple(answer["questions"]))


class VariantForm(AnswerForm[Tool]):
    """An answer, each question once when it is stored."""

    expanded: Annotated[str, Field(min_length=1, max_length=LONGEST_EXPANDED), PASSAGE]
    questions: list[Annotated[str, up_to(LONGEST_QUESTION), PASSAGE]]

    def stored(self, item: Tool) -> JsonObject:
        distinct = list(dict.fromkeys(one for one in self.questions if one))
        if not LEAST_QUESTIONS <= len(distinct) <= MOST_QUESTIONS:
            raise AnswerError(
                f"there are {len(distinct)} different questions; give {LEAST_QUESTIONS} to "
                f"{MOST_QUESTIONS}"
            )
        return {"expanded": self.expanded, "questions": distinct}


AUGMENTATION_TASK: PromptTask[Tool] = PromptTask(
    name="augmentation",
    batch=4,
    system=SYSTEM,
    reply_name="variants",
    form=VariantForm,
    answer_tokens=450,
    hashes=lambda tool: [tool.content_hash],
    show=numbered(show_tool),
)
"""An answer is ``{"expanded", "questions": [text…]}``, three to eight of them."""
