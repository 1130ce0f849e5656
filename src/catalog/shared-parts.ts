import type { Offer } from './offer.ts'

/** Neighbours in a list have most in common, so only so many parts are remembered. */
const maxParts = 20_000

/**
 * Keeps the parts that offers have in common only once. Thousands of offers share a note, a price or a list of
 * countries, and each is read as a copy of its own, which would take several times the memory.
 */
export function createSharing(): (offer: Offer) => Offer {
  const parts = new Map<string, unknown>()
  const shared = (value: unknown) => {
    const key = JSON.stringify(value)
    const known = parts.get(key)
    if (known !== undefined) return known
    if (parts.size === maxParts) parts.clear()
    parts.set(key, value)
    return value
  }
  return (offer) => {
    const { id, source, ...others } = offer
    const entries = Object.entries(others).map(([name, value]) => [name, shared(value)])
    return { id, source, ...Object.fromEntries(entries) }
  }
}
