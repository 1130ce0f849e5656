// Opens an order with what stands behind the # of its link, which stays in the address bar for its
// owner to keep, and copies what has a button for it.
const pattern = /^#?(k(?:at|op)_[\w-]+(?:\.[\w-]+)?)$/

async function open() {
  const form = document.querySelector('[data-open]')
  const [, token] = pattern.exec(location.hash) ?? []
  if (!form || !token) return
  const body = new URLSearchParams({ token })
  const answer = await fetch(form.action, { method: 'POST', body }).catch(() => undefined)
  // The page comes again in place, so that going back leads to where the visitor came from.
  if (answer?.ok) return location.reload()
  form.elements.namedItem('token').value = token
}

function showButtons() {
  for (const button of document.querySelectorAll('[data-copy]')) button.hidden = false
}

async function copy(button) {
  const source = document.querySelector(button.dataset.copy)
  try {
    await navigator.clipboard.writeText(source.textContent)
  } catch {
    // Pages over plain http may not write there; what is selected can be copied by hand.
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

const said = document.createElement('p')
said.className = 'hidden'
said.setAttribute('role', 'status')
document.body.append(said)

document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest('[data-copy]') : null
  if (button) void copy(button)
})
document.addEventListener('live:swapped', showButtons)
// Another link, opened in the same tab, loads nothing anew.
addEventListener('hashchange', () => void open())
showButtons()
void open()
// What was asked for is read first by those who do not see the page.
document.querySelector('.yours.open h2')?.focus()
