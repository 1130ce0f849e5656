import { randomBytes } from 'node:crypto'
import type { UrlElicitationRequiredError } from '@modelcontextprotocol/client'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from '../buyer.ts'
import { callerFor } from '../reading.ts'
import { bodyFor, get, post, purchasePath, termsOf } from '../requests.ts'
import { useStore } from '../store.ts'
import { limitsAt } from '../wallet-limits.ts'
import { type Arguments, buyWith, openClient, paymentFor, versions } from './client.ts'

const store = useStore()
let limits: ReturnType<typeof limitsAt>

beforeAll(async () => {
  limits = limitsAt(callerFor(store))
})

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

/** What a person does on the page of their approval. */
async function decide(url: string, decision: string, headers: Record<string, string> = {}) {
  return fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams({ decision }),
  })
}

const pageOf = async (url: string) => (await fetch(url)).text()

/** Asks for a purchase, which a person approves. */
async function approved(buyer: Buyer, body: Record<string, unknown> = card): Promise<string> {
  const { status, body: refused } = await payFor(buyer, body)
  expect({ status, code: refused.code }).toEqual({ status: 403, code: 'approval_required' })
  expect((await decide(refused.approvalUrl, 'approve')).status).toBe(303)
  return refused.approvalUrl
}

describe('a wallet with a limit for approvals', () => {
  test('buys once what a person has approved on its page', async () => {
    const buyer = await careful()
    const before = await buyer.balance()
    const { header } = await buyer.sign(await termsOf(store.url, 'voucher', card))
    const headers = { 'payment-signature': header, 'idempotency-key': newKey() }
    const send = () => post(store.url, path, card, headers)
    const refused = await send()
    expect(refused).toMatchObject({
      status: 403,
      body: {
        code: 'approval_required',
        charged: 'no',
        retryable: true,
        approvalUrl: expect.stringMatching(new RegExp(`^${store.url}/approve/apr_[0-9a-z]{26}$`)),
        allows: { usdc: '0.25' },
        asked: { usdc: '0.50' },
      },
    })
    const { approvalUrl } = refused.body
    expect((await send()).body.approvalUrl).toBe(approvalUrl)
    const page = await pageOf(approvalUrl)
    expect(page).toContain('0.50 USDC')
    expect(page).toContain(buyer.address.toLowerCase())
    expect((await send()).body.code).toBe('approval_required')
    expect(await buyer.balance()).toBe(before)
    await decide(approvalUrl, 'approve')
    expect(await pageOf(approvalUrl)).toContain('Approved')
    const bought = await send()
    expect(bought).toMatchObject({ status: 200, body: { orders: [{ state: 'FULFILLED' }] } })
    expect(await buyer.balance()).toBe(before - 500_000n)
    expect((await send()).body.orderId).toBe(bought.body.orderId)
    expect(await pageOf(approvalUrl)).toContain('This approval has been used')
    expect((await payFor(buyer)).body.code).toBe('approval_required')
    expect(await buyer.balance()).toBe(before - 500_000n)
  })

  test('may not lift it at once', async () => {
    const buyer = await careful()
    const lifted = await limits.as(buyer, 'DELETE')
    expect(lifted.body.inForce).toHaveProperty('approveAbove')
    expect((await payFor(buyer)).body.code).toBe('approval_required')
  })

  test('buys nothing else with an approval', async () => {
    const buyer = await careful()
    await approved(buyer)
    expect((await payFor(buyer, { ...card, firstName: 'Grace' })).status).toBe(403)
    expect((await payFor(buyer)).status).toBe(200)
  })

  test('lends an approval to no other wallet', async () => {
    const [buyer, other] = await Promise.all([careful(), careful()])
    await approved(buyer)
    expect((await payFor(other)).body.code).toBe('approval_required')
    expect((await payFor(buyer)).status).toBe(200)
  })

  test('asks again for a price above the approved one, and not for a lower maximum', async () => {
    const buyer = await careful()
    const url = await approved(buyer, { ...card, maxUsdc: 0.75 })
    await store.query('update approvals set amount = 0.4e6, most = 0.4e6 where payer = $1', [
      buyer.address.toLowerCase(),
    ])
    const risen = await payFor(buyer)
    expect(risen.body.code).toBe('approval_required')
    expect(risen.body.approvalUrl).not.toBe(url)
    await decide(risen.body.approvalUrl, 'approve')
    expect((await payFor(buyer, { ...card, maxUsdc: 0.6 })).status).toBe(200)
  })

  test('asks again once an approval is over', async () => {
    const buyer = await careful()
    const url = await approved(buyer)
    await store.query(
      `update approvals set ends_at = ends_at - interval '15 minutes' where payer = $1`,
      [buyer.address.toLowerCase()],
    )
    const late = await payFor(buyer)
    expect(late.body.code).toBe('approval_required')
    expect(late.body.approvalUrl).not.toBe(url)
    const page = await fetch(url)
    expect(page.status).toBe(410)
    expect(await page.text()).toContain('This approval has expired')
  })

  test('is told that a person has declined', async () => {
    const buyer = await careful()
    const { approvalUrl } = (await payFor(buyer)).body
    await decide(approvalUrl, 'decline')
    await decide(approvalUrl, 'approve')
    expect(await pageOf(approvalUrl)).toContain('Declined')
    expect(await payFor(buyer)).toMatchObject({
      status: 403,
      body: { code: 'approval_declined', charged: 'no', retryable: false },
    })
  })
})

