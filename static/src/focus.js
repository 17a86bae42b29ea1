// A form that comes back with a new part names it in data-focus="id": the
// reader goes on there.
document.addEventListener('htmx:afterSettle', e => {
  const form = e.target.matches?.('form[data-focus]') ? e.target : e.target.querySelector?.('form[data-focus]')
  if (!form) return
  document.getElementById(form.dataset.focus)?.focus()
  delete form.dataset.focus
})
