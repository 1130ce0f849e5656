import { describe, expect, test } from 'vitest'
import { memoryOrders } from '../../test/doubles/memory-orders.ts'
import { newOrder, orderWorld } from '../../test/doubles/orders.ts'
import { fixed, topup } from '../../test/fixtures/offers.ts'
import { authorizedAs, fixturePayer } from '../payments/payments.fixture.ts'
import type { PaymentPayload } from '../payments/terms.ts'
import { hashOf } from '../secrets/secrets.ts'
import {
  ada,
  expectOrder,
  expectPaymentRequired,
  purchaseWorld,
  refusalOf,
} from './purchase.fixture.ts'
import { mayReveal, type Viewer } from './replay.ts'

const key = 'key-of-16-letters'
const withKey = { viewer: { keys: [key] } }
const pending = { outcome: 'pending' } as const
const collects = (calls: readonly string[]) => calls.filter((call) => call === 'collect').length

describe('the same payment again', () => {
  test('with its key gives the same order and its goods, and settles nothing', async () => {
    const { ask, pay, calls, orders } = purchaseWorld()
    const payment = await pay()
    const first = expectOrder(await ask({ ...withKey, payment }))
    const before = [...calls]
    const again = expectOrder(await ask({ ...withKey, payment }))
    expect(again).toMatchObject({ order: first.order, replayed: true, reveal: 'key' })
    expect(again).not.toHaveProperty('accessToken')
    expect(calls).toEqual(before)
    expect(new Set(orders.history.map(({ id }) => id)).size).toBe(1)
  })

  test('without a key gives the state and not the goods: anyone can read it off the chain', async () => {
    const { ask, pay } = purchaseWorld()
    const payment = await pay()
    await ask({ ...withKey, payment })
    for (const viewer of [{}, { keys: ['another-key-of-20'] }, { accessToken: 'kat_x' }]) {
      expect(expectOrder(await ask({ viewer, payment }))).toMatchObject({
        order: { state: 'FULFILLED' },
        reveal: false,
      })
    }
  })

  test('gives the goods for the access token, or to the wallet that signed in', async () => {
    const { ask, pay } = purchaseWorld()
    const payment = await pay()
    const { accessToken } = expectOrder(await ask({ payment }))
    const wallet = fixturePayer.toUpperCase()
    expect(expectOrder(await ask({ viewer: { accessToken }, payment })).reveal).toBe('token')
    expect(expectOrder(await ask({ viewer: { wallet }, payment })).reveal).toBe('wallet')
  })

  test('does not make a stranger wait, nor let one hold a connection', async () => {
    const { ask, pay, clock } = purchaseWorld({ held: pending })
    const payment = await pay()
    await ask({ payment, patienceMs: 0 })
    const start = clock.now().getTime()
    expect(expectOrder(await ask({ payment })).order.state).toBe('FULFILLING')
    expect(clock.now().getTime()).toBe(start)
  })

  test('with its key waits for the goods like the first request', async () => {
    const { ask, pay, clock } = purchaseWorld({ held: pending })
    const payment = await pay()
    await ask({ ...withKey, payment, patienceMs: 0 })
    const start = clock.now().getTime()
    await ask({ ...withKey, payment, patienceMs: 4_000 })
    expect(clock.now().getTime() - start).toBe(4_000)
  })

  test('is found whatever the letter case', async () => {
    const { ask, pay, calls } = purchaseWorld()
    const payment = await pay()
    await ask({ payment })
    const { from } = payment.payload.authorization
    const shouted = authorizedAs(payment, { from: `0x${from.slice(2).toUpperCase()}` })
    expect(expectOrder(await ask({ payment: shouted })).replayed).toBe(true)
    expect(collects(calls)).toBe(1)
  })

  test('still shows its order while the store is paused or the offer is gone', async () => {
    const { ask, pay, says, putOnSale } = purchaseWorld()
    const payment = await pay()
    await ask({ payment })
    says.unsold = { type: 'paused' }
    putOnSale()
    expect(expectOrder(await ask({ payment })).order.state).toBe('FULFILLED')
  })

  test('in another spelling is the same', async () => {
    const { ask, pay } = purchaseWorld()
    const paid = { ...withKey, payment: await pay() }
    const spelt = { ...ada, offerId: 'card', firstName: ' Ada ' }
    const { order } = expectOrder(await ask({ ...paid, fields: spelt }))
    expect(expectOrder(await ask({ ...paid, fields: ada }))).toMatchObject({
      order,
      replayed: true,
    })
  })

  test.each([
    ['another field', { ...ada, firstName: 'Eve' }],
    ['another offer', { ...ada, offerId: 'OPEN', value: 20 }],
    ['a field more', { ...ada, email: 'ada@example.com' }],
  ])('with its key for %s is refused, and named as used', async (_, fields) => {
    const { ask, pay, calls } = purchaseWorld()
    const payment = await pay()
    const { order } = expectOrder(await ask({ ...withKey, payment }))
    const before = [...calls]
    expect(await refusalOf(ask({ ...withKey, payment, fields }))).toMatchObject({
      code: 'payment_reused',
      details: { charged: 'yes', extra: { orderId: order.id } },
    })
    expect(calls).toEqual(before)
  })

  test.each([
    ['another field', { ...ada, firstName: 'Eve' }],
    ['another offer', { ...ada, offerId: 'OPEN', value: 20 }],
    ['nothing that is sold', { offerId: 'NONE' }],
  ])(
    'without its key for %s is told apart from its own request, and shows no more',
    async (_, fields) => {
      const { ask, pay, calls } = purchaseWorld()
      const payment = await pay()
      await ask({ ...withKey, payment })
      const before = [...calls]
      const own = expectOrder(await ask({ payment }))
      expect(own).toMatchObject({ replayed: true, reveal: false, isOther: false })
      expect(await ask({ payment, fields })).toEqual({ ...own, isOther: true })
      expect(calls).toEqual(before)
    },
  )

  test('without its key asks for another payment, whatever it is for, once it has failed', async () => {
    const failed = { outcome: 'failed', code: 'authorization_spent', reason: 'spent' } as const
    const { ask, pay } = purchaseWorld({ collected: failed })
    const payment = await pay()
    await ask({ payment })
    for (const fields of [ada, { ...ada, firstName: 'Eve' }]) {
      expect(expectPaymentRequired(await ask({ payment, fields })).fault?.code).toBe(
        'authorization_spent',
      )
    }
  })

  test('says that it is unknown whether it was charged while that is so', async () => {
    const { ask, pay } = purchaseWorld({ collected: { outcome: 'unknown', reason: 'timeout' } })
    const payment = await pay()
    await ask({ ...withKey, payment, patienceMs: 0 })
    const fields = { ...ada, firstName: 'Eve' }
    const { details } = await refusalOf(ask({ ...withKey, payment, fields }))
    expect(details.charged).toBe('unknown')
  })
})

