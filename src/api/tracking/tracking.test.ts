import { describe, expect, test, vi } from 'vitest'
import { type CheckoutWorld, checkoutWorld, invoiced } from '../../../test/doubles/checkouts.ts'
import type { Script } from '../../../test/doubles/orders.ts'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { esim, fixed, fixturePricing, open, voucher } from '../../../test/fixtures/offers.ts'
import {
  failed,
  fulfilled,
  fulfilling,
  paid,
  pending,
  refunded,
  unpayable,
} from '../../../test/fixtures/sample-orders.ts'
import type { CheckoutForm } from '../../checkouts/start.ts'
import { recoveryCodeOf } from '../../orders/finding.ts'
import type { Refunding } from '../../orders/order.ts'
import { createDigest, createSigner } from '../../secrets/secrets.ts'
import { checkoutView } from '../checkout.ts'
import type { BuyingDeps } from '../operation.ts'
import { addressIn, leaveAddress, type MailDeps, orderNamedBy, ordersFor } from './find.ts'
import { goodsFor, type OrderTrackingDeps, stageOfOrder, viewOf } from './order-view.ts'
import {
  daysLeftOf,
  isOutdatedLinkToken,
  linkToken,
  linkTokenDays,
  linkTokenForCode,
  orderOfLinkToken,
  type PageCredentials,
  sessionToken,
  walletOfSession,
} from './tokens.ts'

const key = Buffer.alloc(32, 7)
const older = Buffer.alloc(32, 8)
const minute = 60_000
/** Other goods with the same ids, as a supplier may list them later. */
const relisted = [
  voucher('CARD', { brandName: 'Other', country: 'JP', price: fixed(900, 'EUR') }),
  voucher('OPEN', { price: { ...open(50, 1_000), divisor: 10 }, faceValue: fixed(1, 'GTQ') }),
  esim('PLAN', { allowance: { dataGb: 99 }, coverage: [], notes: 'After 9 GB: 1 kbps.' }),
]
const noteShown = vi.fn()

function follow(world: CheckoutWorld): OrderTrackingDeps {
  return {
    site: { url: 'https://kiosk.example' } as BuyingDeps['site'],
    orders: world.orders,
    purchases: {
      ...world.deps,
      liveCatalog: world.deps.liveCatalog,
    } as unknown as BuyingDeps['purchases'],
    signIn: { nonces: { isUsed: async () => false } } as unknown as BuyingDeps['signIn'],
    receipts: { noteShown } as unknown as BuyingDeps['receipts'],
    tokenSigner: createSigner([key], 'order-pass'),
    codes: createDigest([key], 'recovery-code'),
    checkouts: world.checkouts,
  }
}

/** A checkout in a coin, and its page for visitors with different credentials. */
async function opened(changes: Partial<Script> = {}, form = {}) {
  const world = checkoutWorld(changes)
  const { checkout, accessToken } = await world.start(form)
  const { id, orderId, invoice } = invoiced(checkout)
  const deps = follow(world)
  const see = (credentials: PageCredentials = { token: accessToken }) =>
    viewOf(deps, orderId, credentials)
  const pay = async (units = invoice.units) => {
    const paid = world.processor.pay(invoice.id, units)
    await world.live(5 * minute)
    return paid
  }
  return { world, deps, id, orderId, accessToken, invoice, see, pay }
}

