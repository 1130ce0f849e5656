import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from '../buyer.ts'
import { bodyFor, eventually, type Kind } from '../requests.ts'
import { useStore } from '../store.ts'
import { httpTransport, mcpTransport, type Outcome, signed, type Transport } from './transports.ts'

const store = useStore()
let buyer: Buyer
let http: Transport
let mcp: Awaited<ReturnType<typeof mcpTransport>>

beforeAll(async () => {
  buyer = await newBuyer()
  http = httpTransport(store)
  mcp = await mcpTransport(store)
})
afterAll(() => mcp.close())

/** One story, told over a transport: everything that it answered on the way. */
type Story = (transport: Transport) => Promise<readonly Outcome[]>

const once =
  (ask: (transport: Transport) => Promise<Outcome>): Story =>
  async (transport) => [await ask(transport)]
const newKey = () => `parity-${randomBytes(12).toString('hex')}`
const voucher = bodyFor('voucher', 'OK')
const topup = bodyFor('topup', 'OK')
const open = (value: unknown) => ({ ...voucher, offerId: 'TEST-VOUCHER-OPEN', value })

const reading: readonly (readonly [string, Story])[] = [
  ['vouchers', once((transport) => transport.search('voucher', { query: 'sandbox', limit: 5 }))],
  [
    'topups of a country',
    once((transport) => transport.search('topup', { country: 'gt', limit: 3 })),
  ],
  [
    'what nothing matches',
    once((transport) => transport.search('voucher', { brand: 'Nosuchbrand' })),
  ],
  ['a misspelt filter', once((transport) => transport.search('voucher', { contry: 'US' }))],
  [
    'the name of a country',
    once((transport) => transport.search('topup', { country: 'Guatemala' })),
  ],
  ['one offer', once((transport) => transport.offer('esim', 'TEST-ESIM-OK'))],
]

const asking: readonly (readonly [string, Kind, Record<string, unknown>])[] = [
  ['a voucher', 'voucher', voucher],
  ['a topup', 'topup', topup],
  ['an open value', 'voucher', open(25)],
  ['an offer that is none', 'voucher', { ...voucher, offerId: 'NO-SUCH' }],
  ['a number of another country', 'topup', { ...topup, msisdn: '+4915112345678' }],
  ['no name', 'voucher', { offerId: 'TEST-VOUCHER-OK' }],
  ['a misspelt field', 'voucher', { ...voucher, fistName: 'Ada' }],
  ['an eSIM that nobody knows', 'esim', { ...bodyFor('esim', 'OK'), iccid: '8934071100000000001' }],
]

const buying: readonly (readonly [string, Story])[] = [
  ...(['voucher', 'topup', 'esim'] as const).map(
    (kind) => [`a ${kind}, and reading it again`, bought(kind)] as const,
  ),
  ['the same payment with another body', reused],
  ['the same key with another payment', sameKey],
  ['a payment that is for less', underpaid],
  ['what fails, and its refund', refunded],
  ['a refund of what was delivered', deliveredRefund],
  ['an order that is none', once((transport) => transport.order(`ord_${'0'.repeat(26)}`))],
  [
    'a refund of no order',
    once((transport) => transport.refund('ord_0', { key: newKey(), fields: { reason: 'x' } })),
  ],
]

describe('both transports say the same of', () => {
  test.each(reading)('reading: %s', async (_, story) => expectParity(story, asDiscovery))

  test.each(asking)('asking to buy: %s', async (_, kind, fields) => {
    await expectParity(once((transport) => transport.buy(kind, fields)))
  })

  // A query has only texts, so a quote over HTTP cannot tell 25 from "25".
  test.each(asking.filter(([, , { firstName, value }]) => value === undefined && firstName !== 7))(
    'a quote of %s',
    async (_, kind, fields) => {
      await expectParity(once((transport) => transport.quote(kind, fields)))
    },
  )

  test.each(buying)('buying: %s', async (_, story) => expectParity(story))
})

async function expectParity(story: Story, words = (said: Outcome) => said): Promise<void> {
  const [overHttp, overMcp] = await httpAnd(story)
  expect(overMcp.map(words)).toEqual(overHttp)
}

async function httpAnd(story: Story) {
  return [(await story(http)).map(alike), (await story(mcp)).map(alike)] as const
}

