// Stepping through what was found in a log: n and N, or Enter and Shift+Enter in
// the field whose words are on the page. Inside of what the page shows this
// scrolls; beyond it the server is asked for the next line that has the words.
const form = () => document.querySelector('[data-log-search]')
const box = () => document.querySelector('[data-log]')
let back = false // Enter was pressed with Shift

function go (row) {
  document.querySelectorAll('[data-log] p[data-here]').forEach(el => delete el.dataset.here)
  for (let fold = row.closest('details'); fold; fold = fold.parentElement.closest('details')) fold.open = true
  row.dataset.here = ''
  row.scrollIntoView({ block: 'center' })
  history.replaceState(history.state, '', `#${row.id}`)
}

function step (way) {
  const hits = [...box().querySelectorAll('p[data-hit]')]
  const here = box().querySelector('p[data-here]') ?? hits.find(el => `#${el.id}` === location.hash)
  const at = hits.indexOf(here)
  const to = at < 0 ? (way === 'next' ? hits[0] : hits.at(-1)) : hits[at + (way === 'next' ? 1 : -1)]
  if (to) { go(to); return }
  const lines = box().querySelectorAll('[data-log-lines] p[id], p[id]')
  const edge = way === 'next' ? lines[lines.length - 1] : lines[0]
  const url = new URL(way === 'next' ? box().dataset.logNext : box().dataset.logPrev, location.href)
  url.searchParams.set('at', edge ? edge.id.slice(1) : '0')
  location.assign(url)
}

const searching = () => form() && box() && form().dataset.logSearch !== ''

document.addEventListener('keydown', e => {
  if (!searching() || e.defaultPrevented || e.isComposing || e.ctrlKey || e.metaKey || e.altKey) return
  if (e.target === form().elements.q) {
    if (e.key === 'Enter') back = e.shiftKey
    return
  }
  if (e.target.closest?.('input, textarea, select, [contenteditable]') || document.querySelector('dialog:modal')) return
  if (e.key === 'n' || e.key === 'N') {
    e.preventDefault()
    step(e.key === 'n' ? 'next' : 'prev')
  }
})

// Asking once more for the words that are on the page goes on to the next line.
document.addEventListener('submit', e => {
  if (e.target !== form() || !searching() || form().elements.q.value !== form().dataset.logSearch) return
  e.preventDefault()
  step(back ? 'prev' : 'next')
  back = false
})

document.addEventListener('click', e => {
  if (e.defaultPrevented || e.button || e.ctrlKey || e.metaKey || e.shiftKey || !box()) return
  const stepper = e.target.closest?.('[data-log-step]')
  if (stepper) {
    e.preventDefault()
    step(stepper.dataset.logStep)
    return
  }
  const hit = e.target.closest?.('[data-log-hit]')
  const row = hit && box().querySelector(`#L${hit.dataset.logHit}`)
  if (row) { e.preventDefault(); go(row) }
})
