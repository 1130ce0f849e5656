import type { Texts } from '../texts/texts.ts'
import { html } from './html.ts'
import type { Page } from './layout.ts'

/** What a page says, and how it is titled. */
export interface Message {
  readonly title: string
  readonly text: string
  /** What helps to go on, or to ask. */
  readonly note?: string
}

/** A page that says one thing and leads on. */
export function messagePage({ title, text, note }: Message, t: Texts): Page {
  return {
    title,
    description: text,
    main: html`<section class="message">
<h1>${title}</h1>
<p>${text}</p>
${note !== undefined && html`<p class="hint">${note}</p>`}
<p class="act"><a class="button" href="/">${t('messages.home')}</a> <a href="/search">${t('messages.search')}</a></p>
</section>`,
  }
}
