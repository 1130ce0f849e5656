import { expect, test } from 'vitest'
import { chainClient } from '../../sandbox/chain/rpc.ts'
import { newBuyer } from './buyer.ts'
import { ledgerOf } from './facts.ts'
import { bodyFor, eventually, get, post, purchasePath, termsOf, until } from './requests.ts'
import { useStore } from './store.ts'

// The store sells nothing that it could not buy or pay back: with an empty wallet at the supplier, an
// empty gas wallet, or above the caps of refunds.

const store = useStore({
  lookEveryMs: 500,
  env: { PURCHASE_WAIT_SECONDS: '2', REFUND_HOURLY_CAP_USDC: '1' },
})

const signals = async () => (await get(store.url, '/api/catalog')).body.signals
const parts = async () => (await get(store.url, '/readyz')).body.parts
const isSelling = async () => {
  const [{ agent_action }, { status }] = [await signals(), await get(store.url, '/readyz')]
  const asked = await post(store.url, purchasePath('voucher'), cheapest)
  return [agent_action, status, asked.status]
}
const balance = (cents: number) => store.admin('/balance', { availableBalance: cents })
const cheapest = { ...bodyFor('voucher', 'OPEN'), value: 0.1 }
const linesOf = (event: string, part: string) =>
  store.logLines.filter((line) => {
    const told = JSON.parse(line)
    return told.event === event && told.part === part && told.level >= 40
  })

test('an empty wallet at the supplier costs two buyers a refund at most, and is seen', async () => {
  await balance(0)
  const body = bodyFor('voucher', 'OK')
  const paid: string[] = []
  for (let asked = 0; asked < 6; asked += 1) {
    const buyer = await newBuyer()
    const demand = await post(store.url, purchasePath('voucher'), body)
    const answer =
      demand.status === 402
        ? await post(store.url, purchasePath('voucher'), body, {
            'payment-signature': (await buyer.sign(demand.body.accepts[0])).header,
          })
        : demand
    if (answer.status === 503) {
      expect(answer.body).toMatchObject({ code: 'store_paused', charged: 'no' })
    } else {
      paid.push(answer.body.orderId)
    }
  }
  expect(paid.length).toBeLessThanOrEqual(2)
  expect((await parts()).supplier.state).toBe('down')
  expect(await isSelling()).toEqual(['stop', 503, 503])
  for (const id of paid) await until(store, id, ({ refund_state }) => refund_state === 'REFUNDED')
  await eventually(
    () => linesOf('part_down', 'supplier'),
    (lines) => lines.length === 1,
  )
  expect((await ledgerOf(store)).every(({ charged }) => charged === 0)).toBe(true)

  // What it holds now is enough for the cheapest, and not for more.
  await balance(30)
  await eventually(parts, ({ supplier }) => supplier.state === 'healthy')
  expect(await isSelling()).toEqual(['pay', 200, 402])
  expect(await post(store.url, purchasePath('voucher'), body)).toMatchObject({
    status: 409,
    body: { reason: 'too_large' },
  })
  await balance(100_000_000)
  await eventually(
    () => post(store.url, purchasePath('voucher'), body),
    ({ status }) => status === 402,
  )
})

test('a gas wallet that cannot send what is expected says stop, and goes on when it is filled', async () => {
  const payment = await (await newBuyer()).sign(await termsOf(store.url, 'voucher', cheapest))
  const { setBalance } = chainClient(store.parts.rpcUrl)
  await setBalance({ address: store.gasWallet, value: 10n ** 12n })
  await eventually(parts, ({ gas }) => gas.state === 'down')
  expect(await isSelling()).toEqual(['stop', 503, 503])
  // Neither who asks with nothing, nor whose payment cannot be read, is asked for money.
  for (const [body, headers] of [
    [{}, {}],
    [cheapest, { 'payment-signature': 'not base64' }],
    [cheapest, { 'payment-signature': payment.header }],
  ] as const) {
    const answer = await post(store.url, purchasePath('voucher'), body, headers)
    expect(answer).toMatchObject({ status: 503, body: { code: 'store_paused', charged: 'no' } })
    expect(answer.headers.get('payment-required')).toBeNull()
  }
  expect(linesOf('part_down', 'gas')).toHaveLength(1)
  await setBalance({ address: store.gasWallet, value: 10n ** 21n })
  await eventually(parts, ({ gas }) => gas.state === 'healthy')
  const bought = await post(store.url, purchasePath('voucher'), cheapest, {
    'payment-signature': payment.header,
  })
  expect([200, 202]).toContain(bought.status)
})
