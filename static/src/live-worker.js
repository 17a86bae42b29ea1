// One event stream per browser, however many tabs are open: a browser allows
// six connections per host on HTTP/1.1, and a stream in each tab would use
// them up. Tabs say "hello" and "bye"; each "changed" event goes to all, and
// { lost } when the stream has been gone for a while or is back.
import { link, signedOut } from './link.js'

const ports = new Set()
const tell = what => ports.forEach(p => p.postMessage(what))
const state = link(lost => tell({ lost }), () => { source?.close(); open() })
let source
let retry

onconnect = e => {
  const port = e.ports[0]
  port.onmessage = ({ data }) => {
    if (data === 'hello') {
      ports.add(port)
      open()
      port.postMessage({ lost: state.lost() })
      port.postMessage('*') // whatever happened before: look once
    } else if (data === 'bye') {
      ports.delete(port)
      if (ports.size === 0) close()
    }
  }
}

function open () {
  if (source && source.readyState !== EventSource.CLOSED) return
  clearTimeout(retry)
  let first = true
  const mine = source = new EventSource('/events')
  source.addEventListener('changed', e => { state.heard(); tell(e.data) })
  source.addEventListener('alive', e => state.heard(Number(e.data)))
  // Events may have been missed between two connections.
  source.onopen = () => { state.back(); if (!first) tell('*'); first = false }
  // The browser reconnects by itself after a broken connection, but gives up
  // for good after an error status (a proxy's 502, an ended session).
  source.onerror = async () => {
    state.broke()
    if (source?.readyState !== EventSource.CLOSED) return
    first = false
    retry = setTimeout(reopen, 10_000)
    if (await signedOut() && source === mine) state.over()
  }
}

function reopen () {
  if (ports.size === 0) return
  open()
  tell('*')
}

function close () {
  clearTimeout(retry)
  source?.close()
  source = undefined
  state.over()
}
