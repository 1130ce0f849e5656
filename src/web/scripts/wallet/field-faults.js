const part = (id) => document.getElementById(id)

/**
 * Writes what is wrong to the fields, as the page does that comes back from the store, and gives the first
 * of them. What was typed stays.
 */
export function markFaults(form, faults, didYouMean) {
  const fields = faults.map((fault) => mark(form, fault, didYouMean))
  return fields.find((field) => field !== undefined)
}

/** Takes every mark away again. */
export function unmarkFaults(form) {
  for (const field of form.querySelectorAll('.field [aria-invalid]')) {
    field.removeAttribute('aria-invalid')
    part(`${field.id}-fault`).textContent = ''
  }
}

function mark(form, fault, didYouMean) {
  const field = part(fault.parameter)
  const place = part(`${fault.parameter}-fault`)
  if (!field || !place) return undefined
  const label = form.querySelector(`label[for="${fault.parameter}"]`).textContent
  const [said] = fault.message.split('; did you mean')
  const meant =
    fault.didYouMean === undefined ? '' : ` ${didYouMean.replace('{value}', fault.didYouMean)}`
  place.textContent = `${label} ${said}.${meant}`
  field.setAttribute('aria-invalid', 'true')
  return field
}
