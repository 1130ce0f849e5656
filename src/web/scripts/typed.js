// Keeps what was typed into the form of an offer while its tab is open, so that a reload or going back loses nothing.
// Browsers restore some of it themselves, but not all the same fields.
const form = document.getElementById('buy')
const name = `kiosk402-typed ${location.pathname}`
const types = /^(text|tel|email|radio|select-one)$/

const fields = () => [...form.elements].filter(({ id, type }) => id && types.test(type))

function keep() {
  const typed = fields()
    .filter(({ type, checked }) => type !== 'radio' || checked)
    .map(({ id, value }) => [id, value])
  sessionStorage.setItem(name, JSON.stringify({ key: form.elements.key.value, typed }))
}

function restore() {
  const { key, typed } = JSON.parse(sessionStorage.getItem(name) ?? '{}')
  for (const [id, value] of typed ?? []) put(document.getElementById(id), value)
  // After a reload or going back, the form keeps the key it was sent with: sent again, it is the same purchase.
  const [{ type } = {}] = performance.getEntriesByType('navigation')
  if (key && (type === 'reload' || type === 'back_forward')) form.elements.key.value = key
}

function put(field, value) {
  if (!field) return
  if (field.type === 'radio') field.checked = true
  else field.value = value
  if (value !== '') field.closest('details')?.setAttribute('open', '')
}

if (form) {
  // A form that the store returned with faults already contains what was typed.
  if (!form.querySelector('.faults')) restore()
  form.addEventListener('input', keep)
  keep()
}
