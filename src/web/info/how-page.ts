import { maxKept } from '../../checkouts/ledger.ts'
import { formatUsdc } from '../../lib/money.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import type { Texts } from '../texts/texts.ts'

const steps = ['find', 'recipient', 'pay', 'receive'] as const
const wrong = ['little', 'much', 'late', 'undelivered', 'closed'] as const

/** The page that explains how buying works, step by step, and what happens if a step goes wrong. */
export function howPage({ site, networkName, t }: WebDeps): Page {
  const { contact } = site
  const least = formatUsdc(maxKept)
  const coins = new Intl.ListFormat(t.language).format(site.acceptsCrypto)
  return {
    title: t('how.title'),
    description: t('how.description'),
    path: '/how-it-works',
    crumbs: [{ name: t('how.title'), path: '/how-it-works' }],
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
<h3>${t('how.wallet', { network: networkName })}</h3><p>${t('how.walletText')}</p>
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
