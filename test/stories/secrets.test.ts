import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { bodyFor, buy, callerFor, type Kind, post, purchasePath, until } from './requests.ts'
import { useStore } from './store.ts'

// So many offers that some ask for every field of the supplier's list.
const metricsToken = `metrics-${'quillfeather'.repeat(4)}`
const store = useStore({ offers: 300, env: { METRICS_TOKEN: metricsToken } })
const call = callerFor(store)
let buyer: Buyer
/** What the supplier gave out. */
let goods: string[]
/** What the buyer told of a person. */
const personal = ['Zephyrine', 'Quillfeather', 'zephyrine@quill.example', '+12025550187', 'QUILLZ']
/** What opens an order or a payment. */
const tokens: string[] = []
const keys: string[] = []
const signatures: string[] = []
const orderIds: string[] = []
const iccids: string[] = []

const person = { firstName: 'Zephyrine', lastName: 'Quillfeather' }

/** Of a brand that asks for everything on Zendit's list. */
const furtherFields = {
  recipientMiddleName: 'Zephyrine',
  recipientMsisdn: '+12025550187',
  recipientAddressStreet: '7 Quillfeather Lane',
  recipientAddressPostal: 'QUILLZ 77',
  senderMsisdn: '+12025550187',
  senderAddressCity: 'Quillfeather',
  deliveryChallengeAnswer: 'Zephyrine',
  deliveryMessage: 'Zephyrine sends her love',
}

function told(kind: Kind, outcome: string): Record<string, unknown> {
  const body = bodyFor(kind, outcome)
  if (kind === 'voucher') return { ...body, ...person }
  return kind === 'topup' ? { ...body, msisdn: '+12025550187' } : body
}

beforeAll(async () => {
  buyer = await newBuyer()
  const { body } = await call('/api/catalog/vouchers/offers?limit=100')
  const { offerId } = body.items.find(
    ({ requiredFields, priceType }: { requiredFields: string[]; priceType: string }) =>
      priceType === 'FIXED' && requiredFields.join() === 'firstName,lastName,email,country',
  )
  const asksMore = { offerId, ...person, email: 'zephyrine@quill.example', country: 'US' }
  const all = await call('/api/catalog/vouchers/offers/DIRTY-VOUCHERS-KEEP-ALL-FIELDS')
  const asksAll = { ...all.body.purchase.example, ...asksMore, ...furtherFields }
  const purchases: [Kind, Record<string, unknown>][] = [
    ...(['voucher', 'topup', 'esim'] as const).flatMap((kind) =>
      ['OK', 'OK', 'FAIL'].map((outcome): [Kind, Record<string, unknown>] => [
        kind,
        told(kind, outcome),
      ]),
    ),
    ['voucher', { ...told('voucher', 'OPEN'), value: 0.5 }],
    ['voucher', asksMore],
    ['voucher', { ...asksAll, offerId: all.body.offerId }],
  ]
  for (const [at, [kind, lineItem]] of purchases.entries()) await buyOne(at, kind, lineItem)
  await Promise.all(
    orderIds.map(async (id, at) => {
      const order = await until(store, id, ended, { authorization: `Bearer ${tokens[at]}` })
      const { iccid, code } = order.orders[0].result ?? {}
      for (const one of [iccid, code]) if (one !== undefined) expect(one.length).toBeGreaterThan(8)
      if (iccid !== undefined) iccids.push(iccid)
    }),
  )
  // Some that are refused, because refusals are logged too.
  await post(store.url, purchasePath('voucher'), { ...asksMore, email: 'zephyrine@quill' })
  await post(store.url, purchasePath('topup'), { ...told('topup', 'OK'), extra: 1 })
  await call(`${purchasePath('topup')}?offerId=TEST-TOPUP-OK&msisdn=%2B12025550187`)
  const ledger = (await store.admin('/ledger')) as { purchases: { secrets: string[] }[] }
  goods = ledger.purchases.flatMap(({ secrets }) => secrets)
})

const ended = (order: { orders: { state: string }[]; refund_state: string | null }) =>
  order.refund_state === 'REFUNDED' || order.orders[0]?.state === 'FULFILLED'