function bought(kind: Kind): Story {
  const fields = bodyFor(kind, 'OK')
  return async (transport) => {
    const key = newKey()
    const demand = await transport.buy(kind, fields, { key })
    const payment = await signed(buyer, demand)
    const first = await transport.buy(kind, fields, { key, payment })
    const { orderId, paymentId, transactionHash } = first.body as Record<string, string>
    return [
      demand,
      first,
      await transport.buy(kind, fields, { key, payment }),
      await transport.buy(kind, fields, { payment }),
      await transport.order(orderId ?? '', key),
      await transport.order(orderId ?? ''),
      await transport.findOrder({ paymentId: paymentId ?? '' }),
      await transport.findOrder({ transactionHash: transactionHash ?? '' }),
    ]
  }
}

async function reused(transport: Transport) {
  const payment = await signed(buyer, await transport.buy('voucher', voucher))
  await transport.buy('voucher', voucher, { payment })
  return [await transport.buy('voucher', { ...voucher, firstName: 'Grace' }, { payment })]
}

async function sameKey(transport: Transport) {
  const key = newKey()
  const payments = await Promise.all(
    [0, 1].map(async () => signed(buyer, await transport.buy('voucher', voucher))),
  )
  const outcomes: Outcome[] = []
  for (const payment of payments)
    outcomes.push(await transport.buy('voucher', voucher, { key, payment }))
  const other = { ...voucher, firstName: 'Grace' }
  const payment = await signed(buyer, await transport.buy('voucher', other))
  return [...outcomes, await transport.buy('voucher', other, { key, payment })]
}

async function underpaid(transport: Transport) {
  const demand = await transport.buy('esim', bodyFor('esim', 'OK'))
  const { accepts } = demand.body as { accepts: [Parameters<Buyer['sign']>[0]] }
  const { header } = await buyer.sign({ ...accepts[0], amount: '1' })
  return [await transport.buy('esim', bodyFor('esim', 'OK'), { payment: header })]
}

async function refunded(transport: Transport) {
  const fields = bodyFor('topup', 'FAIL')
  const payment = await signed(buyer, await transport.buy('topup', fields))
  const { orderId } = (await transport.buy('topup', fields, { payment })).body as {
    orderId: string
  }
  const watched = await eventually(
    () => transport.refund(orderId),
    ({ body }) => (body as { state?: string }).state === 'REFUNDED',
  )
  const claim = (fields: Record<string, unknown>) =>
    transport.refund(orderId, { key: newKey(), fields })
  return [
    watched,
    await transport.order(orderId),
    await claim({ reason: 'It never came.' }),
    await claim({ refund_to: '0x0' }),
    await claim({ resaon: 'x' }),
    await claim({ paymentId: 'pay_other' }),
  ]
}

async function deliveredRefund(transport: Transport) {
  const payment = await signed(buyer, await transport.buy('voucher', voucher))
  const { body } = await transport.buy('voucher', voucher, { payment })
  return [await transport.refund((body as { orderId: string }).orderId)]
}

/** What a transport says in its own words, what is new in each call, and pictures, which HTTP has as text. */
const ownOfTransport = [
  'result_hint',
  'qrPng',
  'qrSvg',
  'requestId',
  'quote',
  'bazaar',
  'bodySchema',
  'signature',
]
/** What each purchase has of its own: what matters is that it is there. */
const secrets = [
  ...['iccid', 'activationCode', 'lpa', 'pin', 'confirmationNumber'],
  ...['accessToken', 'payableUrl'],
]
/** What the errors of the discovery interface do not have (docs/agents/errors.md). */
const notInDiscovery = ['type', 'title', 'status', 'code', 'retryable']

/** An outcome without what differs from one call to the next. */
function alike({ type, body }: Outcome): Outcome {
  const text = JSON.stringify(body, (name, value) => {
    if (ownOfTransport.includes(name)) return undefined
    if (name === 'accepts') return value.map((one: object) => ({ ...one, extensions: undefined }))
    if (name === 'resource') return { ...value, url: 'resource' }
    return secrets.includes(name) ? 'secret' : value
  })
    .replace(/0x[0-9a-f]{64}/g, '0x')
    .replace(/\b(ord|pay|ref)_\w{26}/g, '$1')
    .replace(/parity-\w+/g, 'key')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'uuid')
    .replace(/SBX-[\w-]+/g, 'code')
    .replace(/The PAYMENT-SIGNATURE header|The payment in _meta\[\\"x402\/payment\\"\]/g, 'It')
  const { message, ...said } = JSON.parse(text)
  return { type, body: message === undefined ? said : { ...said, message: typeof message } }
}

/** A problem in the words of discovery. */
function asDiscovery({ type, body }: Outcome): Outcome {
  if (type !== 'problem') return { type, body }
  const { detail, ...rest } = body as Record<string, unknown>
  const kept = Object.entries(rest).filter(([name]) => !notInDiscovery.includes(name))
  return { type, body: { error: detail, ...Object.fromEntries(kept) } }
}
