// <time data-relative datetime="…">: "3 min ago" that stays true while the page
// is open. The words are those of ui.Relative in views/ui; the clock is the
// server's, so that a wrong one on the reader's machine does no harm.
import { lostSince } from './connection.js'
import { relative } from './relative.js'

const served = document.querySelector('meta[name="server-now"]')?.content
const ahead = served ? Date.parse(served) - Date.now() : 0

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })

function update () {
  if (document.hidden) return
  const now = (lostSince() ?? Date.now()) + ahead
  document.querySelectorAll('time[data-relative]').forEach(el => {
    const then = Date.parse(el.dateTime)
    if (Number.isNaN(then)) return
    const text = relative(then, now)
    if (el.textContent !== text) el.textContent = text
    el.title = exact.format(then) // in the reader's own zone
  })
}

setInterval(update, 10_000)
document.addEventListener('visibilitychange', update)
document.addEventListener('donewhen:connection', update)
document.addEventListener('htmx:afterSettle', update)
update()