describe('another payment with the same key', () => {
  test('gives the first order, and is not taken', async () => {
    const { buy, calls } = purchaseWorld()
    const first = expectOrder(await buy(withKey))
    const before = [...calls]
    const second = expectOrder(await buy(withKey))
    expect(second).toMatchObject({ order: { id: first.order.id }, replayed: true, reveal: 'key' })
    expect(calls).toEqual(before)
  })

  test('is taken when the first one fails meanwhile, and who sent it is not asked to pay again', async () => {
    const wait = async () => {
      const first = orders.history.at(-1)
      if (first?.state !== 'PAYMENT_PENDING') throw new Error('The first order has ended')
      script.collected = settled
      const why = { code: 'authorization_spent', reason: 'It was spent elsewhere.' }
      await orders.move(first, { ...first, state: 'PAYMENT_FAILED', ...why })
    }
    const unknown = { outcome: 'unknown', reason: 'timeout' } as const
    const world = purchaseWorld({ collected: unknown }, { notifier: { notify: () => {}, wait } })
    const { ask, pay, orders, script } = world
    const { collected: settled } = purchaseWorld().script
    const lost = await pay()
    const first = expectOrder(await ask({ ...withKey, payment: lost, patienceMs: 0 }))
    const payment = await pay()
    const second = expectOrder(await ask({ ...withKey, payment }))
    expect(second.order.state).toBe('FULFILLED')
    expect(second.order.id).not.toBe(first.order.id)
    // A repeat of the failed payment is still told that it failed.
    expect(expectPaymentRequired(await ask({ payment: lost })).fault?.code).toBe(
      'authorization_spent',
    )
  })

  test('that was let go in between shows the state, and speaks of no address', async () => {
    const { ask, pay, orders } = purchaseWorld({ held: pending })
    await ask({ ...withKey, payment: await pay() })
    const payment = await pay()
    Object.assign(orders, { hasKey: async () => false })
    expect(expectOrder(await ask({ ...withKey, payment }))).toMatchObject({ reveal: false })
  })

  test('for another request is a conflict, and is not taken', async () => {
    const { buy, calls } = purchaseWorld()
    await buy(withKey)
    const fields = { ...ada, firstName: 'Eve' }
    expect(await refusalOf(buy({ ...withKey, fields }))).toMatchObject({
      code: 'idempotency_conflict',
      details: { charged: 'no' },
    })
    expect(collects(calls)).toBe(1)
  })

  test('is another purchase when another wallet pays', async () => {
    const { ask, buy, pay, calls } = purchaseWorld()
    const first = expectOrder(await buy(withKey))
    const payment = await pay()
    const other = authorizedAs(payment, { from: `0x${'9'.repeat(40)}` })
    const second = expectOrder(await ask({ ...withKey, payment: other }))
    expect(second.order.id).not.toBe(first.order.id)
    expect(collects(calls)).toBe(2)
  })
})

