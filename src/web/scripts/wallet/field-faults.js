import { fieldFaultText, fieldValue, filled } from '../../buying/field-value.ts'

const part = (id) => document.getElementById(id)

/**
 * Shows the faults at their fields, as the page from the store does, and returns the first of these fields. What was
 * typed stays.
 */
export function markFaults(faults, texts) {
  const fields = faults.map((fault) => mark(fault, texts))
  return fields.find((field) => field !== undefined)
}

/** Removes all faults from the fields. */
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
    // For a number typed as it is dialled in its country, the buyer first sees how it was understood.
    if (fault.didYouMean !== undefined) {
      field.value = fault.didYouMean
      place.textContent = filled(readAs, { value: fault.didYouMean })
    }
  }
  field.setAttribute('aria-invalid', 'true')
  // A field in a closed <details> is invisible and cannot get the focus.
  const folded = field.closest('details')
  if (folded) folded.open = true
  return field
}

/** Shows the checkbox to confirm a number that is in no numbering plan; returns whether the fault is about that. */
function askToConfirm({ message }, field) {
  const tick = part('confirmNumber')
  const place = tick?.closest('[data-said]')
  if (!place || !message.startsWith(place.dataset.said)) return false
  tick.value = fieldValue('msisdn', field.value)
  tick.checked = false
  place.hidden = false
  return true
}
