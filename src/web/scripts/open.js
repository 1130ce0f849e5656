// Opens a payment or an order with the token after the # of its link. The token stays in the address bar, so that its
// owner can keep the link.
const pattern = /^#?(k(?:at|op)_[\w-]+(?:\.[\w-]+)?)$/

async function open() {
  const form = document.querySelector('form[action$="/open"]')
  const [, token] = pattern.exec(location.hash) ?? []
  if (!form || !token) return
  form.elements.namedItem('token').value = token
  const body = new URLSearchParams({ token })
  const asked = { method: 'POST', body, redirect: 'manual' }
  const answer = await fetch(form.action, asked).catch(() => undefined)
  // A reload adds no entry to the history, so that going back leads to where the visitor came from.
  if (answer?.type === 'opaqueredirect') location.reload()
  // The page that answers the form says why the token does not open it.
  else if (answer) form.submit()
}

// Another link of the same page, opened in the same tab, does not reload the page.
addEventListener('hashchange', () => void open())
void open()
// Screen readers read the goods first.
document.querySelector('.yours.open h2')?.focus()
