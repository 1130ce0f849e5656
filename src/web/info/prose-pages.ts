import { paymentsTaken } from '../../api/operation.ts'
import { maxKept } from '../../checkouts/checkout.ts'
import { formatUsdc } from '../../lib/money.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import type { Texts } from '../texts/texts.ts'

const steps = ['find', 'recipient', 'pay', 'receive'] as const
const wrong = ['little', 'much', 'late', 'undelivered', 'closed'] as const

export function howPage({ site, networkName, pricing, t }: WebDeps): Page {
  const { contact } = site
  const least = formatUsdc(maxKept)
  const taken = paymentsTaken({ site, pricing })
  const coins = new Intl.ListFormat(t.language).format(taken.coins)
  return {
    title: t('how.title'),
    description: t('how.description'),
    path: '/how-it-works',
    main: html`<div class="prose">
<h1>${t('how.title')}</h1>
<p class="lead">${t('how.lead')}</p>
<ol class="steps">
${steps.map(
  (
    step,
  ) => html`<li><h2>${t(`how.steps.${step}.title`)}</h2><p>${t(`how.steps.${step}.text`)}</p></li>
`,
)}</ol>
<section aria-labelledby="ways"><h2 id="ways">${t('how.ways')}</h2>
${taken.takesUsdc && html`<h3>${t('how.wallet', { network: networkName })}</h3><p>${t('how.walletText')}</p>`}
${coins !== '' && html`<h3>${t('how.coins', { coins })}</h3><p>${t('how.coinsText')}</p>`}</section>
<section aria-labelledby="wrong"><h2 id="wrong">${t('how.wrong')}</h2>
<dl class="cases">
${wrong.map(
  (
    one,
  ) => html`<div><dt>${t(`how.wrong.${one}.title`)}</dt><dd>${t(`how.wrong.${one}.text`, { least })}</dd></div>
`,
)}</dl></section>
${block('goods', t)}
${block('private', t)}
<section aria-labelledby="help"><h2 id="help">${t('how.help')}</h2>
<p>${t('how.helpText', { contact, link: (text) => html`<a href="mailto:${contact}">${text}</a>` })}</p></section>
</div>`,
  }
}

function block(id: 'goods' | 'private', t: Texts): Html {
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${t(`how.${id}`)}</h2><p>${t(`how.${id}Text`)}</p></section>
`
}

const promises = ['price', 'once', 'refund', 'delivered', 'payments', 'details'] as const

export function termsPage({ site, t }: WebDeps): Page {
  const { contact } = site
  return {
    title: t('terms.title'),
    description: t('terms.description'),
    path: '/terms',
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
