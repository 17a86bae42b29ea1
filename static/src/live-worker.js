// One event stream per browser, however many tabs are open: a browser allows
// six connections per host on HTTP/1.1, and a stream in each tab would use
// them up. Tabs say "hello" and "bye"; each "changed" event goes to all.
const ports = new Set()
let source
let retry

onconnect = e => {
  const port = e.ports[0]
  port.onmessage = ({ data }) => {
    if (data === 'hello') {
      ports.add(port)
      open()
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
  source = new EventSource('/events')
  source.addEventListener('changed', e => ports.forEach(p => p.postMessage(e.data)))
  // Events may have been missed between two connections.
  source.onopen = () => { if (!first) ports.forEach(p => p.postMessage('*')); first = false }
  // The browser reconnects by itself after a broken connection, but gives up
  // for good after an error status (a proxy's 502, an ended session).
  source.onerror = () => { if (source?.readyState === EventSource.CLOSED) { first = false; retry = setTimeout(reopen, 10_000) } }
}

function reopen () {
  if (ports.size === 0) return
  open()
  ports.forEach(p => p.postMessage('*'))
}

function close () {
  clearTimeout(retry)
  source?.close()
  source = undefined
}
