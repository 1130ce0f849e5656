import { maxKept } from '../../checkouts/ledger.ts'
import { formatUsdc } from '../../lib/money.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import type { Texts } from '../texts/texts.ts'

const promises = ['price', 'once', 'refund', 'delivered', 'payments', 'details'] as const

/** The terms of sale: those of the operator, or the default ones. */
export function termsPage({ site, t }: WebDeps): Page {
  const { contact } = site
  return {
    title: t('terms.title'),
    description: t('terms.description'),
    path: '/terms',
    crumbs: [{ name: t('terms.title'), path: '/terms' }],
    main: html`<div class="prose">
<h1>${t('terms.title')}</h1>
${bodyOf(site.terms, t)}
<p>${t('terms.contact', { contact, link: (text) => html`<a href="mailto:${contact}">${text}</a>` })}</p>
</div>`,
  }
}

function bodyOf(terms: WebDeps['site']['terms'], t: Texts): Html {
  if (terms === undefined) {
    const least = formatUsdc(maxKept)
    return html`<p class="lead">${t('terms.lead')}</p>
<ul class="dots">${promises.map((one) => html`<li>${t(`terms.promises.${one}`, { least })}</li>`)}</ul>`
  }
  if ('url' in terms) {
    const { url } = terms
    return html`<p class="lead">${t('terms.elsewhere', { url, link: (text) => html`<a href="${url}">${text}</a>` })}</p>`
  }
  return html`${blocksOf(terms.text)}`
}

/** Plain text: empty lines separate blocks, `#` begins a heading, `-` begins each line of a list. */
function blocksOf(text: string): Html[] {
  const blocks = text.replace(/\r\n?/g, '\n').split(/\n{2,}|\n(?=#)|(?<=^#.*)\n/m)
  return blocks.filter((block) => block.trim() !== '').map(blockOf)
}

function blockOf(block: string): Html {
  const lines = block.trim().split('\n')
  const [first = ''] = lines
  if (lines.length === 1 && first.startsWith('#')) {
    return html`<h2>${first.replace(/^#+\s*/, '')}</h2>`
  }
  if (lines.every((line) => /^[-*]\s/.test(line))) {
    return html`<ul class="dots">${lines.map((line) => html`<li>${line.slice(2)}</li>`)}</ul>`
  }
  return html`<p class="said">${block.trim()}</p>`
}