describe('an order that is paid in a coin', () => {
  test('has a page before it is one, which its token opens', async () => {
    const { id, see } = await opened()
    expect(await see()).toMatchObject({
      stage: 'awaiting_payment',
      checkout: id,
      coin: 'BTC',
      own: { offer: { price: { fixed: 2_000 } } },
      isFinished: false,
    })
    const others = await see({})
    expect(others.own).toBeUndefined()
    expect(others.version).toBe((await see()).version)
    expect((await see({ token: `kat_${'x'.repeat(43)}` })).own).toBeUndefined()
  })

  test.each<Partial<CheckoutForm>>([
    {},
    { fields: { offerId: 'OPEN', value: 12.5, firstName: 'Ada', lastName: 'Lovelace' } },
    { kind: 'esim', fields: { offerId: 'PLAN' } },
  ])('is told as it was sold, whatever is listed under its id now: %j', async (form) => {
    const { world, deps, id, see, pay } = await opened({}, form)
    const onPage = async () => {
      const { own: { kind, brandName, country, offer, receives, value } = {} } = await see()
      return { kind, brandName, country, offer, receives, value }
    }
    const atCheckout = async () =>
      checkoutView(deps.purchases as never, await world.seen(id), true).bought
    const [told, toldAtCheckout] = [await onPage(), await atCheckout()]
    expect(told.offer?.price.currency).toBe('USD')
    for (const listed of [relisted, []]) {
      world.deps.liveCatalog.replace(catalogOf(listed, fixturePricing()))
      expect(await onPage()).toEqual(told)
      expect(await atCheckout()).toEqual(toldAtCheckout)
    }
    await pay()
    expect((await see()).stage).toBe('delivered')
    expect((await onPage()).offer).toEqual(told.offer)
  })

  test('changes its version with every step, and shows what was paid', async () => {
    const { see, pay, invoice, deps, orderId, accessToken } = await opened()
    const before = await see()
    expect((await goodsFor(deps, orderId, { token: accessToken })).type).toBe('not_yet')
    const { transaction } = await pay()
    const after = await see()
    expect(after.version).not.toBe(before.version)
    expect(after).toMatchObject({
      stage: 'delivered',
      isFinished: true,
      hasReceipt: true,
      own: { paidUnits: invoice.units, payment: { transaction }, returns: [] },
    })
    expect(await goodsFor(deps, orderId, { token: accessToken })).toMatchObject({
      type: 'goods',
      goods: { code: 'SECRET-CODE-1234' },
    })
    expect((await goodsFor(deps, orderId, {})).type).toBe('locked')
    await goodsFor(deps, orderId, { token: linkToken(deps, orderId) })
    expect(noteShown.mock.calls).toEqual([
      [orderId, 'token'],
      [orderId, 'link'],
    ])
  })

  test('tells where its money went when it was not delivered', async () => {
    const held = { outcome: 'declined', code: 'NO', reason: 'no' } as const
    const { see, pay, deps, orderId, accessToken } = await opened({ held })
    await pay()
    expect(await see()).toMatchObject({
      stage: 'refunded',
      why: 'fulfillment_failed',
      own: { refund: { to: 'btc-address-of-ada', sent: { transaction: expect.any(String) } } },
    })
    expect(await goodsFor(deps, orderId, { token: accessToken })).toEqual({ type: 'never' })
  })

  test('in a coin that is paid out by hand waits for a person', async () => {
    const held = { outcome: 'declined', code: 'NO', reason: 'no' } as const
    const { see, pay } = await opened({ held }, { coin: 'XMR', refundTo: 'xmr-address-of-ada' })
    await pay()
    expect(await see()).toMatchObject({ stage: 'refund_by_hand', isFinished: false })
  })

  test('whose payment vanished says of it neither that it came nor that it goes back', async () => {
    const held = { outcome: 'declined', code: 'NO', reason: 'no' } as const
    const { world, deps, orderId, accessToken, pay } = await opened({ held })
    await pay()
    const find = async () => {
      const order = await world.orders.find(orderId)
      return order && { ...order, settlement: 'LOST' as const, payout: { state: 'DUE' as const } }
    }
    const orders = { ...world.orders, find: find as typeof world.orders.find }
    const view = await viewOf({ ...deps, orders }, orderId, { token: accessToken })
    expect(view).toMatchObject({ stage: 'not_taken', isFinished: true, hasReceipt: false })
    for (const field of ['paid', 'deliverBy'])
      expect(view.times).toMatchObject({ [field]: undefined })
    for (const field of ['payment', 'refund'])
      expect(view.own).toMatchObject({ [field]: undefined })
  })

  test('that was not paid in time is over, with what came on its way back', async () => {
    const { world, see, pay, invoice } = await opened()
    await pay(invoice.units / 2n)
    await world.live(48 * 60 * minute)
    expect(await see()).toMatchObject({
      stage: 'not_paid',
      isFinished: true,
      own: {
        returns: [{ why: 'underpaid', payout: { state: 'CONFIRMED' } }],
        returnTo: 'btc-address-of-ada',
      },
    })
  })

  test('is found by what names it or its payment, also before it is an order', async () => {
    const { world, deps, id, orderId } = await opened()
    const address = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
    const findByAddress = async (text: string) =>
      text === address ? await world.checkouts.find(id) : undefined
    const hash = 'ab'.repeat(32)
    const findByTransaction = async (sought: string) =>
      sought === hash ? await world.checkouts.find(id) : undefined
    const known = { ...deps, checkouts: { ...world.checkouts, findByTransaction, findByAddress } }
    const named = (text: string) => orderNamedBy(known, text)
    // Public data of the chain is distinguished from what only the buyer knows.
    const everyone = { type: 'public', id: orderId }
    expect(await named(hash.toUpperCase())).toEqual(everyone)
    expect(await named(`https://mempool.space/tx/${hash}#x`)).toEqual(everyone)
    expect(await named(address)).toEqual(everyone)
    expect(await named(` bitcoin:${address}?amount=0.1 `)).toEqual(everyone)
    expect(await named(`Order ${orderId}`)).toEqual({ type: 'order', id: orderId })
    expect(await named(id)).toEqual({ type: 'checkout', id })
    for (const text of ['f'.repeat(64), `0x${'1'.repeat(40)}`, `ord_${'0'.repeat(26)}`]) {
      expect(await named(text)).toEqual({ type: 'none' })
    }
    expect(await named(`chk_${'0'.repeat(26)}`)).toEqual({ type: 'none' })
    for (const text of ['hello', 'my order of a card', '']) {
      expect(await named(text)).toEqual({ type: 'wrong' })
    }
  })
})

