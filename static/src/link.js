// Whether the stream is there. A break that heals at the browser's first try is
// nobody's business; one that lasts is said once, with when it began, and so is
// its end (null). A stream that is silent for longer than its server said it would
// be is broken too, though nobody closed it (a server that hangs, a computer that
// slept): renew opens another one.
const patience = 3500 // ms; browsers try again after 3000

export function link (say, renew) {
  let since = null
  let lost = false
  let timer
  let quiet
  let beat = 0 // ms; 0 = the server did not say how often it is heard
  const watch = () => {
    clearTimeout(quiet)
    if (beat) quiet = setTimeout(() => { state.broke(); renew(); watch() }, 2.5 * beat)
  }
  const state = {
    heard (every) {
      if (every) beat = every
      watch()
    },
    broke () {
      if (since !== null) return
      since = Date.now()
      timer = setTimeout(() => { lost = true; say(since) }, patience)
    },
    back () {
      clearTimeout(timer)
      since = null
      if (lost) { lost = false; say(null) }
    },
    over () { // nobody listens any more, or may
      clearTimeout(quiet)
      state.back()
    },
    lost: () => lost ? since : null
  }
  return state
}

// signedOut asks whether the server refuses the stream because the session has
// ended: that is no lost connection, and the page's parts say it.
export async function signedOut () {
  const stop = new AbortController()
  try {
    const answer = await fetch('/events', { signal: stop.signal })
    stop.abort()
    return answer.status === 401
  } catch { return false }
}
