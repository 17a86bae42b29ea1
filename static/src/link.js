// Whether the stream is there. A break that heals at the browser's first try is
// nobody's business; one that lasts is said once, with when it began, and so is
// its end (null).
const patience = 3500 // ms; browsers try again after 3000

export function link (say) {
  let since = null
  let lost = false
  let timer
  return {
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
    lost: () => lost ? since : null
  }
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
