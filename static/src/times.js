// <time data-relative datetime="…">: "3 min ago" that stays true while the page
// is open. The words are those of ui.Relative in views/ui; the clock is the
// server's, so that a wrong one on the reader's machine does no harm.
const served = document.querySelector('meta[name="server-now"]')?.content
const ahead = served ? Date.parse(served) - Date.now() : 0

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

export function relative (then, now) {
  const future = then - now > 0
  const s = Math.floor(Math.abs(now - then) / 1000)
  const say = n => future ? `in ${n}` : `${n} ago`
  if (s < 10) return 'just now'
  if (s < 60) return say(`${s} s`)
  if (s < 3600) return say(`${Math.floor(s / 60)} min`)
  if (s < 86400) return say(`${Math.floor(s / 3600)} h`)
  if (s < 2 * 86400) return say('1 day')
  if (s < 30 * 86400) return say(`${Math.floor(s / 86400)} days`)
  const d = new Date(then)
  return `${d.getUTCDate()} ${months[d.getUTCMonth()]} ${d.getUTCFullYear()}`
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })

function update () {
  if (document.hidden) return
  document.querySelectorAll('time[data-relative]').forEach(el => {
    const then = Date.parse(el.dateTime)
    if (Number.isNaN(then)) return
    const text = relative(then, Date.now() + ahead)
    if (el.textContent !== text) el.textContent = text
    el.title = exact.format(then) // in the reader's own zone
  })
}

setInterval(update, 10_000)
document.addEventListener('visibilitychange', update)
document.addEventListener('htmx:afterSettle', update)
update()
