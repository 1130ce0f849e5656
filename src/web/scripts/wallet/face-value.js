import { receivesText } from '../../buying/receives.ts'

/** Says what the card or the line receives, in its own currency, while an amount is typed. */
export function followFace(place, field) {
  const { worth, words } = JSON.parse(place.dataset.face)
  const say = () => {
    place.textContent = receivesText(worth, field.value, words)
  }
  field.addEventListener('input', say)
  say()
}
