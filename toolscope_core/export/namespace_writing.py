"""Descriptions of namespaces written by a model, and objections to such descriptions."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from toolscope_core.export.namespaces import servers_with_tools
from toolscope_core.judging.guards import whole_text
from toolscope_core.llm.merge_questions import suspicious_ids_of
from toolscope_core.llm.model_requests import Asker
from toolscope_core.llm.tasks.synthesis_prompt import NAMESPACE_TASK, NamespaceQuestion
from toolscope_core.merging.faithful import DocumentContext, Violation, hostile, invented
from toolscope_core.model.catalog import Catalog, Server
from toolscope_core.model.tool import Tool


def descriptions_of_model(
    servers: Iterable[Server], tools: Iterable[Tool], asker: Asker
) -> dict[str, str]:
    """A description of each server that has tools, written by a model, by server name.

    Servers without a usable answer are left out.
    """
    questions = [NamespaceQuestion(*one) for one in servers_with_tools(servers, tools)]
    return {
        question.server.name: answer.value["description"]
        for question, answer in zip(questions, asker(NAMESPACE_TASK, questions), strict=True)
        if answer and answer.value
    }


def namespace_violations(
    catalog: Catalog, server: Server, tools: Sequence[Tool], text: str
) -> tuple[Violation, ...]:
    """Objections to a description: hostile text, and addresses or names that the text invents.

    An address or name is invented if the server and its tools do not contain it.
    """
    suspects = suspicious_ids_of(replace(catalog, tools=tuple(tools)))
    context = DocumentContext(frozenset(tool.name for tool in catalog.tools), suspects)
    trusted = [whole_text(tool) for tool in tools if tool.id not in suspects]
    names = [server.name, *(tool.name for tool in tools)]
    own_words = "\n".join((*names, server.description, *trusted))
    blank, described = (Tool("", server.name, one) for one in ("", text))
    return (*invented(own_words, text, tools, context), *hostile(blank, described))
