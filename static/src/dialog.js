// <button command="show-modal" commandfor="id"> for browsers that do not know
// these attributes yet: the two commands the pages use, nothing more.
if (!('command' in HTMLButtonElement.prototype)) {
  document.addEventListener('click', e => {
    const button = e.target.closest?.('button[commandfor]')
    const dialog = button && document.getElementById(button.getAttribute('commandfor'))
    if (!(dialog instanceof HTMLDialogElement)) return
    if (button.getAttribute('command') === 'show-modal') dialog.showModal()
    if (button.getAttribute('command') === 'close') dialog.close()
  })
}
