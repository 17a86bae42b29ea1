// A run's log: it opens at its end, grows as it is printed, and every line has
// an address. The server sends rows that are ready to be shown; a row's number
// is its event's id, so that nothing comes twice and nothing is left out.
import htmx from './htmx.js'
import { place, size } from './log-folds.js'
import './log-search.js'

const most = 5000 // rows kept in the page while following

htmx.onLoad(root => {
  const box = root.matches?.('[data-log]') ? root : root.querySelector?.('[data-log]')
  if (box && !box.dataset.logOpen) open(box)
})

function open (box) {
  box.dataset.logOpen = 'yes'
  const wanted = /^#L(\d+)$/.exec(location.hash)
  if (wanted && !document.getElementById(wanted[0].slice(1))) {
    const from = Math.max(1, wanted[1] - 20)
    if (!location.search.includes(`from=${from}`)) location.replace(`${location.pathname}?from=${from}${wanted[0]}`)
    return
  }
  const asked = new URLSearchParams(location.search)
  if (wanted) reveal(wanted[0].slice(1))
  else if (!asked.has('from') && !asked.has('q')) box.scrollTop = box.scrollHeight
  if (box.dataset.logEvents) follow(box, !wanted)
}

// A line that is linked to may be in a fold.
export function reveal (id) {
  const row = document.getElementById(id)
  if (!row?.closest('[data-log]')) return
  let inFold = false
  for (let fold = row.closest('details'); fold; fold = fold.parentElement.closest('details')) {
    inFold ||= !fold.open
    fold.open = true
  }
  if (inFold) row.scrollIntoView({ block: 'center' })
}
addEventListener('hashchange', () => reveal(location.hash.slice(1)))

function follow (box, following) {
  const rows = box.querySelector('[data-log-lines]')
  const note = box.querySelector('[data-log-state]')
  const button = box.parentElement.querySelector('[data-log-follow]')
  const said = box.parentElement.querySelector('[data-log-size]')
  const url = new URL(box.dataset.logEvents, location.href)
  let source
  let waiting = []
  let frame = 0

  const set = on => {
    following = on
    button?.setAttribute('aria-pressed', String(on))
    if (button) button.dataset.variant = on ? 'secondary' : 'outline'
    if (on) box.scrollTop = box.scrollHeight
  }
  button?.addEventListener('click', () => set(!following))
  box.addEventListener('scroll', () => {
    const end = box.scrollHeight - box.scrollTop - box.clientHeight < 24
    if (end !== following) {
      following = end
      button?.setAttribute('aria-pressed', String(end))
      if (button) button.dataset.variant = end ? 'secondary' : 'outline'
    }
  }, { passive: true })
  set(following)

  const show = () => {
    frame = 0
    const stick = following // the scroll events of what is added come later
    rows.querySelectorAll('[data-partial]').forEach(row => row.remove())
    const fresh = document.createElement('template')
    fresh.innerHTML = waiting.join('')
    waiting = []
    note.textContent = ''
    for (const row of [...fresh.content.children]) place(rows, row)
    if (!stick) return
    trim()
    box.scrollTop = box.scrollHeight
  }
  // What goes out of the page at its top is offered again as "Earlier lines".
  const trim = () => {
    let over = size(rows) - most
    if (over <= 0) return
    while (over > 0 && rows.firstElementChild) {
      const top = rows.firstElementChild
      over -= Math.max(1, size(top))
      if (top === rows.lastElementChild) break // the group that is being printed stays whole
      top.remove()
    }
    const first = rows.querySelector('p[id]')?.id.slice(1)
    if (!first) return
    box.querySelectorAll('[data-log-earlier]').forEach(el => el.remove())
    const more = document.createElement('div')
    more.dataset.logEarlier = ''
    more.className = 'px-3 py-2 font-sans'
    const link = document.createElement('a')
    link.className = 'btn'
    link.dataset.variant = 'outline'
    link.dataset.size = 'sm'
    link.href = `${location.pathname}?before=${first}`
    link.textContent = 'Earlier lines'
    more.append(link)
    rows.before(more)
  }
  const add = html => {
    waiting.push(html)
    if (!frame) frame = requestAnimationFrame(show)
  }

  const connect = () => {
    if (source || document.hidden) return
    source = new EventSource(url)
    source.addEventListener('line', e => {
      if (!box.isConnected) return close()
      url.searchParams.set('after', e.lastEventId)
      add(e.data)
    })
    source.addEventListener('partial', e => add(e.data))
    source.addEventListener('size', e => { if (said) said.textContent = e.data })
    source.addEventListener('end', e => {
      close()
      stop()
      requestAnimationFrame(() => requestAnimationFrame(() => { 
        note.textContent = `The run has ended: ${e.data}.`
        if (following) box.scrollTop = box.scrollHeight
      }))
      button?.remove()
    })
  }
  const close = () => { source?.close(); source = undefined }
  // A tab that nobody looks at holds no connection: browsers have six for a host.
  const seen = () => { if (!box.isConnected) stop(); else if (document.hidden) close(); else connect() }
  const stop = () => { close(); document.removeEventListener('visibilitychange', seen); removeEventListener('pageshow', seen) }
  document.addEventListener('visibilitychange', seen)
  addEventListener('pageshow', seen)
  addEventListener('pagehide', close)
  connect()
}
