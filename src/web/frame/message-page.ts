import type { Texts } from '../texts/en.ts'
import { html } from './html.ts'
import type { Page } from './layout.ts'

/** What a page says, and how it is titled. */
export interface Message {
  readonly title: string
  readonly text: string
}

/** A page that says one thing and leads home. */
export function messagePage({ title, text }: Message, { messages }: Texts): Page {
  return {
    title,
    description: text,
    main: html`<section class="message">
<h1>${title}</h1>
<p>${text}</p>
<p class="act"><a class="button" href="/">${messages.home}</a></p>
</section>`,
  }
}
