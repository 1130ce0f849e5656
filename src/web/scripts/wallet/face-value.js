import { receivesText } from '../../buying/receives.ts'

/** Says what the card or the line receives, in its own currency, while an amount is typed. */
export function followFace(place, field) {
  const { offer, words } = JSON.parse(place.dataset.face)
  const say = () => {
    place.textContent = receivesText(offer, field.value, words)
  }
  field.addEventListener('input', say)
  say()
}
