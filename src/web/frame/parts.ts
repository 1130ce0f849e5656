import { once } from '../texts/once.ts'
import type { Texts } from '../texts/texts.ts'
import { type Html, html } from './html.ts'

/** A line of a list of facts; undefined without a value. */
export function fact(name: string, value: Html | string | undefined): Html | undefined {
  return value === undefined
    ? undefined
    : html`<div><dt>${name}</dt><dd>${value}</dd></div>
`
}

/**
 * A text to copy. The button is hidden until `scripts/copy.js` shows it; without script, a tap selects the whole text.
 *
 * @param what its name, for screen readers
 * @param unit shown beside it, and not copied
 */
export function copied(id: string, value: string, what: string, t: Texts, unit?: string): Html {
  return html`<span class="copied"><code class="copy" id="${id}">${value}</code>${unit && html` <span>${unit}</span>`}<button type="button" class="copy-button" data-copy="#${id}" data-copied="${t('frame.copied')}" aria-label="${t('frame.copyOf', { what })}" hidden="hidden">${t('frame.copy')}</button></span>`
}

const timesIn = once(
  (language: string) =>
    new Intl.DateTimeFormat(language, {
      dateStyle: 'medium',
      timeStyle: 'short',
      hourCycle: 'h23',
      timeZone: 'UTC',
    }),
)

function textOf(at: Date, language: string): string {
  return `${timesIn(language).format(at)} UTC`
}

/** A time in UTC, for people: "Nov 22, 2026, 03:17 UTC". */
export function timeOf(at: Date, { language }: Texts): Html {
  return html`<time datetime="${at.toISOString()}">${textOf(at, language)}</time>`
}

/** The values of a time within a message: "until <time>{until}</time>". */
export function timeTag(until: Date, { language }: Texts) {
  return {
    until: textOf(until, language),
    time: (text: Html) => html`<time datetime="${until.toISOString()}">${text}</time>`,
  }
}
