import type { Texts } from '../texts/en.ts'
import { type Html, html } from './html.ts'

/** A moment for reading, in UTC: "Nov 22, 2026, 03:17 UTC". */
export function timeOf(at: Date, { offers }: Texts): Html {
  const text = new Intl.DateTimeFormat(offers.numbers, {
    dateStyle: 'medium',
    timeStyle: 'short',
    hourCycle: 'h23',
    timeZone: 'UTC',
  }).format(at)
  return html`<time datetime="${at.toISOString()}">${text} UTC</time>`
}
