// Makes the copy buttons work. They need script, so they are hidden until this script shows them.
const said = document.createElement('p')
said.className = 'hidden'
said.setAttribute('role', 'status')

function showButtons() {
  for (const button of document.querySelectorAll('[data-copy]')) button.hidden = false
}

async function copy(button) {
  const source = document.querySelector(button.dataset.copy)
  try {
    await navigator.clipboard.writeText(source.textContent)
  } catch {
    // Pages over plain http may not write to the clipboard; the selected text can be copied by hand.
    getSelection().selectAllChildren(source)
    return
  }
  const name = button.textContent
  if (name === button.dataset.copied) return
  button.textContent = button.dataset.copied
  said.textContent = button.dataset.copied
  setTimeout(() => {
    button.textContent = name
    said.textContent = ''
  }, 2000)
}

document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest('[data-copy]') : null
  if (button) void copy(button)
})
document.body.append(said)
document.addEventListener('followed', showButtons)
showButtons()
