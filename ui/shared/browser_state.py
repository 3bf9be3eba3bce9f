"""What only the browser can do: one step of Back a page, and a name that survives a reload.

Streamlit adds a step to the browser's history for each change of the address, also for those that
a page makes by itself while it is drawn first, and when it is left. Such a change takes the place
of the step before.
"""

from urllib.parse import unquote

import streamlit as st

COOKIE = "toolscope_reviewer"
LONGEST_NAME = 100
JS = """
const hands = ['pointerdown', 'keydown']
if (!window.toolscopeHistory) {
  window.toolscopeHistory = true
  let acted = false
  const byHand = ({ target }) => {
    const link = target.closest?.('a[href]')
    acted = !link || link.pathname === location.pathname
  }
  for (const hand of hands) addEventListener(hand, byHand, true)
  addEventListener('popstate', () => { acted = false }, true)
  const push = history.pushState.bind(history)
  history.pushState = (state, title, address) => {
    const samePage = new URL(address ?? location.href, location.href).pathname === location.pathname
    if (samePage && !acted) return history.replaceState(state, title, address)
    if (!samePage) acted = false
    return push(state, title, address)
  }
}
export default function ({ data }) {
  const year = 365 * 24 * 3600
  const value = encodeURIComponent(data.reviewer)
  document.cookie = `COOKIE=${value}; path=/; max-age=${year}; SameSite=Strict`
}
""".replace("COOKIE", COOKIE)

_browser = st.components.v2.component("toolscope_browser", html="<i></i>", js=JS)


def remembered_name() -> str:
    """The name that somebody gave in this browser before; empty for a new one."""
    name = st.context.cookies.get(COOKIE)
    return unquote(name)[:LONGEST_NAME].strip() if isinstance(name, str) else ""


def remember(reviewer: str) -> None:
    """Keep the name in this browser, and its history in order. Call it on every page."""
    _browser(key="browser", data={"reviewer": reviewer[:LONGEST_NAME]})
