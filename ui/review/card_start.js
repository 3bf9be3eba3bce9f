// The name of a card and its question stay at the top, unless they take too much of a small screen:
// then they scroll with the rest. Another card is shown from its top.
const LARGEST_SHARE = 0.35
let last = null
const sizes = new ResizeObserver(() => place())
function place() {
  const main = document.querySelector('[data-testid="stMain"]')
  const own = document.querySelector('.st-key-question')
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
  const checks = document.querySelector('.st-key-checks') ?? own
  const end = checks.getBoundingClientRect().bottom - edge.top
  if (top < bar || end > edge.height - keys) main.scrollTop += top - bar
}
