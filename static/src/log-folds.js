// Folds of a log while it grows. The server folds what a page begins with and
// sends each line with what it is to the folds; this does the same to the lines
// that come later: a group takes what follows until it ends, and what says the
// same five times running is folded but for the first and the last of it.

const repeats = 5

// size is how many lines an element holds.
export const size = el => el.tagName === 'P' ? 1 : el.querySelectorAll('p').length

const count = fold => {
  const n = size(fold)
  fold.querySelector('[data-log-count]').textContent = n === 1 ? '1 line' : `${n} lines`
}

// place adds a row, or the fold that a group's first row comes in.
export function place (rows, row) {
  const last = rows.lastElementChild
  const group = last?.matches('details[data-log-fold="group"]:not([data-ended])') ? last : undefined
  if (group && row.matches('details')) group.dataset.ended = '' // groups do not nest
  const into = group && !row.matches('details') ? group : rows
  if (row.matches('p[data-same]')) repeat(into, row)
  into.append(row)
  if (!group || into !== group) return
  count(group)
  if (row.matches('[data-group-end]')) group.dataset.ended = ''
}

// repeat folds the rows before one that says the same again.
function repeat (into, row) {
  const last = into.lastElementChild
  const before = last?.previousElementSibling
  if (!last?.matches('p')) return
  if (last.matches('[data-same]') && before?.matches('details[data-log-fold="repeat"]')) {
    before.append(last)
    count(before)
    return
  }
  const same = []
  for (let r = last; same.length < repeats - 2; r = r.previousElementSibling) {
    if (!r?.matches('p[data-same]')) return
    same.unshift(r)
  }
  const fold = into.closest('[data-log]').querySelector('template[data-log-repeat]').content.querySelector('details').cloneNode(true)
  same[0].before(fold)
  fold.append(...same)
  count(fold)
}
