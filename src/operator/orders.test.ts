import { describe, expect, test } from 'vitest'
import { placedOnRecord, unitsOfPrice } from '../../test/fixtures/sample-checkouts.ts'
import {
  asked,
  expectWon,
  failed,
  fulfilled,
  unpayable,
} from '../../test/fixtures/sample-orders.ts'
import { readActs } from '../adapters/storage/audit.ts'
import { changeDenylist } from '../adapters/storage/denylist.ts'
import { createShowings } from '../adapters/storage/showings.ts'
import { orderOfLinkToken } from '../api/tracking/tokens.ts'
import type { OrderId } from '../lib/ids.ts'
import { recoveryCodeOf } from '../orders/finding.ts'
import type { Refunding } from '../orders/order.ts'
import { createSigner } from '../secrets/secrets.ts'
import { resendLink } from './links.ts'
import { key, operatorOnDatabase, requestId, storeDigests } from './operator.fixture.ts'
import { retryOrder, showOrder } from './orders.ts'
import { retryRefunds } from './refunds.ts'

const store = operatorOnDatabase()
const acts = () => readActs(store.database(), { limit: 9 })

/** A refund that has failed for this reason. */
async function failedRefund(code: string): Promise<Refunding> {
  const order = failed(asked())
  const due = await store.place(order)
  const payout = { state: 'FAILED', code, reason: 'It failed.' } as const
  return expectWon(
    await store.orders().move(due, { ...unpayable(order), version: due.version, payout }),
  ) as Refunding
}

const payoutOf = async (id: OrderId) => ((await store.orders().find(id)) as Refunding).payout

describe('an order is shown', () => {
  test('with its whole life in one list, without its goods, code or receiver', async () => {
    const { id } = await store.place(fulfilled(asked()))
    const showings = createShowings(store.database(), () => undefined)
    for (const proof of ['purchase', 'token', 'token'] as const) showings.noteShown(id, proof)
    await showings.write()
    await resendLink(store.anna(), id, { reason: 'no mail reaches her' }, undefined)
    const shown = await showOrder(store.anna(), id)
    const steps = shown.life.map(({ of, what }) => `${of} ${what}`)
    expect(steps.toSorted()).toEqual(
      [
        ...['order PAYMENT_PENDING', 'order PAID', 'order FULFILLING', 'order FULFILLED'],
        ...['goods_shown purchase', 'goods_shown token'],
        ...['link_sent operator', 'audit order resend'],
      ].toSorted(),
    )
    expect(shown.life.find(({ what }) => what === 'PAYMENT_PENDING')?.detail).toEqual({
      request: requestId,
    })
    const text = JSON.stringify(shown)
    for (const secret of ['sealed', '4915123456789', recoveryCodeOf(storeDigests, id)]) {
      expect(text).not.toContain(secret)
    }
    expect(shown.mayDo.map(({ command }) => command.split(' ').slice(1, 3).join(' '))).toEqual([
      'order resend',
      'refund goodwill',
    ])
  })

  test('with what a failed refund needs', async () => {
    for (const [code, command] of [
      ['no_float', 'refund retry'],
      ['payee_declined', 'refund release'],
      ['refund_nonce_spent', 'refund paid'],
    ] as const) {
      const { id } = await failedRefund(code)
      expect((await showOrder(store.anna(), id)).mayDo[0]?.command).toContain(command)
    }
  })

  test('with its checkout, whose amounts are whole units of the coin', async () => {
    const { orderId } = await placedOnRecord(store.records)
    const { life } = await showOrder(store.anna(), orderId)
    const paid = life.find(({ of, what }) => of === 'checkout' && what === 'ORDERED')
    expect(paid?.detail).toMatchObject({ price: unitsOfPrice, payments: [{ units: unitsOfPrice }] })
  })

  test('only if it is there', async () => {
    const missing = `ord_${'0'.repeat(26)}` as OrderId
    await expect(showOrder(store.anna(), missing)).rejects.toThrow('There is no order')
  })
})

test('what has failed is tried again by one of two operators, and the other is told', async () => {
  const { id } = await failedRefund('no_float')
  const both = await Promise.all(
    ['anna', 'bert'].map((by) => retryRefunds({ ...store.anna(), by }, [id])),
  )
  const told = both.flatMap((one) => one.map(({ isDone }) => isDone))
  expect(told.toSorted()).toEqual([false, true])
  expect(await payoutOf(id)).toEqual({ state: 'DUE' })
  expect(await acts()).toMatchObject([{ act: 'refund retry', subject: `order:${id}` }])
})

test('what is under way is looked at at once, and what has ended is not', async () => {
  const open = await store.place(asked())
  await store.orders().release(open, 60_000)
  expect(await store.orders().claimDue(1)).toEqual([])
  await retryOrder(store.anna(), open.id)
  expect(await store.orders().claimDue(1)).toMatchObject([{ id: open.id }])
  const ended = await store.place(fulfilled(asked()))
  await expect(retryOrder(store.anna(), ended.id)).rejects.toThrow('is under way')
  expect(await acts()).toMatchObject([{ act: 'order retry', subject: `order:${open.id}` }])
})

describe('a link that was lost', () => {
  const sent: { to: string; text: string }[] = []
  const mailer = { send: async (mail: { to: string; text: string }) => void sent.push(mail) }
  const tokens = {
    tokenSigner: createSigner([key], 'order-pass'),
    purchases: { now: store.anna().now },
  }

  test('is sent again, to a new address too, and opens the order', async () => {
    const { id } = await store.place(fulfilled(asked()))
    const to = { to: ' Ada@Example.org', reason: 'lost it' }
    expect(await resendLink(store.anna(), id, to, mailer)).toMatchObject({ isNewAddress: true })
    expect(await resendLink(store.anna(), id, to, mailer)).toMatchObject({ isNewAddress: false })
    expect(sent.map((mail) => mail.to)).toEqual(['ada@example.org', 'ada@example.org'])
    const [, token] = /#(\S+)/.exec(sent[0]?.text ?? '') ?? []
    expect(orderOfLinkToken(tokens, token)).toBe(id)
    expect(await acts()).toMatchObject([
      { act: 'order resend', after: { isNewAddress: false } },
      { act: 'order resend', after: { isNewAddress: true }, reason: 'lost it' },
    ])
  })

  test('goes to nobody on the denylist, and is not issued for what nobody paid', async () => {
    const { id } = await store.place(fulfilled(asked()))
    const parties = [{ party: 'eve@example.org', identity: 'eve@example.org', reason: 'fraud' }]
    await changeDenylist(store.database(), { parties, isDenied: true, list: 'hand', by: 'anna' })
    const to = { to: 'e.ve+1@example.org', reason: 'lost it' }
    await expect(resendLink(store.anna(), id, to, mailer)).rejects.toThrow('denylist')
    await expect(resendLink(store.anna(), id, { ...to, to: 'eve' }, mailer)).rejects.toThrow(
      'no e-mail',
    )
    expect(await acts()).toEqual([])
  })
})
