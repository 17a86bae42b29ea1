// hx-swap="morph" and "morph:innerHTML": a fragment is merged into the page
// instead of replacing it, so that focus, selection and scroll positions stay.
// idiomorph's own htmx extension evaluates swap options as code, which the
// content security policy forbids: hence this one without options.
import { Idiomorph } from 'idiomorph'
import htmx from './htmx.js'

const styles = { morph: 'outerHTML', 'morph:outerHTML': 'outerHTML', 'morph:innerHTML': 'innerHTML' }

htmx.defineExtension('morph', {
  isInlineSwap: style => styles[style] === 'outerHTML',
  handleSwap: (style, target, fragment) =>
    styles[style] ? Idiomorph.morph(target, fragment.children, { morphStyle: styles[style] }) : false
})

// What is fetched is parsed as if there were no scripts: a <noscript> would bring
// elements, with the ids of those that it stands in for. No text of ours holds
// that tag, since it is escaped there.
document.addEventListener('htmx:beforeSwap', e => {
  e.detail.serverResponse = e.detail.serverResponse?.replace(/<noscript>[\s\S]*?<\/noscript>/g, '')
})

// What the reader did since the page came stays as it is: an opened fold, an
// open dialog (losing its "open" would leave the page behind it dead), a menu.
const state = new Set(['open', 'hidden', 'inert', 'aria-expanded', 'aria-selected'])
const keeps = 'details, dialog, [popover], [data-keep-state]'

Idiomorph.defaults.ignoreActiveValue = true
Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) =>
  name !== 'hx-boost' && // forms.js has set it: without it a form's answer is taken for a fragment
  !(state.has(name) && node.matches(keeps)) && !(name === 'data-busy' || name === 'data-here' || (name === 'disabled' && 'busy' in node.dataset))

// The message of a failed request (forms.js) is not the server's to take away,
// and no later news take away what was refused: it is read until the next try,
// or until the form's own buttons bring something else.
let asking // the element whose answer is being merged
document.addEventListener('htmx:beforeSwap', e => { asking = e.detail.requestConfig?.elt })
Idiomorph.defaults.callbacks.beforeNodeRemoved = node => !(node instanceof Element && node.matches('[data-request-error], [data-refused]'))
const refused = 'main form:has([aria-invalid="true"], [role="alert"]:not([data-request-error]))'

// A field that was typed into or chosen is the reader's until it is sent.
Idiomorph.defaults.callbacks.beforeNodeMorphed = old => {
  if (!(old instanceof Element)) return true
  if (old.matches(refused) && !old.contains(asking ?? null)) return false
  if (old instanceof HTMLTextAreaElement) return old.value === old.defaultValue
  if (old instanceof HTMLSelectElement) return [...old.options].every(o => o.selected === o.defaultSelected)
  if (!(old instanceof HTMLInputElement)) return true
  if (old.type === 'hidden') return old.name !== 'seen' || !old.form || !typedInto(old.form)
  if (old.type === 'checkbox' || old.type === 'radio') return old.checked === old.defaultChecked
  return old.value === old.defaultValue
}

// typedInto says whether a form holds something of the reader's: what they had
// before them when they began ("seen") then stays with it.
function typedInto (form) {
  return [...form.elements].some(f => (f instanceof HTMLTextAreaElement || f instanceof HTMLInputElement && f.type !== 'hidden') && f.value !== f.defaultValue)
}
