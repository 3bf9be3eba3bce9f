// A browser's own history: one entry for each page, whatever the address of a page says meanwhile;
// and the name of the reviewer, kept in a cookie.
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
  document.cookie = `${data.cookie}=${value}; path=/; max-age=${year}; SameSite=Strict`
}
