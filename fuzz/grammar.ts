import { type Draft, type Kind, kinds, type Material, type Pair } from './draft.ts'
import type { Random } from './random.ts'
import { toolCall } from './tool-calls.ts'

/** Parameters, with values that are each valid in some request. */
type Values = Readonly<Record<string, readonly string[]>>

const paging: Values = { limit: ['1', '5', '20', '50'], offset: ['0', '2', '7', '100000'] }
const named: Values = {
  country: ['US', 'fr', 'GT', 'XK', 'us%20'],
  brand: ['amazon', 'Tigo', 'a', 'free%20fire', '%C3%A9'],
}

/** The paths that GET reads, with their parameters. */
const readings: readonly (readonly [path: string, query: Values])[] = [
  ['/ai', {}],
  ['/ai/capabilities', {}],
  [
    '/ai/vouchers',
    { ...named, ...paging, subType: ['Shopping', 'fuel'], search: ['gift', 'a%20b'] },
  ],
  [
    '/ai/topups',
    {
      ...named,
      ...paging,
      subType: ['voice', 'data'],
      region: ['Africa', 'south-asia'],
      q: ['tigo'],
    },
  ],
  [
    '/ai/esims',
    { ...named, ...paging, regions: ['Europe', 'Global'], q: ['data'], duration: ['7'] },
  ],
  [
    '/api/catalog/vouchers/offers',
    { ...named, ...paging, category: ['Fuel'], minValue: ['1.5'], maxValue: ['90'], q: ['card'] },
  ],
  [
    '/api/catalog/topups/offers',
    { ...named, ...paging, operator: ['vodafone'], region: ['Africa'], q: ['tigo'] },
  ],
  [
    '/api/catalog/esims/offers',
    {
      ...paging,
      covers: ['FR,DE', 'us', 'FR,DE,IT,ES,PT'],
      regional: ['true', 'false'],
      regions: ['Global'],
      duration: ['7', '30'],
      q: ['data'],
    },
  ],
  ...['voucher', 'topup', 'esim'].map(
    (kind) => [`/api/catalog/${kind}s/offers/TEST-${kind.toUpperCase()}-OK`, {}] as const,
  ),
  ['/api/catalog/vouchers/brands', {}],
  ['/api/catalog/vouchers/countries', {}],
  ['/api/catalog/vouchers/filters', {}],
  ['/api/catalog/topups/countries', {}],
  ['/api/catalog/topups/regions', {}],
  ['/api/catalog', {}],
  ['/.well-known/x402', {}],
  ['/', {}],
  ['/errors', {}],
  ['/reveal', {}],
  ['/buy/TEST-VOUCHER-OPEN', {}],
  ['/buy/TEST-ESIM-OK', {}],
  ['/style.css', {}],
  ['/logo.svg', {}],
  ['/favicon.ico', {}],
  ['/robots.txt', {}],
  ['/livez', {}],
  ['/readyz', {}],
  ['/metrics', {}],
  ['/sandbox', {}],
  ['/nothing/here', {}],
]

const noOrder = `ord_${'0'.repeat(26)}`
const limitsPath = '/api/catalog/limits'

/** A well-formed request of any kind that the store answers. */
export function goodDraft(random: Random, material: Material): Draft {
  const throwOf = random.below(100)
  if (throwOf < 40) return reading(random)
  if (throwOf < 52) return orderReading(random, material)
  if (throwOf < 60) return quote(random)
  if (throwOf < 86) return purchase(random, material)
  if (throwOf < 92) return toolCall(random, material)
  if (throwOf < 94) return setLimits(random, material)
  return throwOf < 97 ? refundClaim(random, material) : webhook(random, material)
}

function reading(random: Random): Draft {
  const [path, values] = random.pick(readings)
  const query = Object.entries(values)
    .filter(() => random.chance(0.3))
    .map(([name, good]): Pair => [name, random.pick(good)])
  return { name: `read ${path}`, method: 'GET', path, query, headers: readingHeaders(random) }
}

function orderReading(random: Random, { paid, signIn }: Material): Draft {
  const id = random.pick([paid.orderId, noOrder])
  const [name, path, query] = random.pick<readonly [string, string, readonly Pair[]]>([
    ['order', `/api/catalog/orders/${id}`, []],
    ['refund', `/api/catalog/orders/${id}/refund`, []],
    ['order by hash', '/api/catalog/orders', [['transactionHash', paid.transactionHash]]],
    ['order by payment', '/api/catalog/orders', [['paymentId', paid.paymentId]]],
    ['orders', '/api/catalog/orders', [['limit', '5']]],
    ['esim orders', '/api/catalog/esims/orders/info', [['offset', '1']]],
    ['limits', limitsPath, []],
  ])
  const draft = { name, method: 'GET', path, query, headers: readingHeaders(random) }
  return random.chance(0.4) ? { ...draft, signIn } : draft
}

