import { createSIWxPayload, encodeSIWxHeader } from '@x402/extensions/sign-in-with-x'
import { beforeAll, describe, expect, test } from 'vitest'
import { createSigner } from '../../src/secrets/tokens.ts'
import { secretsKey } from '../harness/node.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { settled } from './facts.ts'
import { openClient } from './mcp/client.ts'
import { callerFor, expectProblem, rowsOf } from './reading.ts'
import { bodyFor, buy, purchasePath, until } from './requests.ts'
import { openSibling, useStore } from './store.ts'

const store = useStore()
const call = callerFor(store)
let buyer: Buyer
let other: Buyer
let orderId: string

const list = '/api/catalog/orders'
const esimList = '/api/catalog/esims/orders/info'
const hour = 3_600_000

beforeAll(async () => {
  ;[buyer, other] = await Promise.all([newBuyer(), newBuyer()])
  await buy(store, buyer, 'esim', bodyFor('esim', 'OK'))
  const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
  orderId = answer.body.orderId
  await buy(store, other, 'voucher', bodyFor('voucher', 'OK'))
  // A busy machine answers before the goods are there.
  await until(store, orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')
  // No order moves by itself between two looks at the tables.
  await settled(store)
})

/** A sign-in for the challenge of this path. */
async function signIn(wallet: Buyer, path = list) {
  const { info, supportedChains } = (await call(path)).body.extensions['sign-in-with-x']
  const complete = { ...info, ...supportedChains[0] }
  return encodeSIWxHeader(await createSIWxPayload(complete, wallet.account, info.uri))
}

const signedIn = async (wallet: Buyer, path = list) =>
  call(path, { headers: { 'sign-in-with-x': await signIn(wallet, path) } })
const shown = (token: string, path = list) =>
  call(path, { headers: { authorization: `Bearer ${token}` } })

describe('a list token', () => {
  test('comes with a sign-in and lists the same orders without one', async () => {
    const { statement } = (await call(list)).body.extensions['sign-in-with-x'].info
    expect(statement).toContain('a token that lists them for 2 hours')
    const { listToken, ...page } = (await signedIn(buyer)).body
    expect(page.total).toBe(2)
    const left = Date.parse(listToken.expiresAt) - Date.now()
    expect(left).toBeGreaterThan(1.9 * hour)
    expect(left).toBeLessThanOrEqual(2 * hour)
    const before = await rowsOf(store)
    for (let at = 0; at < 3; at += 1) {
      const listed = await shown(listToken.token)
      expect([listed.status, listed.body]).toEqual([200, page])
      expect(listed.headers.get('cache-control')).toBe('no-store')
    }
    expect(await rowsOf(store)).toEqual(before)
    const [esims, one] = [`${esimList}?limit=1`, `${list}?limit=1&offset=1`]
    expect((await shown(listToken.token, esims)).body).toMatchObject({ total: 1, limit: 1 })
    expect((await shown(listToken.token, one)).body.items).toEqual(page.items.slice(1))
  })

  test('lists at every node of the store', async () => {
    const { token } = (await signedIn(buyer)).body.listToken
    const sibling = await openSibling(store)
    try {
      const headers = { authorization: `Bearer ${token}` }
      expect((await callerFor(sibling)(list, { headers })).body.total).toBe(2)
    } finally {
      await sibling.close()
    }
  })

  test('shows no goods and claims nothing', async () => {
    const { token } = (await signedIn(buyer)).body.listToken
    const order = await shown(token, `${list}/${orderId}`)
    expect(order.body.orders[0]).toMatchObject({ state: 'FULFILLED', result: null })
    const receipt = await shown(token, `${list}/${orderId}/receipt`)
    // The signed part alone, as everybody gets it, without what was delivered.
    expect(Object.keys(receipt.body)).toEqual(['receipt'])
    expect((await shown(token, '/api/catalog/limits')).status).toBe(402)
    const { text } = await shown(token)
    expect(text).not.toMatch(/SBX-|LPA:|result|accessToken|Ada|Lovelace/)
  })

  test('of another wallet lists the orders of that wallet alone', async () => {
    const { token } = (await signedIn(other)).body.listToken
    const { body } = await shown(token)
    expect(body.total).toBe(1)
    expect(JSON.stringify(body)).not.toContain(orderId)
  })

  test('is not given twice for one sign-in', async () => {
    const headers = { 'sign-in-with-x': await signIn(buyer) }
    expect((await call(list, { headers })).body).toHaveProperty('listToken')
    const again = await call(list, { headers })
    expectProblem(again, { status: 401, code: 'sign_in_invalid' })
    expect(again.text).not.toContain('kol_')
  })

  test('is not given for a sign-in whose statement does not name it', async () => {
    for (const path of ['/api/catalog/limits', esimList]) {
      const header = await signIn(buyer, path)
      const { status, body } = await call(list, { headers: { 'sign-in-with-x': header } })
      expect([status, body.total]).toEqual([200, 2])
      expect(body).not.toHaveProperty('listToken')
    }
  })

  test.each<[string, (token: string) => string, RegExp]>([
    ['expired', () => signed([buyer.address, seconds(-1)]), /it has expired\. Sign in again/],
    ['for another wallet', (token) => reworded(token, other.address), /not from this store/],
    ['cut short', (token) => token.slice(0, -1), /not from this store/],
    ['signed for another use', () => signed([buyer.address, seconds(60)], 'reveal'), /not from/],
    ['signed by nobody', () => 'kol_', /not from this store/],
  ])('that is %s is refused', async (_, change, why) => {
    const { token } = (await signedIn(buyer)).body.listToken
    for (const path of [list, esimList]) {
      const answer = await shown(change(token), path)
      expectProblem(answer, { status: 401, code: 'sign_in_invalid' })
      expect(answer.body.detail).toMatch(why)
    }
  })

  test('is asked for again where another token is shown', async () => {
    for (const token of ['kat_none', signed(['kwp_', buyer.address, seconds(60)]).slice(4)]) {
      expect((await shown(token)).status).toBe(402)
    }
  })

  test('is never in the log', async () => {
    const { token } = (await signedIn(buyer)).body.listToken
    await shown(token)
    await shown(token.slice(0, -1))
    expect(store.logLines.join()).not.toContain(token.slice(4, 60))
  })

  test('lists for a host that cannot sign each call, over MCP', async () => {
    const opened = await openClient(store, 'SDK 1.x')
    try {
      const asked = await opened.call('order_status')
      expect(asked.data.message).toContain('listToken as access_token')
      const { info, supportedChains } = asked.data.extensions['sign-in-with-x']
      const complete = { ...info, ...supportedChains[0] }
      const proof = await createSIWxPayload(complete, buyer.account, info.uri)
      const first = await opened.call('order_status', {}, { 'sign-in-with-x': proof })
      const { listToken, ...page } = first.data
      expect(page.total).toBe(2)
      const access = { access_token: listToken.token }
      const listed = await opened.call('order_status', access)
      expect([listed.isError, listed.data]).toEqual([false, page])
      expect((await shown(listToken.token)).body).toEqual({ ...page, limit: 20 })
      const order = await opened.call('order_status', { ...access, orderId, include_goods: true })
      expect(order.data.orders[0]).toMatchObject({ state: 'FULFILLED', result: null })
      expect(order.data).not.toHaveProperty('reveal')
      const late = signed([buyer.address, seconds(-1)])
      const refused = await opened.call('order_status', { access_token: late })
      expect(refused).toMatchObject({ isError: true, data: { code: 'sign_in_invalid' } })
    } finally {
      await opened.close()
    }
  })

  test('buys nothing', async () => {
    const { token } = (await signedIn(buyer)).body.listToken
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify(bodyFor('voucher', 'OK'))
    const answer = await call(purchasePath('voucher'), { method: 'POST', headers, body })
    expect(answer.status).toBe(402)
  })
})

const seconds = (ahead: number) => Math.floor(Date.now() / 1_000) + ahead

/** A token as the store would sign it. */
function signed(named: readonly unknown[], purpose = 'order-list'): string {
  return `kol_${createSigner([secretsKey], purpose).sign(named)}`
}

/** The same token and signature, with another wallet in it. */
function reworded(token: string, wallet: string): string {
  const [body = '', mac] = token.slice(4).split('.')
  const [, until] = JSON.parse(Buffer.from(body, 'base64url').toString())
  return `kol_${Buffer.from(JSON.stringify([wallet, until])).toString('base64url')}.${mac}`
}
