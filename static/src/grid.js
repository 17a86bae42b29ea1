// Marks of a grid by keyboard: the grid is one stop of the Tab key, the arrow
// keys move inside, Escape puts a reason away. Without this script every mark
// is a stop of its own, and everything else is the same.
const grids = '.grid-table'
const marks = '.grid-mark'

document.addEventListener('focusin', e => {
  const mark = e.target.closest?.(marks)
  if (!mark) return
  for (const m of mark.closest(grids).querySelectorAll(marks)) m.tabIndex = m === mark ? 0 : -1
})

document.addEventListener('keydown', e => {
  if (e.key === 'Escape') {
    // An open popover closes itself; one that is only pointed at does not.
    document.querySelectorAll(`${marks}:is(:hover, :focus)`).forEach(m => { m.dataset.quiet = '' })
    return
  }
  const mark = e.target.closest?.(marks)
  if (!mark || e.altKey || e.ctrlKey || e.metaKey || e.shiftKey) return
  const rows = [...mark.closest(grids).querySelectorAll('tbody tr')].map(r => [...r.querySelectorAll(marks)])
  let y = rows.findIndex(r => r.includes(mark))
  let x = rows[y].indexOf(mark)
  switch (e.key) {
    case 'ArrowRight': x++; break
    case 'ArrowLeft': x--; break
    case 'ArrowDown': y++; break
    case 'ArrowUp': y--; break
    case 'Home': x = 0; break
    case 'End': x = rows[y].length - 1; break
    default: return
  }
  e.preventDefault()
  const next = rows[y]?.[x]
  if (!next) return
  document.querySelector('.grid-tip:popover-open')?.hidePopover()
  next.focus()
})

// What was put away comes back the next time.
for (const leaving of ['focusout', 'mouseout']) {
  document.addEventListener(leaving, e => {
    const mark = e.target.closest?.(marks)
    if (mark && !mark.contains(e.relatedTarget)) delete mark.dataset.quiet
  })
}
