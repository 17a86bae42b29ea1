// How much waits on the reader: in the menu, at both widths, and in the title of
// the tab. One hidden live part asks for it; the inbox writes its own title.
document.addEventListener('htmx:afterSettle', e => {
  const live = e.target.closest?.('[data-inbox-live]')
  if (!live) return
  document.querySelectorAll('[data-inbox-count]').forEach(place => {
    if (place.innerHTML.trim() !== live.innerHTML.trim()) place.innerHTML = live.innerHTML.trim()
  })
  if (document.querySelector('[data-inbox-count]')?.closest('a[aria-current="page"]') || document.querySelector('nav a[aria-current="page"] [data-inbox-count]')) return
  const n = live.firstElementChild?.firstChild.textContent.trim()
  const title = document.title.replace(/^\(\d+\) /, '')
  document.title = n ? `(${n}) ${title}` : title
})
