import { describe, expect, test } from 'vitest'
import { newCheckoutId, newOrderId } from '../../test/doubles/ids.ts'
import { returnReference } from '../checkouts/checkout.ts'
import { goodwillReferenceOf } from '../orders/goodwill.ts'
import { type Context, UsageError } from './act.ts'
import { goodwillIn, paidIn, referencesIn, refund } from './refund.ts'

const id = newOrderId()
const other = newOrderId()
const back = returnReference(newCheckoutId(), 1)
const gift = goodwillReferenceOf(id)
const hash = 'AB'.repeat(32)

describe('the command line', () => {
  test('names each reference once, in any of their forms', () => {
    expect(referencesIn('retry', [id, other, id])).toEqual([id, other])
    expect(referencesIn('drop', [back, gift])).toEqual([back, gift])
  })

  test('takes a transaction in any case, and which of its transfers it is', () => {
    const transaction = hash.toLowerCase()
    expect(paidIn([back, hash], undefined)).toEqual({ reference: back, transaction })
    const paid = { reference: id, transaction: `0x${transaction}`, transfer: 2 }
    expect(paidIn([id, `0x${hash}`], '2')).toEqual(paid)
  })

  test('takes an amount in dollars', () => {
    const given = { order: id, amount: 2_500_000n, reason: 'the code was used' }
    expect(goodwillIn([id, '2.5'], 'the code was used')).toEqual(given)
  })

  test.each([
    [[], 'Say what to do'],
    [['halt'], '"halt" is not known'],
    [['constructor'], '"constructor" is not known'],
    [['stop'], 'stop needs a reason'],
    [['stop', '--reason', '  '], 'stop needs a reason'],
    [['stop', '--reason'], 'argument missing'],
    [['stop', 'leaked', '--reason', 'x'], 'stop takes nothing else, and got leaked'],
    [['stop', '--all', '--reason', 'x'], '--all is not for stop'],
    [['status', '--force'], '--force'],
    [['status', id], 'takes nothing else'],
    [['retry'], 'retry needs a reference'],
    [['retry', 'ord_1'], '"ord_1" is not the id of an order'],
    [['retry', id, '--all'], 'not both'],
    [['retry', id, '--reason', 'x'], '--reason is not for retry'],
    [['retry', `${back}x`], 'nor the reference of a return'],
    [['retry', back.replace(/-1$/, '-0')], 'nor the reference of a return'],
    [['retry', 'ord_1-goodwill'], 'is not the id of an order'],
    [['drop'], 'drop needs a reference'],
    [['release', back], 'release needs a reason'],
    [['drop', back, '--all'], '--all is not for drop'],
    [['paid'], 'takes a reference and the transaction'],
    [['paid', back], 'takes a reference and the transaction'],
    [['paid', back, hash, hash], 'takes a reference and the transaction'],
    [['paid', 'chk_1-1', hash], '"chk_1-1" is not the id of an order'],
    [['paid', back, hash.slice(2)], 'is not a transaction'],
    [['paid', back, hash, '--transfer', '0'], 'from 1'],
    [['paid', '--transfer', '2'], 'takes a reference and the transaction'],
    [['goodwill', id, '2.5'], '--reason of 3 to 500'],
    [['goodwill', id, '2.5', '--reason', 'no'], '--reason of 3 to 500'],
    [['goodwill', id, '2.5', '3', '--reason', 'late'], 'takes the id of an order and an amount'],
    [['goodwill', back, '2.5', '--reason', 'late'], 'takes the id of an order and an amount'],
    [['goodwill', id, '2,5', '--reason', 'late'], '"2,5" is not an amount in USDC'],
    [['goodwill', id, '0', '--reason', 'late'], '"0" is not an amount in USDC'],
  ])('%j is refused: %s', async (args, message) => {
    const run = () => refund.run(args, {} as Context)
    await expect(run).rejects.toThrow(UsageError)
    await expect(run).rejects.toThrow(message)
  })
})
