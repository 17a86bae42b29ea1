// <button data-copy="text">: puts the text on the clipboard and says so. The
// clipboard API is closed on plain http other than localhost; then a selection
// and the old command do it.
document.addEventListener('click', async e => {
  const button = e.target.closest?.('button[data-copy]')
  if (!button) return
  const done = await copy(button.dataset.copy)
  const note = button.querySelector('[data-copy-note]')
  if (note) note.textContent = done ? 'Copied' : 'Select the text and copy it yourself'
  button.dataset.copied = done ? 'yes' : 'no'
  setTimeout(() => { delete button.dataset.copied; if (note) note.textContent = '' }, 2000)
})

async function copy (text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    area.readOnly = true
    area.className = 'sr-only'
    document.body.append(area)
    area.select()
    const done = document.execCommand('copy')
    area.remove()
    return done
  }
}