function quote(random: Random): Draft {
  const kind = random.pick(kinds)
  const fields = Object.entries(bodyOf(random, kind))
  const query = fields.map(([name, value]): Pair => [name, encodeURIComponent(String(value))])
  return { name: `quote ${kind}`, method: 'GET', path: purchasePath(kind), query, headers: [] }
}

function purchase(random: Random, { unpaid, paid, signIn }: Material): Draft {
  const kind = random.pick(kinds)
  const draft = {
    name: `buy ${kind}`,
    method: 'POST',
    path: purchasePath(kind),
    query: [],
    headers: buyingHeaders(random),
    body: bodyOf(random, kind),
  }
  const throwOf = random.below(20)
  if (throwOf < 6) return draft
  if (throwOf < 17) return { ...draft, payment: unpaid[kind] }
  if (throwOf < 18) return { ...draft, payment: unpaid[kind], signIn }
  // The payment is public on the chain: it must never open the goods that it paid for.
  const { kind: bought, body, payment } = paid
  return { ...draft, name: 'repeat', path: purchasePath(bought), body, payment }
}

/** The sign-in is for another request, so these limits must never be set. */
function setLimits(random: Random, { signIn }: Material): Draft {
  const method = random.pick(['PUT', 'PUT', 'PUT', 'DELETE'])
  const all = {
    perOrderUsdc: '12.5',
    perDayUsdc: '0',
    kinds: ['esim'],
    countries: ['de', 'US'],
    recipients: ['+12025550123', 'ada@example.com'],
  }
  const some = Object.fromEntries(Object.entries(all).filter(() => random.chance(0.6)))
  const draft = {
    name: `limits ${method}`,
    method,
    path: limitsPath,
    query: [],
    headers: readingHeaders(random),
    ...(method === 'PUT' ? { body: some } : {}),
  }
  return random.chance(0.4) ? { ...draft, signIn } : draft
}

function refundClaim(random: Random, { paid }: Material): Draft {
  return {
    name: 'claim',
    method: 'POST',
    path: `/api/catalog/orders/${random.pick([paid.orderId, noOrder])}/refund`,
    query: [],
    headers: [['idempotency-key', 'c'.repeat(20)], ...buyingHeaders(random)],
    body: { reason: 'It did not come', paymentId: paid.paymentId, orderIds: [paid.orderId] },
  }
}

function webhook(random: Random, { webhook: { header, value } }: Material): Draft {
  return {
    name: 'webhook',
    method: 'POST',
    path: '/webhooks/supplier',
    query: [],
    headers: random.chance(0.6) ? [[header, value]] : [[header, 'x'.repeat(32)]],
    body: { transactionId: 'ord0'.repeat(6), status: 'DONE', log: [{ at: 1 }] },
  }
}

function bodyOf(random: Random, kind: Kind): Record<string, unknown> {
  const offerId = `TEST-${kind.toUpperCase()}-${random.pick(['OK', 'OK', 'OK', 'OPEN', 'FAIL'])}`
  const value = offerId.endsWith('OPEN') ? { value: 0.5 } : {}
  if (kind === 'voucher') return { offerId, firstName: 'Ada', lastName: 'Lovelace', ...value }
  if (kind === 'topup') return { offerId, msisdn: '+12025550123', ...value }
  return random.chance(0.2) ? { offerId, iccid: '8910300000000000001' } : { offerId }
}

function purchasePath(kind: Kind): string {
  return `/api/catalog/${kind}s/purchase/info`
}

function readingHeaders(random: Random): Pair[] {
  const all: readonly Pair[] = [
    ['accept', 'application/json'],
    ['if-none-match', '"abc", W/"def"'],
    ['authorization', `Bearer kat_${'t'.repeat(43)}`],
    ['origin', 'https://agent.example'],
    ['accept-encoding', 'gzip, br'],
  ]
  return all.filter(() => random.chance(0.2))
}

function buyingHeaders(random: Random): Pair[] {
  const all: readonly Pair[] = [
    ['idempotency-key', 'k'.repeat(32)],
    ['prefer', 'wait=0'],
    ['prefer', 'respond-async'],
    ['authorization', `Bearer kat_${'t'.repeat(43)}`],
    ['origin', 'https://agent.example'],
    ['expect', '100-continue'],
  ]
  return all.filter(() => random.chance(0.12))
}
