import { approvePath, type ShownApproval } from '../../api/buying/approval.ts'
import { formatUsdc, usdc } from '../../lib/money.ts'
import { html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import type { Texts } from '../texts/texts.ts'

/** The page on which a person approves or declines one purchase. */
export function approvePage(
  token: string,
  { bought, most, payer, endsAt }: Extract<ShownApproval, { type: 'asked' }>,
  t: Texts,
): Page {
  return {
    title: t('approve.title'),
    description: t('approve.about'),
    main: html`<section class="message">
<h1>${t('approve.title')}</h1>
<p>${t('approve.about')}</p>
<dl class="facts">
<div><dt>${t('approve.bought')}</dt><dd>${bought}</dd></div>
<div><dt>${t('approve.most')}</dt><dd>${formatUsdc(usdc(most))} USDC</dd></div>
<div><dt>${t('approve.payer')}</dt><dd><code>${payer}</code></dd></div>
<div><dt>${t('approve.ends')}</dt><dd>${endsAt.toISOString().slice(11, 16)} UTC</dd></div>
</dl>
<p class="hint">${t('approve.warning')}</p>
<form method="post" action="${approvePath}/${token}">
<p class="act"><button class="button" type="submit" name="decision" value="approve">${t('approve.yes')}</button>
<button class="button quiet" type="submit" name="decision" value="decline">${t('approve.no')}</button></p>
</form>
</section>`,
  }
}