describe('a key without a payment', () => {
  test('gives the order that it opened, and its goods, instead of a demand', async () => {
    const { ask, buy, calls } = purchaseWorld()
    const { order } = expectOrder(await buy(withKey))
    const before = [...calls]
    expect(expectOrder(await ask(withKey))).toMatchObject({ order, replayed: true, reveal: 'key' })
    expect(calls).toEqual(before)
  })

  test('for another request is a conflict', async () => {
    const { ask, buy } = purchaseWorld()
    const { order } = expectOrder(await buy(withKey))
    const fields = { ...ada, firstName: 'Eve' }
    expect(await refusalOf(ask({ ...withKey, fields }))).toMatchObject({
      code: 'idempotency_conflict',
      details: { charged: 'no', extra: { orderId: order.id } },
    })
  })

  test('is asked to pay when no order has it, or those of two wallets, or one that was never paid', async () => {
    const { ask, buy, pay, script } = purchaseWorld()
    expectPaymentRequired(await ask(withKey))
    const failed = { outcome: 'failed', code: 'authorization_spent', reason: 'spent' } as const
    const { collected } = script
    script.collected = failed
    await buy(withKey)
    expectPaymentRequired(await ask(withKey))
    script.collected = collected
    const payments = [await pay(), await pay()]
    const [one, other] = payments as [PaymentPayload, PaymentPayload]
    await ask({ ...withKey, payment: one })
    await ask({ ...withKey, payment: authorizedAs(other, { from: `0x${'9'.repeat(40)}` }) })
    expectPaymentRequired(await ask(withKey))
  })
})

