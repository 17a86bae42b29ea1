// Forms that post: sent in the background, their buttons disabled meanwhile,
// and brought back with a message beside them when it did not work. What was
// typed is never lost. A form with data-plain is left to the browser.
//
// The server sees an ordinary form post and answers an ordinary page: a
// redirect, or the same form with messages (any 4xx page is shown).
import htmx from './htmx.js'

const plain = 'form[data-plain], [data-bare] form' // logging in and out loads a fresh page
const enhanced = 'form[method="post" i]'

document.addEventListener('htmx:beforeProcessNode', e => {
  const form = e.target
  if (form.matches(enhanced) && !form.matches(plain)) form.setAttribute('hx-boost', 'true')
})

document.addEventListener('htmx:configRequest', e => {
  // Without this header the server answers with the whole page, as it would
  // without scripts: HX-Request is for fragments only.
  if (boosted(e.detail.elt)) delete e.detail.headers['HX-Request']
})

const loginPath = () => document.querySelector('meta[name="login-path"]')?.content

document.addEventListener('htmx:beforeSwap', e => {
  const { xhr, requestConfig } = e.detail // its elt is the target here
  const source = requestConfig?.elt
  if (!source) return
  if (boosted(source)) {
    const arrived = xhr.responseURL ? new URL(xhr.responseURL).pathname : ''
    if (arrived === loginPath() && location.pathname !== arrived) {
      e.detail.shouldSwap = false
      say(source, 'Your session has ended, so nothing was changed. What you typed is still here: log in again in another tab, then send it once more.')
    } else if (xhr.status >= 400 && xhr.status < 500 && isPage(xhr)) {
      e.detail.shouldSwap = true
      e.detail.isError = false
    }
  } else if (xhr.status === 409 || xhr.status === 422) {
    e.detail.shouldSwap = true // a fragment with the reasons or the fields' messages
    e.detail.isError = false
  } else if (xhr.status === 401) {
    signedOut()
  }
})

// signedOut says that the page gets no news any more. It stays where it is: what
// was typed and is read on it is the reader's.
function signedOut () {
  const flash = document.getElementById('flash')
  if (!flash || document.querySelector('[data-signed-out]')) return
  const box = document.createElement('div')
  box.className = 'alert'
  box.dataset.signedOut = ''
  const p = document.createElement('p')
  p.textContent = 'You are signed out: this page shows what was there then, and nothing newer. '
  const a = document.createElement('a')
  a.className = 'underline underline-offset-2'
  a.textContent = 'Log in again'
  a.href = loginPath() + '?next=' + encodeURIComponent(location.pathname + location.search)
  p.append(a)
  box.append(p)
  flash.append(box)
}

document.addEventListener('htmx:beforeRequest', e => {
  const form = postForm(e.detail)
  if (!form) return
  unsay(form)
  busy(form, e.detail.requestConfig?.triggeringEvent?.submitter)
})
document.addEventListener('htmx:afterRequest', e => { const form = postForm(e.detail); if (form) idle(form) })
document.addEventListener('htmx:sendError', e => fail(e, 'The server could not be reached. What you typed is still here: try again in a moment.'))
document.addEventListener('htmx:timeout', e => fail(e, 'The server took too long to answer. Reload the page to see what happened before trying again.'))
document.addEventListener('htmx:responseError', e => fail(e, `The server answered with an error (${e.detail.xhr.status}). What you typed is still here: try again, and tell an admin if it stays.`))

// Forms the browser sends itself: disabled once the submit event is through
// (a disabled button's own name and value would not be sent), and brought back
// when the reader returns to the page.
document.addEventListener('submit', e => {
  if (e.target.matches(plain) && !e.defaultPrevented) setTimeout(() => busy(e.target, e.submitter))
})
addEventListener('pageshow', () => document.querySelectorAll('form:has([data-busy])').forEach(idle))

function boosted (elt) { return elt instanceof HTMLFormElement && elt.getAttribute('hx-boost') === 'true' }

function isPage (xhr) { return (xhr.getResponseHeader('Content-Type') ?? '').startsWith('text/html') }

// postForm is the form whose buttons belong to a request: reads never disable
// anything, and neither do previews, which ask while somebody types (data-quiet).
function postForm (detail) {
  if ('quiet' in detail.elt.dataset) return null
  const verb = detail.requestConfig?.verb
  return verb && verb !== 'get' ? detail.elt.closest('form') : null
}

function buttons (form) { return [...form.elements].filter(b => b instanceof HTMLButtonElement && b.type === 'submit') }

function busy (form, submitter) {
  for (const b of buttons(form)) {
    if (b.disabled) continue
    b.dataset.busy = b === document.activeElement ? 'focused' : ''
    b.disabled = true
    if (submitter && b !== submitter) b.dataset.busy = 'quiet'
  }
  form.setAttribute('aria-busy', 'true')
}

function idle (form) {
  for (const b of buttons(form)) {
    if (!('busy' in b.dataset)) continue
    b.disabled = false
    if (b.dataset.busy === 'focused') b.focus()
    delete b.dataset.busy
  }
  form.removeAttribute('aria-busy')
}

function fail (e, text) {
  const form = postForm(e.detail)
  if (form) say(form, text)
}

const said = new Map() // form -> its message, which may stand outside of it

// Live updates leave messages alone; one whose form has gone goes too.
document.addEventListener('htmx:afterSettle', () => said.forEach((_, form) => { if (!form.isConnected) unsay(form) }))

function unsay (form) {
  said.get(form)?.remove()
  said.delete(form)
}

// say shows text beside the form's last button, read out by screen readers.
function say (form, text) {
  const last = buttons(form).at(-1)
  const p = document.createElement('p')
  p.dataset.requestError = ''
  p.setAttribute('role', 'alert')
  p.className = 'request-error'
  p.textContent = text
  unsay(form)
  said.set(form, p)
  const row = last?.closest('[data-actions]')
  if (row && !form.contains(row)) row.append(p) // a row of several forms
  else if (row ?? last) (row ?? last).after(p)
  else form.append(p)
  htmx.trigger(form, 'request-failed')
}
