import { fieldFaultText, fieldValue, filled } from '../../buying/field-value.ts'

const part = (id) => document.getElementById(id)

/**
 * Writes what is wrong to the fields, as the page does that comes back from the store, and gives the first
 * of them. What was typed stays.
 */
export function markFaults(faults, texts) {
  const fields = faults.map((fault) => mark(fault, texts))
  return fields.find((field) => field !== undefined)
}

/** Takes every mark away again. */
export function unmarkFaults(form) {
  for (const field of form.querySelectorAll('.field [aria-invalid]')) {
    field.removeAttribute('aria-invalid')
    part(`${field.id}-fault`).textContent = ''
  }
}

function mark(fault, { fields, didYouMean, readAs }) {
  const field = part(fault.parameter)
  const place = part(`${fault.parameter}-fault`)
  const texts = fields[fault.parameter]
  if (!field || !place || !texts) return undefined
  const meant = (value) => filled(didYouMean, { value })
  const text = texts.said.find(([beginning]) => fault.message.startsWith(beginning))?.[1]
  const { didYouMean: value } = fault
  place.textContent = fieldFaultText(
    { text, didYouMean: value },
    { texts, typed: field.value, meant },
  )
  if (fault.parameter === 'msisdn' && !askToConfirm(fault, field)) {
    // A number as it is dialled in its country: the buyer first sees how it was understood.
    if (fault.didYouMean !== undefined) {
      field.value = fault.didYouMean
      place.textContent = filled(readAs, { value: fault.didYouMean })
    }
  }
  field.setAttribute('aria-invalid', 'true')
  // What is folded away is neither seen nor can it have the focus.
  const folded = field.closest('details')
  if (folded) folded.open = true
  return field
}

/** Shows the tick for a number that no numbering plan has; says whether it is such a one. */
function askToConfirm({ message }, field) {
  const tick = part('confirmNumber')
  const place = tick?.closest('[data-said]')
  if (!place || !message.startsWith(place.dataset.said)) return false
  tick.value = fieldValue('msisdn', field.value)
  tick.checked = false
  place.hidden = false
  return true
}
