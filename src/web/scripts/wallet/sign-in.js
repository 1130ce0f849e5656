import { discover } from './provider.ts'

// Lists the wallets of this browser, and asks the chosen one to sign the store's challenge. Sends requests only to the
// store.
const form = document.querySelector('[data-sign-in]')

function say(text, isWrong = false) {
  const said = form.querySelector('[role=status]')
  said.textContent = text
  said.className = isWrong ? 'wrong' : 'hint'
}

function list(wallets) {
  const buttons = wallets.map(({ name, provider }) => {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'button quiet'
    button.textContent = `${form.dataset.connect} ${name}`
    button.addEventListener('click', () => signIn(provider))
    return button
  })
  form.querySelector('.wallet-list').replaceChildren(...buttons)
  // A message of the store about the last sign-in stays.
  if (form.querySelector('[role=status]').textContent === form.dataset.searching) say('')
}

async function signIn(provider) {
  say(form.dataset.working)
  let address
  try {
    ;[address] = await provider.request({ method: 'eth_requestAccounts' })
  } catch {
    return say(form.dataset.refused, true)
  }
  const challenge = await challengeFor(address)
  if (!challenge) return say(form.dataset.offline, true)
  try {
    const params = [hexOf(challenge.message), address]
    const signature = await provider.request({ method: 'personal_sign', params })
    const signed = { ...challenge.payload, signature }
    form.elements.namedItem('signed').value = btoa(JSON.stringify(signed))
    form.submit()
  } catch {
    say(form.dataset.refused, true)
  }
}

async function challengeFor(address) {
  const body = new URLSearchParams({ address })
  try {
    const answer = await fetch(form.dataset.signIn, { method: 'POST', body })
    return answer.ok ? await answer.json() : undefined
  } catch {
    return undefined
  }
}

/** `personal_sign` takes the bytes of a message in hex. */
function hexOf(text) {
  const bytes = new TextEncoder().encode(text)
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

if (form) {
  say(
    form.querySelector('.wrong')?.textContent || form.dataset.searching,
    Boolean(form.querySelector('.wrong')),
  )
  discover(window, list)
}
