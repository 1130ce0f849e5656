// On the page of a payment: buttons that copy, a countdown near the end, and the private link behind
// the # of the address, which opens the page.
const nearMs = 5 * 60_000
const spokenMinutes = [5, 2, 1]

const spoken = document.createElement('p')
spoken.className = 'hidden'
spoken.setAttribute('role', 'status')

const page = () => document.querySelector('.paying')
let timer

function dress() {
  addCopyButtons()
  count()
}

function addCopyButtons() {
  const { copyText, copiedText, uncopiedText } = page().dataset
  for (const text of document.querySelectorAll('[data-copy]')) {
    if (text.parentElement.querySelector('.copies')) continue
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copies'
    button.id = `copy-${text.id}`
    button.textContent = copyText
    button.setAttribute('aria-describedby', text.id)
    button.addEventListener('click', async () => {
      const isCopied = await copy(text)
      button.textContent = isCopied ? copiedText : uncopiedText
      spoken.textContent = button.textContent
      setTimeout(() => {
        button.textContent = copyText
        spoken.textContent = ''
      }, 2500)
    })
    text.parentElement.append(button)
  }
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text.dataset.copy)
    return true
  } catch {
    // Over plain http there is no clipboard: select it, as a person would.
    getSelection().selectAllChildren(text)
    return document.execCommand('copy')
  }
}

// The clock of the store counts: it is told once, and goes on from there by this page's own clock.
function count() {
  clearInterval(timer)
  const line = document.querySelector('[data-ends]')
  if (!line) return
  const ends = Date.parse(line.dataset.ends)
  const told = Date.parse(line.dataset.now)
  const since = performance.now()
  let lastSpoken
  const tick = () => {
    const leftMs = ends - told - (performance.now() - since)
    const left = line.querySelector('.left')
    if (leftMs > nearMs || leftMs <= 0) {
      left.textContent = ''
      return
    }
    const seconds = Math.ceil(leftMs / 1000)
    const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
    left.textContent = line.dataset.leftText.replace('{time}', clock)
    const minutes = spokenMinutes.findLast((each) => leftMs <= each * 60_000)
    if (minutes !== lastSpoken) spoken.textContent = line.dataset[`left${minutes}`]
    lastSpoken = minutes
  }
  tick()
  timer = setInterval(tick, 1000)
}

/** What stands behind the # opens the page; the link stays as it is, to be kept. */
async function openByLink() {
  const token = location.hash.slice(1)
  const field = document.getElementById('token')
  if (!token || !field?.form) return
  field.value = token
  const body = new URLSearchParams({ token })
  try {
    const answer = await fetch(field.form.action, { method: 'POST', body, redirect: 'manual' })
    if (answer.type === 'opaqueredirect') location.reload()
    else field.form.submit()
  } catch {
    // Offline: the field is filled in, and the button sends it.
  }
}

if (page()) {
  document.body.append(spoken)
  dress()
  document.addEventListener('live:swapped', dress)
  addEventListener('hashchange', openByLink)
  void openByLink()
}
