"""Keeps the question of a card in view while the rest scrolls, and starts each card at its top."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

QUESTION = "question"
JS = """
const NAME_HEIGHT = 80
let last = null
export default function ({ data }) {
  const main = document.querySelector('[data-testid="stMain"]')
  const own = document.querySelector('.st-key-QUESTION')
  const block = own?.closest('[data-testid="stLayoutWrapper"]')
  if (!main || !block) return
  const bar = document.querySelector('[data-testid="stHeader"]')?.offsetHeight || 0
  Object.assign(block.style, {
    position: 'sticky',
    top: `${bar}px`,
    zIndex: 5,
    maxHeight: '40vh',
    overflowY: 'auto',
    background: getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor,
  })
  if (data.card === last) return
  last = data.card
  const edge = main.getBoundingClientRect()
  const keys = document.querySelector('[data-testid="stBottom"]')?.offsetHeight || 0
  const top = block.parentElement.getBoundingClientRect().top - edge.top
  if (top < bar || top + NAME_HEIGHT > edge.height - keys) main.scrollTop += top - bar
}
""".replace("QUESTION", QUESTION)

_start = st.components.v2.component("toolscope_start", html="<i></i>", js=JS)


def question() -> DeltaGenerator:
    """The container for the name of a card and its question, which stays at the top of the page."""
    return st.container(key=QUESTION)


def start_at_top(card: str) -> None:
    """Show the card from its top if another was shown before. Call it after the card is drawn."""
    _start(key="start", data={"card": card})