describe('the page of an approval', () => {
  test('decides nothing by being looked at, nor for another site, nor without a button', async () => {
    const buyer = await careful()
    const { approvalUrl } = (await payFor(buyer)).body
    const elsewhere = { 'sec-fetch-site': 'cross-site' }
    expect((await decide(approvalUrl, 'approve', elsewhere)).status).toBe(403)
    expect((await decide(approvalUrl, 'perhaps')).status).toBe(303)
    const page = await fetch(approvalUrl)
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(await page.text()).toContain('Approve this purchase?')
    expect((await payFor(buyer)).body.code).toBe('approval_required')
  })

  test('is unknown by any other token, and nobody reads it from the database', async () => {
    const buyer = await careful()
    const { approvalUrl } = (await payFor(buyer, { ...card, firstName: 'Hedwig' })).body
    expect((await get(store.url, '/approve/apr_00000000000000000000000000')).status).toBe(404)
    const rows = JSON.stringify(await store.query('select * from approvals'))
    expect(rows).not.toContain(approvalUrl.split('/').at(-1))
    expect(rows).not.toContain('Hedwig')
  })
})

describe.each(versions)('a host with a limit, and a client of %s', (version) => {
  const settings = '?approveAboveUsdc=0.25'

  test('shows the address to its model, which buys once a person has approved', async () => {
    const buyer = await newBuyer()
    const { call, close } = await openClient(store, version, { settings })
    const { bought, send } = await buyWith(call, buyer, card)
    expect(bought).toMatchObject({
      isError: true,
      data: { code: 'approval_required', charged: 'no' },
    })
    const { approvalUrl } = bought.data
    expect(bought.texts[0]).toMatch(
      /^A person must approve this purchase first\. Show them this page/,
    )
    expect(bought.texts[0]).toContain(approvalUrl)
    await decide(approvalUrl, 'approve')
    expect((await send()).data.orders).toMatchObject([{ state: 'FULFILLED' }])
    const again = await buyWith(call, buyer, card)
    expect(again.bought.data.code).toBe('approval_required')
    await decide(again.bought.data.approvalUrl, 'decline')
    expect((await again.send()).data.code).toBe('approval_declined')
    await close()
  })

  test('brings a person to the page, where the client can', async () => {
    const buyer = await newBuyer()
    const visited: string[] = []
    const visit = async (url: string) => {
      visited.push(url)
      await decide(url, 'approve')
      return 'accept' as const
    }
    const { client, call, close } = await openClient(store, version, { settings, visit })
    const [accepts] = (await call('buy', card)).data.accepts
    const meta: Arguments = { 'x402/payment': await paymentFor(buyer, accepts) }
    if (version === '2026-07-28') {
      expect((await call('buy', card, meta)).data.orders).toMatchObject([{ state: 'FULFILLED' }])
      expect(visited).toEqual([expect.stringContaining('/approve/apr_')])
    } else {
      const asked = await client.callTool({ name: 'buy', arguments: card, _meta: meta }).then(
        () => undefined,
        (error: unknown) => error,
      )
      expect(asked).toMatchObject({ code: -32042 })
      const { elicitations } = asked as UrlElicitationRequiredError
      expect(elicitations).toMatchObject([{ mode: 'url', elicitationId: expect.any(String) }])
      await visit(elicitations[0]?.url ?? '')
      expect((await call('buy', card, meta)).data.orders).toMatchObject([{ state: 'FULFILLED' }])
    }
    await close()
  })
})

describe('a host that takes goods by link alone', () => {
  const settings = '?goods=link'
  const args = () => ({ ...card, include_goods: true, idempotency_key: newKey() })

  test.each(versions)(
    'keeps codes out of what the model of a client of %s reads',
    async (version) => {
      const { call, close } = await openClient(store, version, { settings })
      const given = args()
      const { bought } = await buyWith(call, await newBuyer(), given)
      const { orderId } = bought.data
      const key = { idempotency_key: given.idempotency_key }
      const shown = await call('order_status', { orderId, include_goods: true, ...key })
      for (const { data, texts } of [bought, shown]) {
        expect(data).toMatchObject({ orders: [{ state: 'FULFILLED', result: null }] })
        expect(data.reveal.url).toContain('/reveal#')
        expect(JSON.stringify([data, texts])).not.toMatch(/SBX-|kat_/)
      }
      await close()
    },
  )

  test('has the link shown to a person, where the client can', async () => {
    const visited: string[] = []
    const visit = async (url: string) => {
      visited.push(url)
      return 'accept' as const
    }
    const { call, close } = await openClient(store, '2026-07-28', { settings, visit })
    const before = await newBuyer()
    const { bought } = await buyWith(call, before, args())
    expect(visited).toEqual([expect.stringContaining('/reveal#')])
    expect(bought.data).toMatchObject({ orders: [{ state: 'FULFILLED', result: null }] })
    expect(bought.meta['x402/payment-response']).toMatchObject({ success: true })
    expect(JSON.stringify(bought)).not.toMatch(/SBX-|kat_|reveal#/)
    await close()
  })
})

test('what gateways and registries add to every address is not taken for a setting', async () => {
  const settings = '?api_key=abc&profile=shopper&approveAboveUsdc=0&_t=1'
  const { call, close } = await openClient(store, 'SDK 1.x', { settings })
  const { bought } = await buyWith(call, await newBuyer(), card)
  expect(bought.data.code).toBe('approval_required')
  await close()
})

test.each([
  '?approve_above=5',
  '?spendLimit=5',
  '?%61pproveAbov=5',
  '?approveAboveUSDC=5',
  '?approveAboveUsdc=five',
  '?approveAboveUsdc=-1',
  '?approveAboveUsdc=1&approveAboveUsdc=2',
  '?goods=inline',
])('a host that sets %s hears that it is wrong', async (settings) => {
  const answer = await post(store.url, `/mcp${settings}`, {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/list',
  })
  expect(answer).toMatchObject({ status: 400, body: { parameter: expect.any(String) } })
})
