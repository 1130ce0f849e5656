import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { onChain } from '../../../test/doubles/orders.ts'
import { anyOrder } from '../../../test/fixtures/any-order.ts'
import { fixed } from '../../../test/fixtures/offers.ts'
import {
  failed,
  fulfilled,
  fulfilling,
  paid,
  paymentFailed,
  pending,
  refunded,
  unpayable,
} from '../../../test/fixtures/sample-orders.ts'
import type { Delivery, Recipient } from '../../catalog/offer.ts'
import { usdcFromText as usdc } from '../../lib/money.ts'
import type { Proof } from '../../orders/finding.ts'
import type { In, Order } from '../../orders/order.ts'
import { createVault } from '../../secrets/secrets.ts'
import type { Site } from '../operation.ts'
import { orderBody, orderItem } from './order.ts'

const vault = createVault([Buffer.alloc(32, 5)])
const site = { url: 'https://kiosk.example', contact: 'help@kiosk.example' } as Site
const noteShown = vi.fn()
const deps = { vault, site, noteShown }
const failing = failed(fulfilling(paid(pending())))

/** An order with this delivery. */
function deliveredAs(delivery: Delivery, recipient?: Recipient): In<'FULFILLED'> {
  const order = fulfilled(fulfilling(paid(pending())))
  return {
    ...order,
    item: { ...order.item, kind: delivery.kind },
    delivery: vault.seal(delivery, { order: order.id, field: 'delivery' }),
    recipient: recipient && vault.seal(recipient, { order: order.id, field: 'recipient' }),
  }
}

async function resultOf(order: Order, reveal: Proof | false = 'token') {
  const { orders } = await orderBody(deps, { order, reveal })
  return orders[0]
}

const code = 'SECRET-CODE'
const card = deliveredAs({ kind: 'voucher', code, pin: '1234' })

describe('the goods', () => {
  test('of a voucher are shown as the supplier gave them', async () => {
    expect((await resultOf(card))?.result).toEqual({ code, pin: '1234' })
    expect(noteShown.mock.lastCall).toEqual([card.id, 'token'])
  })

  test('of a topup come with the number, until that is erased', async () => {
    const told = { kind: 'topup', msisdn: '+50255551234' } as const
    const credited = { amount: 7_660, currency: 'GTQ', currencyDivisor: 100 }
    const line = deliveredAs({ kind: 'topup', confirmationNumber: 'T-1', credited }, told)
    const rest = { confirmationNumber: 'T-1', credited }
    expect((await resultOf(line))?.result).toEqual({ msisdn: told.msisdn, ...rest })
    expect((await resultOf({ ...line, recipient: undefined }))?.result).toEqual(rest)
  })

  test('of an eSIM come with what a phone reads', async () => {
    const plan = {
      kind: 'esim',
      iccid: '89',
      smdpAddress: 'smdp.example',
      activationCode: 'A-1',
    } as const
    expect((await resultOf(deliveredAs(plan)))?.result).toEqual({
      iccid: '89',
      smdpAddress: 'smdp.example',
      activationCode: 'A-1',
      lpa: 'LPA:1$smdp.example$A-1',
      qrPng: expect.stringMatching(/^data:image\/png;base64,iVBOR/),
      qrSvg: expect.stringMatching(/^<svg/),
    })
    const bare = deliveredAs({ kind: 'esim', iccid: '89' })
    expect((await resultOf(bare))?.result).toEqual({ iccid: '89' })
  })

  test('stay hidden without credentials, with a hint how to see them', async () => {
    noteShown.mockClear()
    const body = await orderBody(deps, { order: card, reveal: false })
    expect(body.orders[0]).toMatchObject({ state: 'FULFILLED', result: null })
    expect(body.orders[0]).toHaveProperty('result_hint', expect.stringContaining('Bearer'))
    expect(JSON.stringify(body)).not.toContain(code)
    expect(noteShown).not.toHaveBeenCalled()
    expect(await resultOf(card)).toMatchObject({ result_hint: undefined })
  })

  test('of another order do not open in this one', async () => {
    const mixed = { ...fulfilled(fulfilling(paid(pending()))), delivery: card.delivery }
    await expect(orderBody(deps, { order: mixed, reveal: 'token' })).rejects.toThrow()
    expect((await resultOf(mixed, false))?.result).toBeNull()
  })
})

describe('what the agent is told to do', () => {
  const expired = { ...failing, state: 'EXPIRED' } as const
  test.each<[string, Order, string | null, string | null]>([
    ['payment pending', pending(), 'wait', null],
    ['payment failed', paymentFailed(pending()), null, null],
    ['paid', paid(pending()), 'wait', null],
    ['fulfilling', fulfilling(paid(pending())), 'wait', null],
    ['fulfilled', card, null, null],
    ['refund due', failing, 'wait', 'REFUND_PENDING'],
    ['refund waiting', expired, 'wait', 'REFUND_PENDING'],
    ['refunded', refunded(failing), null, 'REFUNDED'],
    ['refund failed', unpayable(failing), 'stop', 'REFUND_FAILED'],
    ['expired and refunded', { ...refunded(failing), state: 'EXPIRED' }, null, 'REFUNDED'],
  ])('%s', async (_, order, action, refund) => {
    const body = await orderBody(deps, { order, reveal: false })
    expect(body.orders[0]).toMatchObject({ state: order.state, agent_action: action })
    expect(body.refund_state).toBe(refund)
    const contract = {
      endpoint: `/api/catalog/orders/${order.id}/refund`,
      method: 'POST',
      required_body: { reason: 'fulfillment_failed' },
    }
    if (refund === null) expect(body.refund_contract).toBeNull()
    else expect(body.refund_contract).toMatchObject(contract)
  })
})