describe('the recovery code', () => {
  test('opens its own order, however it was written down, and after the keys have changed', async () => {
    const { deps, orderId, see } = await opened()
    const code = recoveryCodeOf(deps, orderId)
    expect(code).toMatch(/^[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4}$/)
    const rotated = { ...deps, codes: createDigest([older, key], 'recovery-code') }
    for (const text of [code, code.toLowerCase(), ` ${code.replaceAll('-', ' ')} `]) {
      const token = linkTokenForCode(rotated, orderId, text)
      expect(token).toMatch(/^kop_/)
      expect(await see({ token })).toHaveProperty('own')
    }
    const other = `ord_${'1'.repeat(26)}` as typeof orderId
    expect(linkTokenForCode(deps, other, code)).toBeUndefined()
    const letters = code.replaceAll('-', '')
    const changed = [...letters].map((letter, at) => {
      return letters.slice(0, at) + (letter === '2' ? '3' : '2') + letters.slice(at + 1)
    })
    for (const text of ['', 'AAAA-AAAA-AAAA', `${code}2`, code.slice(1), ...changed]) {
      expect(linkTokenForCode(deps, orderId, text), text).toBeUndefined()
    }
  })
})

test('an order that is none is not found', async () => {
  const deps = follow(checkoutWorld())
  await expect(viewOf(deps, `ord_${'0'.repeat(26)}`, {})).rejects.toThrow('no such order')
  await expect(viewOf(deps, 'x', {})).rejects.toThrow('no such order')
})

describe('link tokens', () => {
  test('open what they were made for, and nothing else, until they are too old', async () => {
    const { world, deps, orderId, see } = await opened()
    const token = linkToken(deps, orderId)
    expect(await see({ token: token })).toHaveProperty('own')
    expect(orderOfLinkToken(deps, `${token}x`)).toBeUndefined()
    expect(await walletOfSession(deps, token)).toBeUndefined()
    expect(await walletOfSession(deps, token.replace('kop_', 'kwp_'))).toBeUndefined()
    expect(await walletOfSession(deps, sessionToken(deps, '0xabc'))).toBe('0xabc')
    const other = { ...deps, tokenSigner: createSigner([key], 'reveal') }
    expect(orderOfLinkToken(other, token)).toBeUndefined()
    expect(daysLeftOf(deps, token)).toBe(linkTokenDays)
    world.clock.pass((linkTokenDays - 1) * 86_400_000)
    expect([daysLeftOf(deps, token), daysLeftOf(deps, 'kop_x')]).toEqual([1, undefined])
    world.clock.pass(86_400_000 + 1_000)
    expect([orderOfLinkToken(deps, token), daysLeftOf(deps, token)]).toEqual([undefined, undefined])
  })

  test('that are too old are told from what never was one for this order', async () => {
    const { world, deps, orderId } = await opened()
    const token = linkToken(deps, orderId)
    expect(isOutdatedLinkToken(deps, token, orderId)).toBe(false)
    world.clock.pass(linkTokenDays * 86_400_000 + 1_000)
    expect(isOutdatedLinkToken(deps, token, orderId)).toBe(true)
    const others = [`${token}x`, sessionToken(deps, orderId), `kat_${'x'.repeat(43)}`, undefined]
    for (const other of others) expect(isOutdatedLinkToken(deps, other, orderId)).toBe(false)
    expect(isOutdatedLinkToken(deps, token, `ord_${'0'.repeat(26)}`)).toBe(false)
  })
})

