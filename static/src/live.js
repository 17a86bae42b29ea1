// Live parts of a page. The stream says what changed ("plan:12 run:5"), never
// the change itself; each part that shows it fetches itself anew:
//
//   <section data-live="plan:12" hx-get="/plans/12/timeline" hx-trigger="live" hx-swap="morph:innerHTML">
//
// A part has one request open at most, one more remembered, and rests between
// two. Other modules may listen for "donewhen:changed" on document.
import htmx from './htmx.js'
import { connection } from './connection.js'
import { link, signedOut } from './link.js'

const rest = 500 // ms between two requests of one part
const due = new Set() // parts that changed while their request was open
const busy = new Set() // parts that wait or have a request open
const last = new Map() // part -> when its last request began
let stale = false // something changed while nobody looked

function refresh (part) {
  if (busy.has(part)) { due.add(part); return }
  busy.add(part)
  const wait = Math.max(0, (last.get(part) ?? -rest) + rest - performance.now())
  setTimeout(() => {
    due.delete(part)
    if (!part.isConnected) { forget(part); return }
    last.set(part, performance.now())
    htmx.trigger(part, 'live')
  }, wait)
}

function forget (part) { busy.delete(part); due.delete(part); last.delete(part) }

document.addEventListener('htmx:afterRequest', e => {
  const part = e.detail.elt
  if (!part.dataset.live || !busy.delete(part)) return
  if (due.has(part)) refresh(part)
  for (const old of last.keys()) if (!old.isConnected) forget(old)
})

export function changed (names) {
  if (document.hidden) { stale = true; return }
  const set = new Set(names.split(' '))
  const all = set.has('*')
  document.querySelectorAll('[data-live]').forEach(part => {
    if (all || part.dataset.live.split(' ').some(name => set.has(name))) refresh(part)
  })
  document.dispatchEvent(new CustomEvent('donewhen:changed', { detail: set }))
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden && stale) { stale = false; changed('*') }
})

// Only pages of a logged-in reader name the worker: the others have no stream.
const worker = document.querySelector('meta[name="live-worker"]')?.content
if (worker && window.SharedWorker) {
  const port = new SharedWorker(worker, { name: 'donewhen-live' }).port
  port.onmessage = ({ data }) => typeof data === 'string' ? changed(data) : connection(data.lost)
  addEventListener('pageshow', () => port.postMessage('hello'))
  addEventListener('pagehide', () => port.postMessage('bye'))
} else if (worker) {
  // No SharedWorker (some phones): a stream of this page's own, only while it is looked at.
  let source
  const state = link(connection, () => { source?.close(); follow() })
  const follow = () => {
    if (document.hidden) { source?.close(); source = undefined; state.over(); return }
    if (source && source.readyState !== EventSource.CLOSED) return
    source = new EventSource('/events')
    source.addEventListener('changed', e => { state.heard(); changed(e.data) })
    source.addEventListener('alive', e => state.heard(Number(e.data)))
    source.onopen = () => { state.back(); changed('*') }
    source.onerror = async () => {
      const mine = source
      state.broke()
      if (mine?.readyState !== EventSource.CLOSED) return
      setTimeout(follow, 10_000)
      if (await signedOut() && source === mine) state.over()
    }
  }
  document.addEventListener('visibilitychange', follow)
  addEventListener('pageshow', follow)
  addEventListener('pagehide', () => source?.close())
}
