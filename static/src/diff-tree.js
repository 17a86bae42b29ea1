// The tree of changed files by keyboard: up and down go from row to row, left
// and right close and open a folder. A file that is gone to opens.
const rows = tree => [...tree.querySelectorAll('a, summary')].filter(el => el.checkVisibility())

document.addEventListener('keydown', e => {
  const tree = e.target.closest?.('[data-diff-tree]')
  if (!tree || e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey) return
  const all = rows(tree)
  const at = all.indexOf(e.target)
  if (at < 0) return
  const folder = e.target.matches('summary') ? e.target.parentElement : undefined
  const above = e.target.closest('ul').closest('details')
  switch (e.key) {
    case 'ArrowDown': all[at + 1]?.focus(); break
    case 'ArrowUp': all[at - 1]?.focus(); break
    case 'Home': all[0].focus(); break
    case 'End': all.at(-1).focus(); break
    case 'ArrowRight': if (folder && !folder.open) folder.open = true; else all[at + 1]?.focus(); break
    case 'ArrowLeft': if (folder?.open) folder.open = false; else above?.querySelector('summary').focus(); break
    default: return
  }
  e.preventDefault()
})

function openTarget () {
  const file = location.hash.startsWith('#file-') && (document.getElementById(location.hash.slice(1)) ?? document.getElementById(decodeURIComponent(location.hash.slice(1))))
  if (file instanceof HTMLDetailsElement) file.open = true
}
addEventListener('hashchange', openTarget)
document.addEventListener('DOMContentLoaded', openTarget)
if (document.readyState !== 'loading') openTarget()
