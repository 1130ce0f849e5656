import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { bodyFor, eventually, get, type Kind } from './requests.ts'
import { useStore } from './store.ts'

/** A consumer that knows the address of the index and, from there on, only what answers say. */

const store = useStore()
let buyer: Buyer

beforeAll(async () => {
  buyer = await newBuyer()
})

/** What a consumer knows of itself, by the names that schemas use. */
const own: Readonly<Record<string, unknown>> = {
  firstName: 'Ada',
  lastName: 'Lovelace',
  msisdn: '+12025550123',
}

async function offerOf(kind: Kind, outcome: string) {
  const { body: index } = await get(store.url, '/ai')
  const offerId = String(bodyFor(kind, outcome)['offerId'])
  const found = await get(store.url, `${index.catalogs[`${kind}s`]}?brand=sandbox%20test&limit=50`)
  expect(found.body.items.map(({ offerId }: { offerId: string }) => offerId)).toContain(offerId)
  const record = await get(store.url, index.offers[`${kind}s`].replace('{offerId}', offerId))
  return { index, offer: record.body }
}

interface Purchase {
  readonly method: string
  readonly url: string
  readonly bodySchema: { readonly required: readonly string[] }
}

/** Buys by the call that the record of the offer names, without waiting for the goods. */
async function bought(offerId: string, { method, url, bodySchema }: Purchase) {
  const body = JSON.stringify(
    Object.fromEntries(
      bodySchema.required.map((name) => [name, name === 'offerId' ? offerId : own[name]]),
    ),
  )
  const headers = { 'content-type': 'application/json', prefer: 'respond-async' }
  const asked = await fetch(url, { method, headers, body })
  const demand = (await asked.json()) as { accepts: [Parameters<Buyer['sign']>[0]] }
  const { header } = await buyer.sign(demand.accepts[0])
  const paid = await fetch(url, {
    method,
    headers: { ...headers, 'payment-signature': header },
    body,
  })
  return { status: paid.status, location: paid.headers.get('location'), body: await answered(paid) }
}

interface Answered {
  readonly orderId: string
  readonly accessToken: string
  readonly message: string
  readonly refund_state: string | null
  readonly orders: readonly [{ readonly state: string; readonly result: object | null }]
}
const answered = async (response: Response) => (await response.json()) as Answered

describe.each<Kind>(['voucher', 'topup'])('a consumer of a %s', (kind) => {
  test('gets from the index to the goods by what each answer says', async () => {
    const { offer } = await offerOf(kind, 'OK')
    const { status, location, body } = await bought(offer.offerId, offer.purchase)
    expect(status).toBe(202)
    expect(body.message).toMatch(/Do not pay again/)
    expect(body.message).toContain('Authorization: Bearer {accessToken}')
    expect(body.message).toContain(String(location))
    const authorization = `Bearer ${body.accessToken}`
    const done = await eventually(
      () => get(store.url, String(location), { authorization }),
      ({ status, body }) => status === 200 && body.orders[0].state === 'FULFILLED',
    )
    expect(done.body.orders[0].result).toEqual(expect.any(Object))
    expect(done.body.message).toContain('orders[0].result')
    const stranger = await get(store.url, String(location))
    expect(stranger.body.orders[0].result).toBeNull()
    expect(stranger.body.message).toContain('result_hint')
    expect(stranger.body.orders[0].result_hint).toContain('accessToken')
  })
})

test('an agent learns from the index what is taken, and buys with the code of the skill', async () => {
  const { body: index } = await get(store.url, '/ai')
  expect(index.payments.agents).toEqual({
    methods: ['usdc-base-sepolia'],
    protocol: 'x402',
    network: 'eip155:84532',
    asset: store.parts.usdc,
  })
  expect(index.payments.website).toEqual(['USDC', ...index.accepts_crypto])
  const { text: skill } = await get(store.url, index.skill)
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(skill) ?? []
  expect(code.trim().split('\n').length).toBeLessThanOrEqual(15)
  const key = generatePrivateKey()
  const owner = await newBuyer(undefined, undefined, privateKeyToAccount(key))
  const before = await owner.balance()
  const script = code.replace('OFFER_ID', 'TEST-VOUCHER-OK')
  const env = { PATH: process.env['PATH'], PRIVATE_KEY: key }
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { env })
  expect(stdout).toMatch(/^200 .*"code":"SBX-/)
  expect(await owner.balance()).toBe(before - 500_000n)
})
