import { maxKept } from '../../checkouts/ledger.ts'
import { formatUsdc } from '../../lib/money.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'

/** The terms of sale: the operator's own, or what the store promises by itself. */
export function termsPage({ site, texts: { terms } }: WebDeps): Page {
  return {
    title: terms.title,
    description: terms.description,
    path: '/terms',
    crumbs: [{ name: terms.title, path: '/terms' }],
    main: html`<div class="prose">
<h1>${terms.title}</h1>
${bodyOf({ site, terms })}
<p>${terms.contact} <a href="mailto:${site.contact}">${site.contact}</a>.</p>
</div>`,
  }
}

function bodyOf({
  site,
  terms,
}: {
  site: WebDeps['site']
  terms: WebDeps['texts']['terms']
}): Html {
  if (site.terms === undefined) {
    return html`<p class="lead">${terms.lead}</p>
<ul class="dots">${terms.promises(formatUsdc(maxKept)).map((text) => html`<li>${text}</li>`)}</ul>`
  }
  if ('url' in site.terms) {
    return html`<p class="lead">${terms.elsewhere} <a href="${site.terms.url}">${site.terms.url}</a></p>`
  }
  return html`${blocksOf(site.terms.text)}`
}

/** Plain text: empty lines part its blocks, `#` begins a heading, `-` the lines of a list. */
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