async function buyOne(at: number, kind: Kind, lineItem: Record<string, unknown>): Promise<void> {
  const key = `quillfeather-key-${at}-${'z'.repeat(20)}`
  const { payment, answer, send } = await buy(store, buyer, kind, lineItem, {
    headers: { 'idempotency-key': key },
  })
  expect([200, 202], JSON.stringify(answer.body)).toContain(answer.status)
  const { orderId, accessToken } = answer.body
  orderIds.push(orderId)
  tokens.push(accessToken)
  keys.push(key)
  signatures.push(payment.header, payment.signature)
  await send()
  await call(`/api/catalog/orders/${orderId}`, {
    headers: { authorization: `Bearer ${accessToken}` },
  })
}

/** Every place in which one of these stands, shortened so that a failure repeats no secret. */
function found(haystack: readonly string[], needles: readonly string[]): string[] {
  return needles.flatMap((needle) =>
    haystack
      .filter((text) => text.includes(needle))
      .map((text) => `${needle.slice(0, 6)}… in ${text.slice(0, 120)}`),
  )
}

/** Every value of every row, as text; bytes as letters, so that compressed ones are not missed. */
async function everyRow(): Promise<string[]> {
  const tables = await store.query(
    `select table_schema, table_name from information_schema.tables where table_schema in ('public', 'audit')`,
  )
  const each = tables
    .filter(({ table_name }) => !table_name.startsWith('catalog_'))
    .map((one) => `select to_jsonb(t)::text as row from ${one.table_schema}."${one.table_name}" t`)
  const rows = await store.query(each.join(' union all '))
  return rows.map(({ row }) => row)
}

describe('after purchases of every kind', () => {
  test('there is something to find', () => {
    expect(orderIds).toHaveLength(12)
    expect(goods.length).toBeGreaterThanOrEqual(6)
    for (const secret of goods) expect(secret.length).toBeGreaterThan(8)
    for (const token of tokens) expect(token).toMatch(/^[\w-]{20,}$/)
    expect(iccids.length).toBeGreaterThan(0)
  })

  test('no log line, at the finest level, holds a secret or a person', () => {
    const { keys: wallets } = inject('parts')
    const { logLines } = store
    expect(logLines.length).toBeGreaterThan(60)
    expect(found(logLines, goods)).toEqual([])
    expect(found(logLines, iccids)).toEqual([])
    expect(found(logLines, personal)).toEqual([])
    expect(found(logLines, ['2025550187', 'quill.example', '%2B1202'])).toEqual([])
    expect(found(logLines, tokens)).toEqual([])
    expect(found(logLines, keys)).toEqual([])
    expect(found(logLines, signatures)).toEqual([])
    const stripped = signatures.map((signature) => signature.replace(/^0x/, '').slice(0, 64))
    expect(found(logLines, stripped)).toEqual([])
    const ours = ['sandbox_story_key', store.webhook.value, wallets.gas, wallets.refund]
    expect(found(logLines, [...ours, ...ours.map((key) => key.replace(/^0x/, ''))])).toEqual([])
    expect(found(logLines, [new URL(store.databaseUrl).password].filter(Boolean))).toEqual([])
  })

  test('no row holds goods, persons, tokens or keys in clear', async () => {
    const rows = await everyRow()
    const { keys: wallets } = inject('parts')
    expect(rows.length).toBeGreaterThan(60)
    for (const id of orderIds) expect(found(rows, [id])).not.toEqual([])
    // The settings are in the audit.
    const noted = ['"MARKUP_BPS": "0"', '"METRICS_TOKEN": "digest ']
    for (const one of noted) expect(found(rows, [one])).not.toEqual([])
    expect(found(rows, [metricsToken])).toEqual([])
    expect(found(rows, goods)).toEqual([])
    expect(found(rows, iccids)).toEqual([])
    expect(found(rows, [...personal, '2025550187'])).toEqual([])
    expect(found(rows, tokens)).toEqual([])
    expect(found(rows, keys)).toEqual([])
    const base64 = [...goods, ...personal].map((text) => Buffer.from(text).toString('base64'))
    expect(found(rows, base64)).toEqual([])
    const hex = [...goods, ...personal].map((text) => Buffer.from(text).toString('hex'))
    expect(found(rows, hex)).toEqual([])
    const ours = ['sandbox_story_key', store.webhook.value, wallets.gas, wallets.refund]
    expect(found(rows, [...ours, ...ours.map((key) => key.replace(/^0x/, ''))])).toEqual([])
  })
})