describe('the same purchase paid again by the same wallet', () => {
  const isAnother = false
  const minute = 60_000

  test('asks before any money is taken, names the first order, and goes on for who insists', async () => {
    const { ask, buy, pay, calls, clock, deps } = purchaseWorld()
    const { order } = expectOrder(await buy({ isAnother }))
    clock.pass(10 * minute - 1)
    const payment = await pay()
    const before = collects(calls)
    const spelt = { ...ada, offerId: 'card', firstName: ' Ada ', maxUsdc: 30 }
    expect(await refusalOf(ask({ isAnother, payment, fields: spelt }))).toMatchObject({
      code: 'possible_duplicate',
      details: { charged: 'no', extra: { orderId: order.id, state: 'FULFILLED' } },
    })
    expect(collects(calls)).toBe(before)
    expect(await deps.orders.listByPayer(fixturePayer, { limit: 9, offset: 0 })).toMatchObject({
      total: 1,
    })
    const second = expectOrder(await ask({ isAnother: true, payment }))
    expect(second.order.id).not.toBe(order.id)
    expect(collects(calls)).toBe(before + 1)
  })

  test('is asked about under another key too, where keys are made up; its own key gives its order', async () => {
    const { ask, buy } = purchaseWorld()
    const first = expectOrder(await buy({ ...withKey, isAnother }))
    const keys = ['another-key-of-20-letters']
    expect(await refusalOf(buy({ viewer: { keys }, isAnother }))).toMatchObject({
      code: 'possible_duplicate',
    })
    expect(expectOrder(await ask({ ...withKey, isAnother })).order.id).toBe(first.order.id)
  })

  test.each([
    ['for somebody else', { fields: { ...ada, firstName: 'Eve' } }],
    ['of other goods', { fields: { ...ada, offerId: 'OPEN', value: 20 } }],
    ['of another value', { fields: { ...ada, offerId: 'OPEN', value: 30 } }],
  ])('is another purchase %s', async (_, request) => {
    const { buy } = purchaseWorld()
    await buy({ isAnother })
    await buy({ fields: { ...ada, offerId: 'OPEN', value: 10 }, isAnother })
    expectOrder(await buy({ ...request, isAnother }))
  })

  test('is another purchase after ten minutes, or from another wallet', async () => {
    const { ask, buy, pay, clock } = purchaseWorld()
    await buy({ isAnother })
    const payment = authorizedAs(await pay(), { from: `0x${'9'.repeat(40)}` })
    expectOrder(await ask({ payment, isAnother }))
    clock.pass(10 * minute)
    expectOrder(await buy({ isAnother }))
  })

  test.each<[string, Parameters<typeof purchaseWorld>[0]]>([
    ['was never paid', { collected: { outcome: 'failed', code: 'spent', reason: 'spent' } }],
    [
      'was not delivered',
      { placed: { outcome: 'declined', code: 'SOLD_OUT', reason: 'sold out' } },
    ],
  ])('goes on when the first one %s', async (_, script) => {
    const { buy } = purchaseWorld(script)
    await buy({ isAnother })
    const again = await buy({ isAnother })
    expect(again.type === 'order' ? again.replayed : false).toBe(false)
  })

  test('sent twice at once is charged once', async () => {
    const { ask, pay, calls } = purchaseWorld()
    const payments = [await pay(), await pay(), await pay()]
    const answers = await Promise.allSettled(payments.map((payment) => ask({ payment, isAnother })))
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(collects(calls)).toBe(1)
  })
})