test.each(['FAILED', 'DUE'] as const)(
  'a payment that vanished is not told as money that goes back: %s',
  async (state) => {
    const payout = { state, code: 'payment_vanished', reason: 'It vanished.' } as const
    const order: Order = { ...failing, settlement: 'LOST', payout }
    const { message } = await orderBody(deps, { order, reveal: false })
    expect(message).toContain('no money moved, and none is refunded')
    expect(message).not.toMatch(/automatically|operator/)
  },
)

describe('what went wrong', () => {
  test('is told in the published words, with the supplier’s own code beside', async () => {
    expect((await resultOf(failing))?.error).toEqual({
      code: 'fulfillment_failed',
      message: failing.failure.message,
      supplier_code: 'E7',
    })
    // The code in older records of expired orders does not come from the supplier.
    const late = { ...failing.failure, trigger: 'expired', code: 'EXPIRED' } as const
    const expired = await resultOf({ ...failing, state: 'EXPIRED', failure: late })
    expect(expired?.error).toEqual({ code: 'expired', message: late.message })
    const silent = { ...failing, failure: { ...failing.failure, code: '' } }
    expect((await resultOf(silent))?.error).not.toHaveProperty('supplier_code')
    expect((await resultOf(paymentFailed(pending())))?.error).toEqual({
      code: 'expired',
      message: 'Late.',
    })
    expect((await resultOf(card))?.error).toBeNull()
  })
})

describe('the outcome in a sentence', () => {
  const messageOf = async (order: Order, reveal: Proof | false = 'token') =>
    (await orderBody(deps, { order, reveal })).message
  const shown = { subTypes: [], price: fixed(1_210), faceValue: fixed(1_000, 'EUR') }
  const told = { kind: 'topup', msisdn: '+34600123456' } as const
  const line = deliveredAs({ kind: 'topup' }, told)
  const item = { ...line.item, brandName: 'Vodafone', country: 'ES', shown }
  const topup = { ...line, item, amount: usdc('12.10') }

  test('names what was delivered, its value, who has it and what was paid', async () => {
    expect(await messageOf(topup)).toContain(
      'Delivered: a 10.00 EUR Vodafone topup (ES) for the number +34600123456, 12.10 USDC paid.',
    )
    const credited = { amount: 766, currency: 'EUR', currencyDivisor: 100 }
    const told = deliveredAs({ kind: 'topup', credited })
    expect(await messageOf({ ...told, item })).toContain('a 7.66 EUR Vodafone topup (ES),')
    const ada = { kind: 'voucher', firstName: 'Ada', lastName: 'Lovelace' } as const
    const card = deliveredAs({ kind: 'voucher', code }, ada)
    expect(await messageOf({ ...card, item: { ...item, kind: 'voucher' } })).toContain(
      'Delivered: a 10.00 EUR Vodafone card (ES) for Ada Lovelace, ',
    )
  })

  test('names no recipient to those who have not shown that it is theirs', async () => {
    const message = await messageOf(topup, false)
    expect(message).toContain('Delivered: a 10.00 EUR Vodafone topup (ES), 12.10 USDC paid.')
    expect(message).not.toContain('600')
  })

  test('of a failure names the contact and the order', async () => {
    expect(await messageOf({ ...failing, item })).toMatch(
      /^Not delivered: .* for [\d.]+ USDC\. The full amount .* For help write to help@kiosk\.example and name ord_\w+\.$/,
    )
  })

  test('comes with the whole address of the receipt', async () => {
    const { receipt_url } = await orderBody(deps, { order: topup, reveal: 'token' })
    expect(receipt_url).toBe(`${site.url}/api/catalog/orders/${topup.id}/receipt`)
  })
})

test('the access token is in the first answer only', async () => {
  const first = await orderBody(deps, { order: card, reveal: 'token', accessToken: 'kat_1' })
  expect(first).toHaveProperty('accessToken', 'kat_1')
  expect((await orderBody(deps, { order: card, reveal: 'token' })).accessToken).toBeUndefined()
})

test('no state names a transaction before one is proven, and all do after', () => {
  fc.assert(
    fc.property(anyOrder, (order) => {
      const proven = order.state !== 'PAYMENT_PENDING' && order.state !== 'PAYMENT_FAILED'
      expect(orderItem(order).transactionHash !== null).toBe(proven)
      expect(orderItem(order).fulfillment_deadline !== null).toBe('deliverBy' in order)
    }),
  )
})

test('whatever an order holds, nobody but its buyer sees a secret of it', async () => {
  await fc.assert(
    fc.asyncProperty(anyOrder, async (order) => {
      const closed = await orderBody(deps, { order, reveal: false })
      const said = JSON.stringify([closed, orderItem(order)])
      const own = 'delivery' in order ? [order.delivery] : []
      const secrets = [order.accessTokenHash, order.fingerprint, order.recipient ?? '', ...own]
      for (const secret of secrets) {
        if (secret.length > 8) expect(said).not.toContain(JSON.stringify(secret).slice(1, -1))
      }
      expect(said).not.toContain(onChain(order.payment).signature)
      expect(orderItem(order)).not.toHaveProperty('result')
    }),
  )
})
