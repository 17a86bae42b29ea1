// Printing shows what is folded away. The style sheet does it by itself where
// browsers can (::details-content); for others folds are opened for the print.
let opened = []
if (!CSS.supports('selector(::details-content)')) {
  addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll('details:not([open])')].filter(d => !d.querySelector('[data-menu]'))
    opened.forEach(d => { d.open = true })
  })
  addEventListener('afterprint', () => { opened.forEach(d => { d.open = false }); opened = [] })
}
