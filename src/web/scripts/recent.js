// Stores the number, brand and date of each order that was opened in this browser, and lists them on the page that
// finds orders. The token that opens an order is in a cookie that no script can read.
const listName = 'kiosk402-orders'
const offName = 'kiosk402-orders-off'
const most = 20

const isOff = () => localStorage.getItem(offName) !== null

function kept() {
  try {
    const list = JSON.parse(localStorage.getItem(listName) ?? '[]')
    return Array.isArray(list) ? list.filter(({ id }) => /^ord_[0-9a-z]{26}$/.test(id)) : []
  } catch {
    return []
  }
}

function keep({ recent: id, recentName: name, recentAt: at }) {
  if (isOff()) return
  const others = kept().filter((one) => one.id !== id)
  localStorage.setItem(listName, JSON.stringify([{ id, name, at }, ...others].slice(0, most)))
}

function show(part) {
  const list = kept()
  part.querySelector('ul').replaceChildren(...list.map(line))
  part.querySelector('#recent-none').hidden = list.length > 0
  part.querySelector('#recent-kept').checked = !isOff()
  part.hidden = false
}

function line({ id, name, at }) {
  const link = document.createElement('a')
  link.href = `/orders/${id}`
  const { lang } = document.documentElement
  const date = new Date(at).toLocaleDateString(lang, { dateStyle: 'medium' })
  const parts = { b: name, span: '', time: date }
  for (const [tag, text] of Object.entries(parts)) {
    const element = document.createElement(tag)
    element.textContent = text
    link.append(element)
  }
  const item = document.createElement('li')
  item.append(link)
  return item
}

try {
  const shown = document.querySelector('[data-recent]')
  if (shown) keep(shown.dataset)
  const part = document.getElementById('recent')
  if (part) {
    show(part)
    part.querySelector('#recent-kept').addEventListener('change', ({ target }) => {
      if (target.checked) localStorage.removeItem(offName)
      else {
        localStorage.setItem(offName, '1')
        localStorage.removeItem(listName)
      }
      show(part)
    })
  }
} catch {
  // The browser allows no storage for this site, so there is nothing to list.
}