describe('a phone that was topped up less than two minutes ago', () => {
  const credit = { kind: 'topup', fields: { offerId: 'CREDIT', msisdn: '+50255512345' } } as const
  const of = (payment: PaymentPayload, wallet: number) =>
    authorizedAs(payment, { from: `0x${String(wallet).repeat(40)}` })

  function world() {
    const made = purchaseWorld()
    made.putOnSale(topup('CREDIT', { price: fixed(500) }), topup('MORE', { price: fixed(900) }))
    return made
  }

  test('asks before any money is taken, whatever the key, and tells the same wallet of its order', async () => {
    const { ask, buy, pay, calls } = world()
    const { order } = expectOrder(await buy({ ...credit, ...withKey }))
    const fields = { offerId: 'MORE', msisdn: '+502 5551-2345' }
    const more = { kind: 'topup', fields, viewer: { keys: ['another-key-of-20-letters'] } } as const
    const payment = await pay(more)
    const before = collects(calls)
    const refused = await refusalOf(ask({ ...more, payment }))
    expect(refused).toMatchObject({
      code: 'possible_duplicate',
      details: { charged: 'no', extra: { orderId: order.id } },
    })
    expect(refused.message).toContain('This wallet topped up the same number at')
    expect(collects(calls)).toBe(before)
    const insisting = { ...more, payment, fields: { ...fields, confirmAnother: true } }
    expect(expectOrder(await ask(insisting)).order.id).not.toBe(order.id)
  })

  test('asks another wallet too, and tells it nothing of the order', async () => {
    const { ask, buy, pay, clock } = world()
    await buy(credit)
    clock.pass(119_999)
    const stranger = { ...credit, payment: of(await pay(credit), 9) }
    const { code, message, details } = await refusalOf(ask(stranger))
    expect([code, details.charged, details.extra]).toEqual(['possible_duplicate', 'no', undefined])
    expect(message).toContain('was topped up within the last two minutes')
    clock.pass(1)
    expectOrder(await ask(stranger))
  })

  test('is topped up after one that failed', async () => {
    const { script, ask, buy, pay } = world()
    const { placed } = script
    script.placed = { outcome: 'declined', code: 'BUSY', reason: 'busy' }
    await buy(credit)
    script.placed = placed
    expectOrder(await ask({ ...credit, payment: of(await pay(credit), 9) }))
  })
})

describe('two equal requests at once', () => {
  test.each([
    ['with a key', withKey, 'key'],
    ['without one', {}, false],
  ])('%s charge once and answer with one order', async (_, request, revealed) => {
    const { ask, pay, calls, orders } = purchaseWorld()
    const payment = await pay()
    const answers = await Promise.all([ask({ ...request, payment }), ask({ ...request, payment })])
    const [first, second] = answers.map(expectOrder).toSorted((one) => (one.replayed ? 1 : -1))
    expect(first).toMatchObject({
      replayed: false,
      reveal: 'purchase',
      order: { state: 'FULFILLED' },
    })
    expect(second).toMatchObject({ replayed: true, reveal: revealed })
    expect(second).not.toHaveProperty('accessToken')
    expect(collects(calls)).toBe(1)
    expect(new Set(orders.history.map(({ id }) => id)).size).toBe(1)
  })

  test('with one key and two payments charge once', async () => {
    const { ask, pay, calls } = purchaseWorld()
    const payments = [await pay(), await pay()]
    const answers = await Promise.all(payments.map((payment) => ask({ ...withKey, payment })))
    expect(new Set(answers.map((answer) => expectOrder(answer).order.id)).size).toBe(1)
    expect(collects(calls)).toBe(1)
  })
})

const sentKey = 'key-of-16-letters'

async function revealedTo(viewer: Viewer) {
  const { deps, clock } = orderWorld()
  const orders = memoryOrders(clock.now)
  const { order } = await orders.open(newOrder(deps), [hashOf(sentKey)])
  return mayReveal(orders, order, viewer)
}

test.each<[string, Viewer]>([
  ['the access token', { accessToken: 'token' }],
  ['the paying wallet', { wallet: `0x${'2'.repeat(40)}` }],
  ['the key it was opened with', { keys: [sentKey] }],
  ['one right key among others', { keys: ['other-key-of-20-let', sentKey] }],
  ['a right key beside a wrong token', { accessToken: 'x', keys: [sentKey] }],
])('goods are shown to %s', async (_, viewer) => {
  expect(await revealedTo(viewer)).toBeTruthy()
})

test.each<[string, Viewer]>([
  ['nobody', {}],
  ['an empty token', { accessToken: '' }],
  ['a wrong token', { accessToken: 'Token' }],
  ['the hash of the token', { accessToken: hashOf('token') }],
  ['another wallet', { wallet: `0x${'1'.repeat(40)}` }],
  ['an empty wallet', { wallet: '' }],
  ['no keys', { keys: [] }],
  ['another key', { keys: ['other-key-of-20-let'] }],
  ['the hash of the key', { keys: [hashOf(sentKey)] }],
])('goods are kept from %s', async (_, viewer) => {
  expect(await revealedTo(viewer)).toBe(false)
})
