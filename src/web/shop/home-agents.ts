import { goods, kinds } from '../../catalog/good.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'

export function homeAgents({ site, isSandbox, t }: WebDeps): Html {
  const find = `${site.url}/ai/search?query=esim+japan+10+GB`
  return html`<section class="agents" id="agents" aria-labelledby="agents-title">
<h2 id="agents-title">${t('home.agents')}</h2>
<p>${t('home.agentsLead')}</p>
<ol class="steps">
<li><h3>${t('home.stepFind')}</h3><p>${t('home.stepFindText')}</p>
${code(`curl '${find}'`)}
<p>${t('home.asJson')} ${kinds.map(
    (kind, at) =>
      html`${at > 0 && ', '}<a href="/ai/${goods[kind].plural}">${t(`kinds.${kind}.title`)}</a>`,
  )}</p></li>
<li><h3>${t('home.stepRead')}</h3><p>${t('home.stepReadText', { link: (path) => html`<a href="/.well-known/x402">${path}</a>` })}</p></li>
<li><h3>${t('home.stepBuy')}</h3><p>${t('home.stepBuyText')}</p>
<p class="note">${t('home.spendLimit')}</p></li>
${isSandbox && html`<li><h3>${t('home.stepTry')}</h3><p>${t('home.stepTryText')}</p>${code('npm run demo')}</li>`}
</ol>
<p>${t('home.errors', { link: (text) => html`<a href="/errors">${text}</a>` })}</p>
</section>`
}

function code(text: string): Html {
  return html`<pre><code>${text}</code></pre>`
}
