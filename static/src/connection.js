// Says when nothing new arrives. Until it does again the page's times stand
// still: something that seems to go on may have ended long ago.
const served = document.querySelector('meta[name="server-now"]')?.content
const ahead = served ? Date.parse(served) - Date.now() : 0 // the server's clock, as in times.js
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

let since = null

// lostSince is when the connection broke, null while it is there.
export const lostSince = () => since

export function connection (lost) {
  since = lost
  show()
  document.dispatchEvent(new CustomEvent('donewhen:connection'))
}

function show () {
  const line = document.querySelector('#connection p')
  if (!line) return
  const text = since === null ? '' : `Connection lost at ${clock.format(since + ahead)}. What you see may be old; trying again.`
  if (line.textContent !== text) line.textContent = text
  line.hidden = since === null
}

document.addEventListener('htmx:afterSettle', show) // a page that was put in place of this one
