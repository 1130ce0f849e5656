// Keeps the part of a page marked with data-live up to date: listens to data-live-at, or polls it if the browser cannot
// listen. After a change it loads the page again and replaces the part.
const pollMs = 4000
const againMs = 1500

const said = document.createElement('p')
said.className = 'hidden'
said.setAttribute('role', 'status')

let source
let told
let pollTimer
let isLoading = false
// A page that is being left sends no more requests: they would start the navigation again.
let isLeaving = false

const part = () => document.querySelector('[data-live]')
const isFinished = () => part()?.hasAttribute('data-live-end') ?? true

function start() {
  stop()
  isLeaving = false
  if (isFinished() || document.hidden) return
  if (!('EventSource' in window)) return poll()
  source = new EventSource(part().dataset.liveAt)
  source.onmessage = ({ data }) => changedTo(data)
  // The browser reconnects by itself after a broken connection, but not after an error status.
  source.onerror = () => {
    if (source?.readyState !== EventSource.CLOSED) return
    source = undefined
    later(poll, pollMs)
  }
}

function stop() {
  source?.close()
  source = undefined
  clearTimeout(pollTimer)
}

function later(what, ms) {
  clearTimeout(pollTimer)
  pollTimer = setTimeout(what, ms)
}

async function poll() {
  if (isFinished() || document.hidden) return
  let waitMs = pollMs
  try {
    const answer = await fetch(`${part().dataset.liveAt}?once`, { cache: 'no-store' })
    if (answer.ok) await changedTo(await answer.text())
    else waitMs = 1000 * (Number(answer.headers.get('retry-after')) || 10)
  } catch {
    // Offline: the next poll tries again.
  }
  if (!source && !isLeaving) later(poll, waitMs)
}

async function changedTo(version, isAgain = false) {
  told = version
  if (isLoading || isLeaving || told === part()?.dataset.live) return
  isLoading = true
  await load()
  isLoading = false
  if (isLeaving || isFinished()) return stop()
  // The version and the page may be read a moment apart, so a page that is behind is loaded once more.
  const isBehind = told !== part().dataset.live
  if (isBehind && !isAgain && !document.hidden) setTimeout(() => changedTo(told, true), againMs)
}

async function load() {
  try {
    const answer = await fetch(part().dataset.livePage, { cache: 'no-store' })
    if (answer.redirected) {
      isLeaving = true
      return location.assign(answer.url)
    }
    if (!answer.ok) return
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    const next = page.querySelector('[data-live]')
    if (next) swap(part(), document.importNode(next, true))
    if (page.title) document.title = page.title
  } catch {
    // Offline: the next event loads it again.
  }
}

/** Replaces `old` with `next`. Focus, typed text and open details are kept. */
function swap(old, next) {
  const focused = old.contains(document.activeElement) ? pathOf(old, document.activeElement) : null
  const typed = valuesIn(old)
  const open = [...old.querySelectorAll('details[open]')].map((one) => pathOf(old, one))
  const wasSaid = old.dataset.liveSay
  old.replaceWith(next)
  for (const path of open) find(next, path)?.setAttribute('open', '')
  for (const [path, value] of typed) {
    const field = find(next, path)
    if (field) field.value = value
  }
  if (focused) focusOn(find(next, focused), next)
  if (next.dataset.liveSay !== wasSaid) said.textContent = next.dataset.liveSay
  document.dispatchEvent(new Event('live:swapped'))
}

/** If the focused element is gone, the part itself gets the focus; otherwise keyboard users would start at the top. */
function focusOn(found, next) {
  if (found === null || found === undefined) next.tabIndex = -1
  ;(found ?? next).focus({ preventScroll: true })
}

function valuesIn(root) {
  return [...root.querySelectorAll('input, textarea, select')]
    .filter((field) => field.type !== 'hidden')
    .map((field) => [pathOf(root, field), field.value])
}

/** Identifies an element, to find it in the new part: by its id, else by its tag and position. */
function pathOf(root, element) {
  if (element.id) return { id: element.id }
  const tag = element.tagName
  return { tag, at: [...root.querySelectorAll(tag)].indexOf(element) }
}

function find(root, { id, tag, at }) {
  return id ? root.querySelector(`#${CSS.escape(id)}`) : root.querySelectorAll(tag)[at]
}

// A page in the background sends no requests. It catches up when it is visible again, because the first event of a new
// connection is the current version.
document.addEventListener('visibilitychange', start)
addEventListener('pageshow', start)
document.body.append(said)
