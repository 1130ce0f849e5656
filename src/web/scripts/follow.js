// Keeps the part of a page with data-version up to date: fetches the page again every few seconds, less often the
// longer nothing changes, and replaces the part when its version changes.
const firstMs = 3_000
const mostMs = 15_000

const said = document.createElement('p')
said.className = 'hidden'
said.setAttribute('role', 'status')
document.body.append(said)

let waitMs = firstMs
let timer
let isLoading = false
// A page that is being left sends no more requests: they would start the navigation again.
let isLeaving = false

const part = () => document.querySelector('[data-version]')

function lookIn(ms) {
  clearTimeout(timer)
  const isOver = part()?.hasAttribute('data-end') ?? true
  // A page in the background sends no requests. It catches up when it is visible again.
  if (!isOver && !isLeaving && !document.hidden) timer = setTimeout(look, ms)
}

async function look() {
  if (isLoading) return
  isLoading = true
  waitMs = Math.min(waitMs * 1.2, mostMs)
  try {
    const { version, page } = part().dataset
    const answer = await fetch(page, { headers: { 'if-none-match': `"${version}"` } })
    if (answer.redirected) {
      isLeaving = true
      location.assign(answer.url)
    } else if (answer.ok) show(await answer.text())
    else if (answer.status !== 304) waitMs = 1_000 * (answer.headers.get('retry-after') || 15)
  } catch {
    // Offline: the next look tries again.
  }
  isLoading = false
  lookIn(waitMs)
}

function show(text) {
  const page = new DOMParser().parseFromString(text, 'text/html')
  const next = page.querySelector('[data-version]')
  if (!next || next.dataset.version === part().dataset.version) return
  swap(part(), document.importNode(next, true))
  document.title = page.title
  waitMs = firstMs
}

/** Replaces `old` with `next`. Focus, typed text and open details are kept. */
function swap(old, next) {
  const focused = old.contains(document.activeElement) && pathOf(old, document.activeElement)
  const typed = [...old.querySelectorAll('input:not([type=hidden])')].map((field) => [
    pathOf(old, field),
    field,
  ])
  const open = [...old.querySelectorAll('details[open]')].map((one) => pathOf(old, one))
  old.replaceWith(next)
  for (const path of open) find(next, path)?.setAttribute('open', '')
  for (const [path, { value, checked }] of typed) {
    const field = find(next, path)
    if (field) Object.assign(field, { value, checked })
  }
  if (focused) focusOn(find(next, focused), next)
  if (next.dataset.say !== old.dataset.say) said.textContent = next.dataset.say
  document.dispatchEvent(new Event('followed'))
}

/** If the focused element is gone, the part itself gets the focus; otherwise keyboard users would start at the top. */
function focusOn(found, next) {
  if (!found) next.tabIndex = -1
  ;(found ?? next).focus({ preventScroll: true })
}

/** Identifies an element, to find it in the new part: by its id, else by its tag and position. */
function pathOf(root, element) {
  const { id, tagName: tag } = element
  return id ? { id } : { tag, at: [...root.querySelectorAll(tag)].indexOf(element) }
}

function find(root, { id, tag, at }) {
  return id ? root.querySelector(`#${CSS.escape(id)}`) : root.querySelectorAll(tag)[at]
}

document.addEventListener('visibilitychange', () => lookIn(0))
addEventListener('pageshow', ({ persisted }) => {
  isLeaving = false
  lookIn(persisted ? 0 : firstMs)
})
