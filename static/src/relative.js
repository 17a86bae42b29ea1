// How a moment is said. The same words as ui.Relative in views/ui/time.go; a
// test there runs both over one table.
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

// relative takes two times in milliseconds since the epoch.
export function relative (then, now) {
  const s = Math.floor(Math.abs(now - then) / 1000)
  const whole = unit => then > now ? Math.ceil(s / unit) : Math.floor(s / unit)
  const say = n => then > now ? `in ${n}` : `${n} ago`
  if (s < 10) return 'just now'
  if (s < 60) return say(`${s} s`)
  if (s < 3600) return say(`${whole(60)} min`)
  if (s < 86400) return say(`${whole(3600)} h`)
  if (s < 2 * 86400) return say('1 day')
  if (s < 30 * 86400) return say(`${whole(86400)} days`)
  const d = new Date(then)
  return `${d.getUTCDate()} ${months[d.getUTCMonth()]} ${d.getUTCFullYear()}`
}
