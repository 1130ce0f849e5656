import { randomBytes } from 'node:crypto'
import type { UrlElicitationRequiredError } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from '../buyer.ts'
import { bodyFor, callerFor, post, purchasePath, termsOf } from '../requests.ts'
import { limitsAt } from '../signing-in.ts'
import { useStore } from '../store.ts'
import { type Arguments, buyWith, openClient, paymentFor, versions } from './client.ts'

const store = useStore()
const limits = limitsAt(callerFor(store))

const path = purchasePath('voucher')
const card = bodyFor('voucher', 'OK')
const newKey = () => `approval-${randomBytes(12).toString('hex')}`

/** A wallet whose purchases a person approves. */
const careful = () => limits.limitedTo({ approveAboveUsdc: '0.25' })

/** Signs what the store asks for, and sends it with the very same body. */
async function payFor(buyer: Buyer, body: Record<string, unknown> = card) {
  const { header } = await buyer.sign(await termsOf(store.url, 'voucher', body))
  return post(store.url, path, body, { 'payment-signature': header })
}

/** What a person does on the page of their approval; without script, they paste its link. */
const decide = (url: string, decision: string, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams({ token: url, decision }),
  })

const pageOf = async (url: string) => (await decide(url, '')).text()

describe('a wallet with a limit for approvals', () => {
  test('buys once what a person has approved on its page, and nothing else', async () => {
    const buyer = await careful()
    const before = await buyer.balance()
    const { header } = await buyer.sign(await termsOf(store.url, 'voucher', card))
    const headers = { 'payment-signature': header, 'idempotency-key': newKey() }
    const send = () => post(store.url, path, card, headers)
    const refused = await send()
    const { approvalUrl } = refused.body
    expect(refused).toMatchObject({
      status: 403,
      body: {
        code: 'approval_required',
        charged: 'no',
        retryable: true,
        allows: { usdc: '0.25' },
        asked: { usdc: '0.50' },
      },
    })
    expect(approvalUrl).toMatch(new RegExp(`^${store.url}/approve#apr_[0-9a-z]{26}$`))
    expect((await send()).body.approvalUrl).toBe(approvalUrl)
    expect(await pageOf(approvalUrl)).toContain(buyer.address.toLowerCase())
    expect((await limits.as(buyer, 'DELETE')).body.inForce).toHaveProperty('approveAbove')
    expect((await send()).body.code).toBe('approval_required')
    expect(await buyer.balance()).toBe(before)

    await decide(approvalUrl, 'approve')
    expect((await payFor(buyer, { ...card, firstName: 'Grace' })).status).toBe(403)
    expect((await payFor(await careful())).body.code).toBe('approval_required')
    const bought = await send()
    expect(bought).toMatchObject({ status: 200, body: { orders: [{ state: 'FULFILLED' }] } })
    expect((await send()).body.orderId).toBe(bought.body.orderId)
    expect(await pageOf(approvalUrl)).toContain('This approval has been used')
    expect((await payFor(buyer)).body.code).toBe('approval_required')
    expect(await buyer.balance()).toBe(before - 500_000n)
  })
})

test('the page of an approval decides nothing by being looked at, for another site, or without a button', async () => {
  const buyer = await careful()
  const { approvalUrl } = (await payFor(buyer, { ...card, firstName: 'Hedwig' })).body
  const elsewhere = { 'sec-fetch-site': 'cross-site' }
  expect((await decide(approvalUrl, 'approve', elsewhere)).status).toBe(403)
  expect(await (await fetch(approvalUrl)).text()).not.toContain('Hedwig')
  const page = await decide(approvalUrl, 'perhaps')
  expect(page.headers.get('cache-control')).toBe('no-store')
  const text = await page.text()
  expect(text).toContain('Approve this purchase?')
  expect(text).toContain('Hedwig')
  expect((await decide(`${store.url}/approve#apr_${'0'.repeat(26)}`, 'approve')).status).toBe(404)
  const rows = JSON.stringify(await store.query('select * from approvals'))
  expect(rows).not.toContain(approvalUrl.split('#').at(-1))
  expect(rows).not.toContain('Hedwig')
})

describe.each(versions)('a host with a limit, and a client of %s', (version) => {
  const settings = '?approveAboveUsdc=0.25'

  test('shows the address to its model, which buys once a person has approved', async () => {
    await using opened = await openClient(store, version, { settings })
    const { bought, send } = await buyWith(opened.call, await newBuyer(), card)
    const { isError, data, texts } = bought
    expect([isError, data.code, data.charged]).toEqual([true, 'approval_required', 'no'])
    expect(texts[0]).toMatch(/^A person must approve this purchase first\. Show them this page/)
    expect(texts[0]).toContain(data.approvalUrl)
    await decide(data.approvalUrl, 'approve')
    expect((await send()).data.orders).toMatchObject([{ state: 'FULFILLED' }])
  })

  test('brings a person to the page, where the client can', async () => {
    const visited: string[] = []
    const visit = async (url: string) => {
      visited.push(url)
      await decide(url, 'approve')
      return 'accept' as const
    }
    await using opened = await openClient(store, version, { settings, visit })
    const { client, call } = opened
    const args = { ...card, idempotency_key: newKey() }
    const [accepts] = (await call('buy', args)).data.accepts
    const meta: Arguments = { 'x402/payment': await paymentFor(await newBuyer(), accepts) }
    if (version !== '2026-07-28') {
      const asked = client.callTool({ name: 'buy', arguments: args, _meta: meta })
      const error = await asked.then(
        () => undefined,
        (refused: unknown) => refused as UrlElicitationRequiredError,
      )
      expect(error).toMatchObject({ code: -32042, elicitations: [{ mode: 'url' }] })
      await visit(error?.elicitations[0]?.url ?? '')
    }
    expect((await call('buy', args, meta)).data.orders).toMatchObject([{ state: 'FULFILLED' }])
    expect(visited).toEqual([expect.stringContaining('/approve#apr_')])
  })
})

describe('a host that takes goods by link alone', () => {
  const settings = '?goods=link'
  const args = () => ({ ...card, include_goods: true, idempotency_key: newKey() })

  test('keeps codes out of what the model reads', async () => {
    await using opened = await openClient(store, 'SDK 1.x', { settings })
    const given = args()
    const { bought } = await buyWith(opened.call, await newBuyer(), given)
    const proof = { orderId: bought.data.orderId, idempotency_key: given.idempotency_key }
    const shown = await opened.call('order_status', { ...proof, include_goods: true })
    for (const { data, texts } of [bought, shown]) {
      expect(data).toMatchObject({ orders: [{ state: 'FULFILLED', result: null }] })
      expect(data.reveal.url).toContain('/reveal#')
      expect(JSON.stringify([data, texts])).not.toMatch(/SBX-|kat_/)
    }
  })
})
