// What is typed into a verb's small form outlives the form: live updates take it
// away when somebody else decides, another form's answer brings a fresh page,
// and a session that ended leads over the login. The text is put back into the
// form, or shown where the form is not offered any more.
const texts = new Map() // verb's key -> { field's name: text }
const sent = new Map() // form on its way -> verb's key: a live update may take the form away before its answer is there
const place = () => 'typed:' + location.pathname
const own = 'main form[method="post" i]'

function keyOf (form) {
  const at = form.closest('details[data-verb][id], dialog[id]')
  return form.matches(own) && !form.dataset.draft && at ? at.id : ''
}

function fields (form) {
  return [...form.elements].filter(f => f.name && (f instanceof HTMLTextAreaElement || f instanceof HTMLInputElement && f.type === 'text'))
}

document.addEventListener('input', e => {
  const form = e.target.form
  const key = form && keyOf(form)
  if (!key) return
  const written = fields(form).filter(f => f.value !== f.defaultValue && f.value.trim())
  if (written.length) texts.set(key, Object.fromEntries(written.map(f => [f.name, f.value])))
  else texts.delete(key)
})

// What was taken, or comes back with the reason why not, is the server's.
document.addEventListener('htmx:beforeSend', e => {
  const form = e.detail.requestConfig?.elt
  const key = form instanceof HTMLFormElement && keyOf(form)
  if (key) sent.set(form, key)
})
document.addEventListener('htmx:beforeSwap', e => {
  if (e.detail.shouldSwap) texts.delete(sent.get(e.detail.requestConfig?.elt))
})
document.addEventListener('htmx:afterRequest', e => {
  if (sent.delete(e.detail.requestConfig?.elt) && texts.size) putBack()
})

// A form that came back refused is not sent yet: its text is the reader's again.
document.addEventListener('htmx:afterSettle', () => {
  document.querySelectorAll(`${own}:has([aria-invalid="true"], [role="alert"])`).forEach(form => {
    const written = fields(form).filter(f => f.value.trim())
    if (keyOf(form) && written.length) texts.set(keyOf(form), Object.fromEntries(written.map(f => [f.name, f.value])))
  })
  putBack()
})

function putBack () {
  texts.forEach((values, key) => {
    const at = document.getElementById(key)
    const form = at?.querySelector('form')
    if (!form) {
      if ([...sent.values()].includes(key)) return
      texts.delete(key)
      tell(Object.values(values))
      return
    }
    for (const f of fields(form)) {
      if (!(f.name in values) || f.value !== f.defaultValue) continue
      f.value = values[f.name]
      if (at instanceof HTMLDetailsElement) at.open = true
    }
  })
}

// tell shows texts whose form has gone.
function tell (lines) {
  const box = document.createElement('div')
  box.className = 'alert'
  box.dataset.typed = ''
  box.setAttribute('role', 'alert')
  const p = document.createElement('p')
  p.className = 'whitespace-pre-line'
  p.textContent = ['Somebody decided this meanwhile, or the plan has moved on: what you were writing for is not asked any more. What you had typed:', ...lines].join('\n')
  box.append(p)
  document.getElementById('flash')?.append(box)
  box.scrollIntoView({ block: 'nearest' })
  if (!document.activeElement?.checkVisibility() || document.activeElement === document.body) { // the field that was typed in is gone: the keys that follow are no shortcuts
    box.tabIndex = -1
    box.focus({ preventScroll: true })
  }
}

// Over a login and a reload, in this tab alone.
addEventListener('pagehide', () => {
  try {
    if (texts.size) sessionStorage.setItem(place(), JSON.stringify([...texts]))
    else sessionStorage.removeItem(place())
  } catch { /* storage is off or full: the page works without */ }
})
document.addEventListener('DOMContentLoaded', () => {
  try {
    JSON.parse(sessionStorage.getItem(place()) ?? '[]').forEach(([key, values]) => texts.set(key, values))
    sessionStorage.removeItem(place())
  } catch { return }
  putBack()
})
document.addEventListener('submit', e => {
  if (!e.target.action?.endsWith('/logout')) return
  texts.clear()
  try {
    Object.keys(sessionStorage).filter(k => k.startsWith('typed:')).forEach(k => sessionStorage.removeItem(k))
  } catch { /* as above */ }
}, true)
