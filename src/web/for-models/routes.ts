import { hash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import pack from '../../../package.json' with { type: 'json' }
import { purchases, quotes } from '../../api/buying/purchase.ts'
import {
  catalogPrefix,
  groups,
  limitsPath,
  manifestPath,
  mcpPath,
  type Operation,
  openApiPath,
  type Site,
  searchPath,
  skillPath,
} from '../../api/operation.ts'
import { operations } from '../../api/operations.ts'
import { findOrders, getOrder } from '../../api/orders/find-orders.ts'
import { getRefund } from '../../api/orders/refund.ts'
import { goods } from '../../catalog/kinds.ts'
import { type Kind, kinds } from '../../catalog/offer.ts'
import { fixedText, publicMinute, sendText } from '../../http/caching.ts'
import { limitRules } from '../../http/gate.ts'
import { termsValidSeconds } from '../../payments/terms.ts'
import type { WebDeps } from '../frame/deps.ts'
import { fixedHeaders } from '../frame/layout.ts'
import { errorTables } from '../info/error-codes.ts'

const linkset = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'

/** The pages for models, and the paths that hosts and indexes probe. Their texts are made once. */
export function routeForModels(app: FastifyInstance, deps: ModelPageDeps): void {
  const { site } = deps
  const skill = skillPage(deps)
  const card = JSON.stringify(serverCard(site))
  const texts = [
    ['/llms.txt', llmsPage(deps), 'text/plain'],
    ['/llms-full.txt', llmsFullPage(deps), 'text/plain'],
    [skillPath, skill, 'text/markdown'],
    ['/skill.md', skill, 'text/markdown'],
    ['/.well-known/agent-skills/index.json', JSON.stringify(skillIndex(site, skill)), json],
    ['/.well-known/mcp/server-card.json', card, json],
    [`${mcpPath}/server-card`, card, 'application/mcp-server-card+json'],
    [catalogLinkPath, JSON.stringify(apiCatalog(site)), linkset],
    ['/.well-known/security.txt', securityText(site, deps.now()), 'text/plain'],
  ] as const
  for (const [path, text, type] of texts) {
    const sent = { ...fixedText(text), type, cacheControl: publicMinute }
    app.get(path, { config: { limit: 'reading' } }, (request, reply) =>
      sendText(request, reply.headers(fixedHeaders), sent),
    )
  }
}

const json = 'application/json'

const catalogLinkPath = '/.well-known/api-catalog'

/** A description of the MCP server for clients that have not connected yet (SEP-2127). */
function serverCard({ name, description, url }: Site): object {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: `${new URL(url).hostname.split('.').reverse().join('.')}/${pack.name}`,
    version: pack.version,
    title: name,
    description,
    websiteUrl: url,
    remotes: [{ type: 'streamable-http', url: `${url}${mcpPath}` }],
  }
}

/** The interfaces of the store with their descriptions (RFC 9727, in the form of RFC 9264). */
function apiCatalog({ url }: Site): object {
  const described = {
    'service-desc': [{ href: `${url}${openApiPath}`, type: 'application/json' }],
    'service-doc': [{ href: `${url}/llms-full.txt`, type: 'text/plain' }],
    'service-meta': [{ href: `${url}${manifestPath}`, type: 'application/json' }],
  }
  const card = [{ href: `${url}/.well-known/mcp/server-card.json`, type: 'application/json' }]
  return {
    linkset: [
      { anchor: `${url}/ai`, ...described },
      { anchor: `${url}${catalogPrefix}`, ...described },
      { anchor: `${url}${mcpPath}`, 'service-desc': card },
    ],
  }
}

/** The one skill of the store, for agents that discover skills. */
function skillIndex({ url }: Site, skill: string): object {
  const frontMatter = (field: string) => new RegExp(`^${field}: (.*)$`, 'm').exec(skill)?.[1]
  return {
    $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json',
    skills: [
      {
        name: frontMatter('name'),
        type: 'skill-md',
        description: frontMatter('description'),
        url: `${url}${skillPath}`,
        digest: `sha256:${hash('sha256', skill)}`,
      },
    ],
  }
}

const yearMs = 365 * 24 * 60 * 60 * 1_000

