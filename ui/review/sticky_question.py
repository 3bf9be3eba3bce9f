"""Keeps the question of a card in view while the rest scrolls, starts each card at its top, and
lets nothing that is scrolled to stand under the bar of keys.
"""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

QUESTION, CHECKS = "question", "checks"
"""Keys of containers on the card. A question that would take too much of a small screen scrolls
with the rest.
"""
JS = """
const LARGEST_SHARE = 0.35
let last = null
const sizes = new ResizeObserver(() => place())
function place() {
  const main = document.querySelector('[data-testid="stMain"]')
  const own = document.querySelector('.st-key-QUESTION')
  const block = own?.closest('[data-testid="stLayoutWrapper"]')
  if (!main || !block) return
  const bar = document.querySelector('[data-testid="stHeader"]')?.offsetHeight || 0
  const keys = document.querySelector('[data-testid="stBottom"]')?.offsetHeight || 0
  const edge = main.getBoundingClientRect()
  const small = own.offsetHeight < LARGEST_SHARE * edge.height
  Object.assign(block.style, {
    position: small ? 'sticky' : 'static',
    top: `${bar}px`,
    zIndex: 5,
    paddingBottom: '.5rem',
    background: getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor,
  })
  // what a key or a link leads to stands between the name and the keys, not under them
  main.style.scrollPadding = `${bar + (small ? own.offsetHeight : 0)}px 0 ${keys}px`
  return { main, own, block, bar, keys, edge }
}
export default function ({ data }) {
  const placed = place()
  if (!placed) return
  const { main, own, block, bar, keys, edge } = placed
  sizes.disconnect()
  for (const one of [own, document.querySelector('[data-testid="stBottom"]')]) {
    if (one) sizes.observe(one)
  }
  if (data.card === last) return
  last = data.card
  const top = block.parentElement.getBoundingClientRect().top - edge.top
  const checks = document.querySelector('.st-key-CHECKS') ?? own
  const end = checks.getBoundingClientRect().bottom - edge.top
  if (top < bar || end > edge.height - keys) main.scrollTop += top - bar
}
""".replace("QUESTION", QUESTION).replace("CHECKS", CHECKS)

_start = st.components.v2.component("toolscope_start", html="<i></i>", js=JS)


def question() -> DeltaGenerator:
    """The container for the name of a card and its question, which stays at the top of the page."""
    return st.container(key=QUESTION)


def checks() -> DeltaGenerator:
    """The container for what speaks against a merge: a card starts with it above the keys."""
    return st.container(key=CHECKS)


def start_at_top(card: str) -> None:
    """Show the card from its top if another was shown before, and its checks with it where they do
    not stand above the keys. Call it after the card is drawn.
    """
    _start(key="start", data={"card": card})
