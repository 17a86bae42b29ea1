// The command palette (Ctrl or Cmd with K) and the keyboard's moves: "?" shows
// them. Nothing here works while somebody types in a field or has to answer a
// question. The entries are the server's: pages come with the page, plans are
// fetched by the field's own htmx attributes (views/palette.templ).
import htmx from './htmx.js'

const pause = 1200 // ms between "g" and the key that says where to
let going = 0 // when "g" was pressed
let stale = false // the plans shown are those of earlier words
let moved = false // the reader chose an entry since the words changed
let waiting = false // Enter was pressed before the plans came

const hands = 3000 // ms between two keys of one text
let field // that was typed in last
let typedAt = 0

const palette = () => document.getElementById('palette')
const input = () => document.getElementById('palette-input')
const plans = () => document.getElementById('palette-plans')
const options = () => [...palette().querySelectorAll('[role="option"]')].filter(o => o.checkVisibility())
const active = () => palette().querySelector('[role="option"][aria-selected="true"]')

const untyped = ['checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'file', 'color', 'range']

function typing (el) {
  if (!(el instanceof Element)) return false
  if (el instanceof HTMLInputElement) return !untyped.includes(el.type)
  return el.isContentEditable || el.closest('textarea, select, [role="textbox"], [role="combobox"]') !== null
}

// stillTyping: a live update took the field away under the reader's hands, and the
// keys that follow are its text.
function stillTyping (e) {
  if (!field || field.checkVisibility() || e.timeStamp - typedAt > hands || e.ctrlKey || e.metaKey || ['Tab', 'Escape'].includes(e.key)) return false
  typedAt = e.timeStamp
  return true
}

document.addEventListener('keydown', e => {
  if (!palette() || e.defaultPrevented || e.isComposing) return
  const k = e.key.toLowerCase()
  const command = k === 'k' && e.ctrlKey !== e.metaKey && !e.altKey && !e.shiftKey
  if (palette().open) {
    if (command) { e.preventDefault(); palette().close(); input().blur() } else inside(e) // or the next key is the hidden field's
    return
  }
  if (typing(e.target)) { field = e.target; typedAt = e.timeStamp; return }
  if (stillTyping(e) || document.querySelector('dialog:modal')) return
  if (command) { e.preventDefault(); open(); return }
  if (e.ctrlKey || e.metaKey || e.altKey) return
  if (k === '?') { e.preventDefault(); help(); return }
  const second = going > 0 && e.timeStamp - going < pause // a page that has just come has seen no "g"
  going = 0
  if (second && /^[a-z]$/.test(k)) {
    const to = palette().querySelector(`[data-go="${k}"]`)
    if (to) { e.preventDefault(); to.click() }
  } else if (k === 'g' && !e.repeat) {
    going = e.timeStamp
  }
})

function inside (e) {
  if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
    e.preventDefault()
    const all = options()
    if (all.length === 0) return
    const at = all.indexOf(active())
    const step = e.key === 'ArrowDown' ? 1 : -1
    moved = true
    mark(all[at < 0 ? (step > 0 ? 0 : all.length - 1) : (at + step + all.length) % all.length])
  } else if (e.key === 'Enter') {
    e.preventDefault()
    const chosen = active()
    if (stale && !moved && (!chosen || plans().contains(chosen))) waiting = true
    else chosen?.click()
  }
}

function open () {
  input().value = ''
  filter()
  palette().showModal()
  input().focus()
  fresh()
  htmx.trigger(input(), 'palette-open')
}

function help () { document.getElementById('keys').showModal() }

// filter shows the pages that have all the words, and begins at the first one.
function filter () {
  const words = input().value.toLowerCase().split(/\s+/).filter(Boolean)
  const pages = document.getElementById('palette-pages')
  for (const o of pages.children) {
    const has = o.dataset.words.toLowerCase()
    o.hidden = !words.every(w => has.includes(w))
  }
  pages.hidden = [...pages.children].every(o => o.hidden)
}

// fresh begins again with new words: the plans shown are not theirs yet.
function fresh () {
  stale = true
  moved = waiting = false
  say('')
  mark(options()[0])
}

function mark (option) {
  active()?.setAttribute('aria-selected', 'false')
  if (!option) { input().removeAttribute('aria-activedescendant'); return }
  option.setAttribute('aria-selected', 'true')
  input().setAttribute('aria-activedescendant', option.id)
  option.scrollIntoView({ block: 'nearest' })
}

function say (text) { document.getElementById('palette-note').textContent = text }

document.addEventListener('input', e => { if (e.target === input()) { filter(); fresh() } })

document.addEventListener('htmx:beforeSwap', e => { if (e.target === plans()) e.target.dataset.was = active()?.id ?? '' })
document.addEventListener('htmx:afterSwap', e => {
  if (e.target !== plans()) return
  const asked = new URL(e.detail.xhr.responseURL, location.href).searchParams.get('q') ?? ''
  if (asked.trim() !== input().value.trim()) return // a late answer to earlier words: theirs is still to come
  stale = false
  const was = moved && document.getElementById(e.target.dataset.was)
  mark(was || options()[0])
  if (options().length === 0) say('Nothing has these words.')
  if (waiting) active()?.click()
  waiting = false
})
for (const failed of ['htmx:sendError', 'htmx:responseError', 'htmx:timeout']) {
  document.addEventListener(failed, e => {
    if (e.detail.elt !== input()) return
    stale = waiting = false
    plans().replaceChildren()
    mark(options()[0])
    say('Plans could not be searched. Try again in a moment.')
  })
}

document.addEventListener('pointermove', e => {
  if (e.movementX === 0 && e.movementY === 0) return // the list moved under a resting mouse
  const option = e.target.closest?.('#palette [role="option"]')
  if (option && option !== active()) { moved = true; mark(option) }
})

document.addEventListener('click', e => {
  const opener = e.target.closest?.('[data-open-palette]')
  if (opener && palette() && !(e.ctrlKey || e.metaKey || e.shiftKey)) { e.preventDefault(); open(); return }
  const option = e.target.closest?.('#palette [role="option"]')
  if (option) {
    if (!(e.ctrlKey || e.metaKey || e.shiftKey)) palette().close() // or it would be open on the way back
    if ('openKeys' in option.dataset) help()
  } else if (!('closedBy' in HTMLDialogElement.prototype) && e.target === palette()) {
    palette().close()
  }
})