/** Where to report a vulnerability (RFC 9116). It must expire; each start of the store renews it. */
function securityText({ contact, url }: Site, now: Date): string {
  const expires = new Date(now.getTime() + yearMs).toISOString().replace(/\.\d+/, '')
  return [
    `Contact: mailto:${contact}`,
    `Expires: ${expires}`,
    'Preferred-Languages: en',
    `Canonical: ${url}/.well-known/security.txt`,
    '',
  ].join('\n')
}

/** The `Link` header of the front page: the documents for software (RFC 8288). */
export const frontLinks = [
  `<${catalogLinkPath}>; rel="api-catalog"`,
  `<${openApiPath}>; rel="service-desc"; type="application/json"`,
  '</llms.txt>; rel="service-doc"; type="text/plain"',
  `<${skillPath}>; rel="describedby"; type="text/markdown"`,
].join(', ')

const groupTexts: Readonly<Record<Operation['group'], string>> = {
  Discovery: 'Search the whole catalog. Free, without a key.',
  Catalog: 'The same offers with exact prices in USDC and the fields that a purchase needs. Free.',
  Buying: 'GET quotes for free. POST buys, paid over x402.',
  Orders: 'The state of a purchase and of its refund.',
  Store: 'About the store itself.',
}

/** The map of the store for models, in the form of llmstxt.org. */
function llmsPage({ site, networkName }: ModelPageDeps): string {
  const link = (name: string, path: string, text: string) =>
    `- [${name}](${site.url}${path}): ${text}`
  return `# ${site.name}

> ${site.description} For software agents, without an account: search for free, pay each purchase in USDC on ${networkName} over x402, and get the goods in the response. If a paid order is not delivered, it is refunded automatically.

Read the skill first: one page, and enough to buy something.

## Start

${link('Search', `${searchPath}?query=esim+japan+10gb&limit=3`, 'one query in plain words over the whole catalog')}
${link('Skill', skillPath, 'how to search, pay, follow an order and get a refund')}
${link('Everything', '/llms-full.txt', 'the skill, every operation and every error in one text')}
${link('OpenAPI', '/openapi.json', 'every operation with schemas and real examples')}
${link('Manifest', '/.well-known/x402', 'resources, fulfillment and refund policy, and whether the store is selling now')}
${link('MCP', '/mcp', 'the same as tools, over streamable HTTP')}
${link('Errors', '/errors', 'every code: what causes it, and what to do')}
${link('Keys', '/.well-known/jwks.json', 'the keys that sign receipts')}

${operationList()}
`
}

function llmsFullPage(deps: ModelPageDeps): string {
  const [, skill = ''] = skillPage(deps).split(/^---$[\s\S]*?^---$/m)
  const sections = [
    skill.trim(),
    '# Every operation',
    `Their schemas: ${deps.site.url}${openApiPath}`,
    operationList(),
    '# Every error',
    errorTables(),
  ]
  return `${sections.join('\n\n')}\n`
}

function operationList(): string {
  const sections = groups.map((group) => {
    const members = operations.filter((operation) => operation.group === group)
    const lines = members.map(({ method, path, name }) => `- \`${method} ${path}\` ${name}`)
    return [`## ${group}`, groupTexts[group], lines.join('\n')].join('\n\n')
  })
  return sections.join('\n\n')
}

/** The dependencies of the pages for models, which do not change while the store runs. */
type ModelPageDeps = Pick<WebDeps, 'site' | 'networkName' | 'isSandbox'> & {
  readonly now: () => Date
}

function skillPage(deps: ModelPageDeps): string {
  const { site, networkName } = deps
  return `---
name: buy-digital-goods
description: Buy gift vouchers, mobile topups and eSIM data plans at ${site.name} without an account, paying per purchase in USDC on ${networkName} over x402. Use it when someone wants a gift card, phone credit or mobile data.
---

# Buying at ${site.name}

No account, no API key. Searching and prices are free. A purchase is one HTTP request, paid with x402 (scheme \`exact\`, USDC on ${networkName}). If a paid order is not delivered, the paying wallet is refunded automatically.

${kinds.map((kind) => `- ${goods[kind].words.about} Buy: \`POST ${pathOf(purchases, kind)}\`.`).join('\n')}

