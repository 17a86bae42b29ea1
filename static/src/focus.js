// A form that comes back with a new part names it in data-focus="id": the
// reader goes on there.
document.addEventListener('htmx:afterSettle', e => {
  const form = e.target.matches?.('form[data-focus]') ? e.target : e.target.querySelector?.('form[data-focus]')
  if (!form) return
  document.getElementById(form.dataset.focus)?.focus()
  delete form.dataset.focus
})

// A form that comes back refused: the reader goes on at the first field to mend.
document.addEventListener('htmx:afterSettle', e => {
  const asked = e.detail.requestConfig
  if (asked?.verb !== 'post' || !(asked.elt instanceof HTMLFormElement) || document.querySelector('form[data-focus]')) return
  document.querySelector('main [aria-invalid="true"]')?.focus()
})
