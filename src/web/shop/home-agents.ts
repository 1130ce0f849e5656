import { goods, kinds } from '../../catalog/good.ts'
import { code } from '../buying/agent-section.ts'
import { quoted } from '../buying/example-call.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/en.ts'

/** How software uses the same store, for those who send it. */
export function homeAgents({ site, isSandbox, texts }: WebDeps): Html {
  const { home } = texts
  const find = `${site.url}/ai/vouchers?search=amazon&country=US`
  return html`<section class="agents" id="agents" aria-labelledby="agents-title">
<h2 id="agents-title">${home.agents}</h2>
<p>${home.agentsLead}</p>
<div class="agents-two">
<ol class="steps">
<li><h3>${home.stepFind}</h3><p>${home.stepFindText}</p>
${code(`curl ${quoted(find)}`)}
<p>${home.asJson} ${kinds.map(
    (kind, at) =>
      html`${at > 0 && ', '}<a href="/ai/${goods[kind].plural}">${texts.homeKinds[kind].name}</a>`,
  )}</p></li>
<li><h3>${home.stepRead}</h3><p>${home.stepReadText} <a href="/.well-known/x402">/.well-known/x402</a></p></li>
<li><h3>${home.stepBuy}</h3><p>${home.stepBuyText}</p>
<p class="note">${home.spendLimit}</p></li>
${isSandbox && html`<li><h3>${home.stepTry}</h3><p>${home.stepTryText}</p>${code('npm run demo')}</li>`}
</ol>
${conversation(texts)}
</div>
<p>${home.errors} <a href="/errors">${home.errorsLink}</a>.</p>
</section>`
}

/** A purchase in four lines, as a picture of what the store is. */
function conversation({ home }: Texts): Html {
  return html`<div class="ticket talk">
<p class="stub">${home.talk}</p>
<ol>
${home.talkLines.map(
  ([
    who,
    what,
    detail,
  ]) => html`<li${who === home.talkStore && html` class="store-says"`}><b>${who}</b> <span><code>${what}</code><br>${detail}</span></li>
`,
)}</ol>
</div>`
}