## 1. Search

\`\`\`sh
curl -s -G '${site.url}${searchPath}' --data-urlencode 'query=25 EUR Netflix card for Germany' -d limit=3
\`\`\`

\`\`\`sh
curl -s '${site.url}${searchPath}?covers=FR,IT,CH&minDataGb=5&minDays=14&sort=price&limit=3'
\`\`\`

\`GET ${searchPath}\` is one search for all kinds. \`query\` takes plain words. With it, or instead of it: \`kind\` (${kinds.join(', ')}), \`country\` (ISO code: \`US\`, not "United States"; \`XK\` is Kosovo), \`covers\` (countries of one eSIM plan), \`minDataGb\`, \`minDays\`, \`maxUsdc\`, \`phone\` (the number to top up; unless sorted by price, the topups of its \`likelyOperator\` come first), \`brand\`, \`regions\`, \`subType\`, \`iccid\` (the eSIM to recharge), \`sort=price\`. All go together, and none needs \`kind\`. Each item has its price in \`usdc\` (\`amount\` 1000000 is 1 USDC), its \`faceValue\` and \`requiredFields\`. \`leftOut\` names the words that the search ignored. \`sums\` names cards that add up to a value that none has. If nothing is found, \`hint\` says why and what to leave out; never buy a card for another country instead without asking. Amounts of \`price\` and \`faceValue\` are minor units: \`major = value / currencyDivisor\`. Copy \`offerId\` exactly.

## 2. Get the exact price, free

\`\`\`sh
curl -s '${site.url}${pathOf(quotes, 'voucher')}?offerId=OFFER_ID&firstName=Ada&lastName=Lovelace'
\`\`\`

It makes the same checks as a purchase. Fields besides \`offerId\`:

${kinds.map((kind) => `- ${kind}: ${goods[kind].words.asks}`).join('\n')}
- \`value\`, for open-value offers (\`priceType\` RANGE) only: US dollars. 25 is 25.00 USD, not minor units.
- \`maxUsdc\`: your budget in USDC. A higher price is refused before any payment is requested.
- \`webhookUrl\`: an https URL that receives every state of the order, signed (Standard Webhooks). Keep \`webhook.secret\` from the first response.

\`GET /api/catalog/vouchers/offers/{id}\` (\`topups\`, \`esims\` alike) is the record of one offer: \`requiredFields\`, the range of \`value\`, and in \`purchase\` the exact schema and an example. The quote's \`message\` says what is bought and at what price, and \`warning\` why it may be of no use: show both to your user.

## 3. Buy

Send the same fields as JSON by \`POST\`. The first response is 402 with the terms in \`accepts[0]\`. Sign them and send the same request again with \`PAYMENT-SIGNATURE\`, the base64 of the signed payload's JSON. An x402 client (\`@x402/fetch\`, \`@x402/axios\`, Python \`x402\`) does both. **By itself it pays at most 1 USD: raise that limit**, as here. The price holds for ${termsValidSeconds} seconds.

\`\`\`js
// npm install @x402/fetch @x402/evm viem
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'

const wallet = new ExactEvmScheme(privateKeyToAccount(process.env.PRIVATE_KEY))
const client = new x402Client().register('eip155:*', wallet)
client.setSpendControls({ maxAmountPerPayment: '$30' }) // the most that one payment may be
const key = process.env.PURCHASE_KEY ?? crypto.randomUUID() // note it first, and use it again for a retry
const answer = await wrapFetchWithPayment(fetch, client)('${site.url}${pathOf(purchases, 'voucher')}', {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'idempotency-key': key },
  body: JSON.stringify({ offerId: 'OFFER_ID', firstName: 'Ada', lastName: 'Lovelace', maxUsdc: 30 }),
})
console.log(answer.status, JSON.stringify(await answer.json()))
\`\`\`
${deps.isSandbox ? testMoney(site) : ''}
Always send an \`Idempotency-Key\` (random, 16 to 128 of A-Z a-z 0-9 _ -), new for each purchase and unchanged when you retry it, so that a retry can never charge twice. Keep it secret: the key alone finds the order and its goods. Keys are kept for 30 days, and longer while their order is open. To buy several of an offer, make one purchase for each, with a new key each.

If your host pays addresses but cannot send a body or sign each call: \`payableUrl\` of the quote (or of the 402, with \`Prefer: payable-url\`) holds the whole purchase. Let its x402 client GET that address. It buys once, while the quote holds, and shows the goods to whoever pays.

- **200**: delivered. The goods are in \`orders[0].result\`. Keep \`orderId\` and \`accessToken\`; the token is shown once.
- **202**: paid, or not yet known. Poll \`Location\` after \`Retry-After\`. **Never pay again.**
- **402 after paying**: nothing was charged; \`code\` and \`message\` say why. Fix that, then sign the terms of this response.
- **409 \`possible_duplicate\`**: without a key, this wallet bought the same for the same recipient within ten minutes. Nothing was charged; \`orderId\` is that order. Without \`orderId\`, another wallet topped up this phone within two minutes. Only if your user wants another one, send the request again with \`confirmAnother: true\` and a new key.
- **409 \`payment_reused\`**: this payment bought something else. \`order\` says how that stands.
- **4xx**: \`detail\` names the field, and \`didYouMean\` the likely correction.
- **No response at all**: send the very same request again, with the same payment and key. With the key alone, \`GET ${findOrders.path}\` finds the order too, and a \`POST\` without a payment returns it.

\`charged\` in an error says whether money moved: \`no\`, \`yes\` or \`unknown\`. With \`unknown\`, repeat the same request, with the same payment and key: it returns the order if there is one. Sign a new payment only after \`no\`.

## 4. Follow the order

\`GET ${getOrder.path}\`; the goods only with \`Authorization: Bearer {accessToken}\`, the \`Idempotency-Key\` or a sign-in of the paying wallet (\`SIGN-IN-WITH-X\`). If you lost the id: \`GET ${findOrders.path}\` with the \`Idempotency-Key\`, or with a client that signs in: \`client.registerExtension(createSIWxClientExtension({ signers: [account] }))\` of \`@x402/extensions/sign-in-with-x\`, or \`GET ${findOrders.path}?transactionHash=0x…\` with the token, the idempotency key or a sign-in; with none of these it tells only the state.

\`FULFILLED\`: done. \`FULFILLMENT_FAILED\`, \`EXPIRED\`: the refund is on its way; poll \`GET ${getRefund.path}\`. \`PAYMENT_FAILED\`: nothing was paid. Everything else: wait.

## Rules

- The wallet needs USDC on ${networkName} and nothing else: no ETH, the store pays the gas. Withdraw USDC to it from an exchange, on that very network.
- Your user can cap what the wallet spends here: \`PUT ${limitsPath}\`, signed in.
- Codes are money: print them nowhere that others can read, and give them only to your user.
- Refunds go to the wallet that paid, in full and automatically. Delivered goods (an issued code, a credited line, an eSIM) are never refunded.
- At most ${limitRules.discovery.limit} searches, ${limitRules.reading.limit} reads and ${limitRules.purchase.limit} purchase calls a minute. On 429 wait for \`Retry-After\`.
- When \`signals.agent_action\` in [the manifest](${site.url}/.well-known/x402) is \`stop\`, do not buy.

More: [every operation](${site.url}/openapi.json), [every error](${site.url}/errors), MCP at \`${site.url}/mcp\`. Help: ${site.contact}
`
}

/** Only in the sandbox, whose money is not real. */
function testMoney({ url }: Site): string {
  return `
**This store is a sandbox: nothing here is real.** Get test USDC, and buy the test offers:

\`\`\`sh
curl -X POST '${url}/sandbox/faucet' -H 'content-type: application/json' -d '{"address":"YOUR_WALLET"}'
\`\`\`

\`TEST-VOUCHER-OK\` is delivered at once, \`-SLOW\` later, \`-FAIL\` fails and is refunded; each kind has them (\`TEST-TOPUP-OK\` for a number of the United States, \`TEST-ESIM-OK\`). All cost less than 1 USDC.
`
}

function pathOf(operations: readonly { kind: Kind; path: string }[], kind: Kind): string {
  const { path } = operations.find((operation) => operation.kind === kind) as { path: string }
  return path
}
