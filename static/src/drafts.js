// What is typed into a long form is kept in this browser until it is sent, so
// that a lost session, a closed tab or the back button costs nothing.
//
//   <form data-draft="new-plan" data-draft-op="update">
//
// The form is kept as the list of its names and values. With data-draft-op the
// server makes the form of it again, with as many parts as it had, by the same
// address that the form's buttons ask; otherwise the values are put in here.
// Fields with data-draft-skip are the page's own.
import htmx from './htmx.js'
import { relative } from './relative.js'

const life = 7 * 24 * 3600 * 1000 // ms that a draft is offered for
const formOf = elt => elt?.closest?.('form[data-draft]')
const key = form => 'draft:' + form.dataset.draft

function entries (form) {
  const skip = new Set([...form.querySelectorAll('[data-draft-skip]')].map(i => i.name))
  return [...new FormData(form)].filter(([name, value]) => typeof value === 'string' && !skip.has(name))
}

// The form as the server sent it: a form like that is no draft.
const served = new WeakMap()
const text = form => JSON.stringify(entries(form))

function read (form) {
  try {
    const draft = JSON.parse(localStorage.getItem(key(form)))
    if (!draft || Date.now() - draft.at > life || !Array.isArray(draft.entries)) return null
    return draft
  } catch { return null }
}

function save (form) {
  if (!form.isConnected || text(form) === served.get(form)) return
  try {
    localStorage.setItem(key(form), JSON.stringify({ at: Date.now(), entries: entries(form) }))
  } catch { /* no room, or storage is off: the page works without */ }
}

function forget (form) {
  try { localStorage.removeItem(key(form)) } catch { /* as above */ }
}

const timers = new Map()
function typed (e) {
  const form = formOf(e.target)
  if (!form) return
  clearTimeout(timers.get(form))
  timers.set(form, setTimeout(() => { timers.delete(form); save(form) }, 300))
}
document.addEventListener('input', typed)
document.addEventListener('change', typed)
addEventListener('pagehide', () => { for (const form of timers.keys()) save(form) })
document.addEventListener('submit', e => { const form = formOf(e.target); if (form) save(form) }, true)

// begin looks at a form that has just come: is there something to offer?
function begin (form) {
  if (served.has(form)) return
  served.set(form, text(form))
  const draft = read(form)
  if (!draft || JSON.stringify(draft.entries) === served.get(form)) return
  // A form that came back refused is what was typed last.
  if (form.querySelector('[aria-invalid="true"], #plan-form-errors')) return
  offer(form, draft)
}

function offer (form, draft) {
  const bar = document.createElement('div')
  bar.className = 'alert draft-offer'
  bar.setAttribute('role', 'status')
  bar.dataset.draftOffer = ''
  const p = document.createElement('p')
  p.textContent = `What you typed here ${relative(draft.at, Date.now())} was not sent.`
  const restore = button('Restore it', () => { bar.remove(); put(form, draft) })
  const drop = button('Forget it', () => { bar.remove(); forget(form) })
  bar.append(p, restore, drop)
  form.before(bar)
}

function button (label, press) {
  const b = document.createElement('button')
  b.type = 'button'
  b.className = 'btn'
  b.dataset.variant = 'outline'
  b.dataset.size = 'sm'
  b.textContent = label
  b.addEventListener('click', press)
  return b
}

function put (form, draft) {
  if (form.dataset.draftOp) {
    const values = {}
    const add = (name, value) => { (values[name] ??= []).push(value) }
    draft.entries.forEach(([name, value]) => add(name, value))
    form.querySelectorAll('[data-draft-skip]').forEach(i => add(i.name, i.value))
    values.op = [form.dataset.draftOp]
    htmx.ajax('POST', form.getAttribute('action'), { source: document.body, target: '#' + form.id, swap: 'outerHTML', values })
    return
  }
  const lists = new Map()
  draft.entries.forEach(([name, value]) => lists.set(name, [...(lists.get(name) ?? []), value]))
  for (const field of form.elements) {
    if (!field.name || field.type === 'hidden' || field.type === 'submit') continue
    if (field.type === 'checkbox' || field.type === 'radio') field.checked = (lists.get(field.name) ?? []).includes(field.value)
    else if (lists.has(field.name)) field.value = lists.get(field.name)[0]
  }
}

// A form that was taken leads to another page: its draft is done with. The
// address of the form itself, or of the login, means that it was not.
document.addEventListener('htmx:beforeSwap', e => {
  const form = formOf(e.detail.requestConfig?.elt)
  if (!form || e.detail.requestConfig.elt !== form) return
  const { xhr } = e.detail
  const arrived = xhr.responseURL && new URL(xhr.responseURL).pathname
  const own = [new URL(form.getAttribute('action'), location).pathname, location.pathname]
  const login = document.querySelector('meta[name="login-path"]')?.content
  if (xhr.status === 200 && arrived && arrived !== login && !own.includes(arrived)) {
    clearTimeout(timers.get(form))
    timers.delete(form)
    forget(form)
    served.set(form, text(form))
  }
})

// Logging out takes everything along: the next reader of this browser may be
// somebody else.
document.addEventListener('submit', e => {
  if (!e.target.action?.endsWith('/logout')) return
  try {
    Object.keys(localStorage).filter(k => k.startsWith('draft:')).forEach(k => localStorage.removeItem(k))
  } catch { /* storage is off: there is nothing */ }
}, true)

const look = () => document.querySelectorAll('form[data-draft]').forEach(begin)
document.addEventListener('htmx:load', look)
document.addEventListener('DOMContentLoaded', look)
