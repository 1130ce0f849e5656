// Opens a payment or an order with the part after the # of its link, which stays in the address bar for
// its owner to keep.
const pattern = /^#?(k(?:at|op)_[\w-]+(?:\.[\w-]+)?)$/

async function open() {
  const form = document.querySelector('form[action$="/open"]')
  const [, token] = pattern.exec(location.hash) ?? []
  if (!form || !token) return
  form.elements.namedItem('token').value = token
  const body = new URLSearchParams({ token })
  const asked = { method: 'POST', body, redirect: 'manual' }
  const answer = await fetch(form.action, asked).catch(() => undefined)
  // The page comes again in place, so that going back leads to where the visitor came from.
  if (answer?.type === 'opaqueredirect') location.reload()
  // The page that answers says why it does not open.
  else if (answer) form.submit()
}

// Another link, opened in the same tab, loads nothing anew.
addEventListener('hashchange', () => void open())
void open()
// What was asked for is read first by those who do not see the page.
document.querySelector('.yours.open h2')?.focus()