describe('an address that is left with an order', () => {
  /** A mail book in memory, and what it stores about addresses. */
  function mailDeps(keys: readonly Buffer[] = [key]) {
    const kept = new Map<string, string>()
    const book: MailDeps['book'] = {
      remember: async (order, digest) => {
        kept.set(order, digest)
      },
      ordersOf: async (digests) =>
        [...kept].filter(([, one]) => digests.includes(one)).map(([order]) => order as never),
      sent: async () => undefined,
      forget: async () => 0,
    }
    const mailer = { send: async () => undefined }
    return { kept, mail: { book, mailer, digest: createDigest(keys, 'order-mail') } }
  }

  test('leads back to it, however it is spelled, and also after the keys have changed', async () => {
    const { deps, orderId, accessToken, pay } = await opened()
    const { kept, mail } = mailDeps([older])
    const address = addressIn(' Ada@Example.org ') ?? ''
    expect(
      await leaveAddress(deps, mail, { id: orderId, credentials: {}, address }),
    ).toBeUndefined()
    await pay()
    const credentials = { token: accessToken }
    const left = await leaveAddress(deps, mail, { id: orderId, credentials, address })
    expect(left).toMatchObject({ id: orderId, bought: { offer: { price: { fixed: 2_000 } } } })
    expect(left?.link).toMatch(`https://kiosk.example/orders/${orderId}#kop_`)
    expect([...kept.values()].join()).not.toContain('ada')
    const rotated = { ...mail, digest: createDigest([key, older], 'order-mail') }
    expect(await ordersFor(deps, rotated, 'ada@example.org')).toHaveLength(1)
    expect(await ordersFor(deps, rotated, 'eve@example.org')).toEqual([])
  })

  test('by a link token is not taken: it would renew itself', async () => {
    const { deps, orderId, accessToken, pay } = await opened()
    const { kept, mail } = mailDeps()
    await pay()
    const own = { id: orderId, credentials: { token: accessToken }, address: 'ada@example.org' }
    await leaveAddress(deps, mail, own)
    const before = [...kept]
    const passed = { token: linkToken(deps, orderId) }
    const left = { id: orderId, credentials: passed, address: 'eve@example.org' }
    expect(await leaveAddress(deps, mail, left)).toBeUndefined()
    expect([...kept]).toEqual(before)
  })

  test('by somebody else is not taken', async () => {
    const { deps, orderId, pay } = await opened()
    const { kept, mail } = mailDeps()
    await pay()
    const left = { id: orderId, credentials: {}, address: 'eve@example.org' }
    expect(await leaveAddress(deps, mail, left)).toBeUndefined()
    expect(kept.size).toBe(0)
  })

  test.each(['nobody', 'a@b', 'a@example.org, b@example.org', 'a@example.org\nBcc: b@c.org', ''])(
    '"%s" is none',
    (text) => {
      expect(addressIn(text)).toBeUndefined()
    },
  )
})

const failing = failed(fulfilling(paid(pending())))
const vanished: Refunding = {
  ...failing,
  settlement: 'LOST',
  payout: { state: 'FAILED', code: 'payment_vanished', reason: 'gone' },
}

test.each([
  ['whose refund waits for an operator', unpayable(failing), 'refund_stuck'],
  ['whose refund has begun', failing, 'refunding'],
  ['whose money is back', refunded(failing), 'refunded'],
  // Nothing was taken, so no refund must be promised.
  ['whose payment vanished', vanished, 'not_taken'],
  [
    'that is asked for in vain',
    { ...vanished, payout: { state: 'DUE' } } as Refunding,
    'not_taken',
  ],
  ['that was delivered all the same', fulfilled(fulfilling(paid(pending()))), 'delivered'],
] as const)('an order %s is shown as that', (_, order, stage) => {
  expect(stageOfOrder(order)).toBe(stage)
})
