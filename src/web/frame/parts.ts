import type { Texts } from '../texts/texts.ts'
import { type Html, html } from './html.ts'

/**
 * Something that is copied as it stands. The button works with script only, and is shown by it
 * (`scripts/copy.js`); a tap on the text selects all of it without.
 *
 * @param what its name, for those who hear the button
 * @param unit what stands beside it and is not copied with it
 */
export function copied(id: string, value: string, what: string, t: Texts, unit?: string): Html {
  return html`<span class="copied"><code class="copy" id="${id}">${value}</code>${unit && html` <span>${unit}</span>`}<button type="button" class="copy-button" data-copy="#${id}" data-copied="${t('frame.copied')}" aria-label="${t('frame.copyOf', { what })}" hidden="hidden">${t('frame.copy')}</button></span>`
}

/** Making one takes longer than most pages. */
const formats = new Map<string, Intl.DateTimeFormat>()

/** A moment for reading, in UTC: "Nov 22, 2026, 03:17 UTC". */
export function timeOf(at: Date, { language }: Texts): Html {
  return html`<time datetime="${at.toISOString()}">${textOf(at, language)}</time>`
}

/** The same within a message: "until <time>{until}</time>". */
export function timeTag(until: Date, { language }: Texts) {
  return {
    until: textOf(until, language),
    time: (text: Html) => html`<time datetime="${until.toISOString()}">${text}</time>`,
  }
}

function textOf(at: Date, language: string): string {
  const known = formats.get(language)
  const format =
    known ??
    new Intl.DateTimeFormat(language, {
      dateStyle: 'medium',
      timeStyle: 'short',
      hourCycle: 'h23',
      timeZone: 'UTC',
    })
  formats.set(language, format)
  return `${format.format(at)} UTC`
}
