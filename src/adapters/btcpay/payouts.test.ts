import { describe, expect, it } from 'vitest'
import type { CoinPayout } from '../../checkouts/ports.ts'
import { payoutJson, playing, pullJson } from './scripted.fixture.ts'

const list = 'GET /api/v1/stores/S1/pull-payments?includeArchived=true'
const create = 'POST /api/v1/stores/S1/pull-payments'
const payoutsOf = (id: string) => `GET /api/v1/pull-payments/${id}/payouts?includeCancelled=true`
const claimOf = (id: string) => `POST /api/v1/pull-payments/${id}/payouts`

const payout: CoinPayout = {
  reference: 'ref_1-1',
  coin: 'BTC',
  network: 'Bitcoin',
  to: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  units: 120_000n,
}
const transaction = 'ab'.repeat(32)

const pull = (id: string, changes: object = {}) => pullJson(id, payout.reference, changes)
const claimed = (state: string, changes: object = {}) =>
  payoutJson(state, { pullPaymentId: 'Pull1', ...changes })

const one = { [list]: { json: [pull('Pull1'), pull('Pull9', { name: 'ref_2' })] } }
const proof = { proofType: 'PayoutTransactionOnChainBlob', transactionId: transaction }

describe('payOut', () => {
  it('sets the exact amount aside under its reference, and claims it for the buyer', async () => {
    const { processor, asked, calls, unfit } = playing({
      [list]: { json: [] },
      [create]: { json: pull('Pull1') },
      [payoutsOf('Pull1')]: { json: [] },
      [claimOf('Pull1')]: { json: claimed('AwaitingPayment') },
    })
    expect(await processor.payOut(payout)).toMatchObject({ outcome: 'pending' })
    expect(calls()).toEqual([list, create, payoutsOf('Pull1'), claimOf('Pull1')])
    expect(asked[1]?.body).toMatchObject({
      name: 'ref_1-1',
      amount: '0.0012',
      currency: 'BTC',
      autoApproveClaims: true,
      payoutMethods: ['BTC-CHAIN'],
    })
    expect(asked[3]?.body).toEqual({
      destination: payout.to,
      amount: '0.0012',
      payoutMethodId: 'BTC-CHAIN',
    })
    expect(unfit).toEqual([])
  })

  it.each<readonly [string, object, object]>([
    ['AwaitingApproval', {}, { outcome: 'pending' }],
    ['AwaitingPayment', {}, { outcome: 'pending' }],
    ['InProgress', { paymentProof: proof }, { outcome: 'pending' }],
    ['Completed', { paymentProof: proof }, { outcome: 'paid', transaction }],
    [
      'Completed',
      { paymentProof: { proofType: 'ManualPayoutProof', id: transaction } },
      { transaction },
    ],
    [
      'Completed',
      { paymentProof: { ProofType: 'x', TransactionId: transaction } },
      { transaction },
    ],
    [
      'Completed',
      { paymentProof: { link: `https://e.example/tx/0x${transaction}` } },
      { transaction: `0x${transaction}` },
    ],
    ['Completed', {}, { outcome: 'blocked', code: 'note_transaction' }],
    [
      'Completed',
      { paymentProof: { proofType: 'x', id: 'paid in cash' } },
      { code: 'note_transaction' },
    ],
    ['Cancelled', {}, { outcome: 'blocked', code: 'payout_cancelled' }],
    ['Completed', { paymentProof: proof, destination: 'bc1qother' }, { code: 'payout_mismatch' }],
    ['AwaitingPayment', { originalAmount: '0.0011' }, { code: 'payout_mismatch' }],
    ['Lost', {}, { outcome: 'pending' }],
  ])('sees a payout that is %s (%j)', async (state, changes, expected) => {
    const { processor, calls } = playing({
      ...one,
      [payoutsOf('Pull1')]: { json: [claimed(state, changes)] },
    })
    expect(await processor.payOut(payout)).toMatchObject(expected)
    expect(calls()).toEqual([list, payoutsOf('Pull1')])
  })

  it('goes by what was claimed, where the record has lost from which of two', async () => {
    const { processor, record, calls } = playing({
      [list]: { json: [pull('Pull2'), pull('Pull1')] },
      [payoutsOf('Pull1')]: { json: [] },
      [payoutsOf('Pull2')]: { json: [claimed('Completed', { paymentProof: proof })] },
    })
    expect(await processor.payOut(payout)).toEqual({ outcome: 'paid', transaction })
    expect((await record.find('ref_1-1')).pullPayment).toBe('Pull2')
    expect(calls()).toEqual([list, payoutsOf('Pull1'), payoutsOf('Pull2')])
  })

  it('claims of two only from the one that was chosen first, even if that is gone', async () => {
    const { processor, record, calls } = playing({
      [list]: [{ json: [pull('Pull2'), pull('Pull1')] }, { json: [pull('Pull1')] }],
      [payoutsOf('Pull2')]: { json: [] },
      [claimOf('Pull2')]: 'unreached',
    })
    await record.choose('ref_1-1', 'Pull2')
    expect(await processor.payOut(payout)).toMatchObject({ outcome: 'pending' })
    expect(calls()).toEqual([list, payoutsOf('Pull2'), claimOf('Pull2')])
    expect(await processor.payOut(payout)).toMatchObject({ code: 'payout_gone' })
  })

  it.each([
    ['an archived one', { archived: true }, 'payout_archived'],
    ['one of another amount', { amount: '0.12' }, 'payout_mismatch'],
    ['one of another coin', { currency: 'LTC' }, 'payout_mismatch'],
  ])('claims nothing from %s', async (_name, changes, code) => {
    const { processor, calls } = playing({ [list]: { json: [pull('Pull1', changes)] } })
    expect(await processor.payOut(payout)).toMatchObject({ outcome: 'blocked', code })
    expect(calls()).toEqual([list])
  })

  it('does not take for gone what was archived after it was listed', async () => {
    const { processor, record } = playing({
      [list]: [{ json: [pull('Pull1')] }, { json: [pull('Pull1', { archived: true })] }],
      [payoutsOf('Pull1')]: { json: [] },
    })
    await record.keep('ref_1-1', ['Out1'])
    expect(await processor.payOut(payout)).toMatchObject({ code: 'payout_archived' })
  })

  it('makes nothing while it cannot see what is there', async () => {
    for (const reply of ['unreached', { status: 502, text: '' }, { json: { no: 1 } }] as const) {
      const { processor, calls } = playing({ [list]: reply })
      expect(await processor.payOut(payout)).toMatchObject({ outcome: 'pending' })
      expect(calls()).toEqual([list])
    }
  })

  it('claims nothing while it cannot see what was claimed', async () => {
    const { processor, calls } = playing({
      ...one,
      [payoutsOf('Pull1')]: { status: 502, text: '' },
    })
    expect(await processor.payOut(payout)).toMatchObject({ outcome: 'pending' })
    expect(calls()).not.toContain(claimOf('Pull1'))
  })

  it.each<readonly [number, unknown, object]>([
    [
      422,
      [{ path: 'payoutMethods[0]', message: 'x' }],
      { outcome: 'blocked', code: 'operator_pays' },
    ],
    [422, [{ path: 'Currency', message: 'x' }], { outcome: 'blocked', code: 'payout_refused' }],
    [403, { code: 'missing-permission', message: 'x' }, { code: 'processor_key' }],
    [401, { code: 'unauthenticated', message: 'x' }, { code: 'processor_key' }],
    // None of these has BTCPay's shape, so a proxy in front of it sent them.
    [401, undefined, { outcome: 'pending' }],
    [403, undefined, { outcome: 'pending' }],
    [403, { error: 'Forbidden' }, { outcome: 'pending' }],
    [403, { code: 1020 }, { outcome: 'pending' }],
    [422, [], { outcome: 'pending' }],
    [404, { code: 'not-found', message: 'x' }, { outcome: 'pending' }],
    [500, undefined, { outcome: 'pending' }],
  ])('takes %d %j for the making of a pull payment', async (status, json, expected) => {
    const { processor } = playing({ [list]: { json: [] }, [create]: { status, json } })
    expect(await processor.payOut(payout)).toMatchObject(expected)
  })

  it.each<readonly [number, unknown, object]>([
    [400, { code: 'duplicate-destination', message: 'x' }, { outcome: 'pending' }],
    [400, { code: 'overdraft', message: 'x' }, { outcome: 'pending' }],
    [400, { code: 'archived', message: 'x' }, { outcome: 'pending' }],
    [400, { code: 'amount-too-low', message: 'x' }, { code: 'payout_refused' }],
    [400, { code: 'expired', message: 'x' }, { code: 'payout_refused' }],
    [400, { code: 'payment-method-not-supported', message: 'x' }, { code: 'operator_pays' }],
    [422, [{ path: 'Destination', message: 'x' }], { code: 'payout_refused' }],
    [403, undefined, { outcome: 'pending' }],
    [502, undefined, { outcome: 'pending' }],
  ])('takes %d %j for the claim', async (status, json, expected) => {
    const { processor } = playing({
      ...one,
      [payoutsOf('Pull1')]: { json: [] },
      [claimOf('Pull1')]: { status, json },
    })
    expect(await processor.payOut(payout)).toMatchObject(expected)
  })

  it.each<readonly [string, Partial<CoinPayout>]>([['Monero', { coin: 'XMR' }]])(
    'leaves %s to an operator and asks nobody',
    async (_name, changes) => {
      const { processor, notes, asked } = playing({})
      const asks = { ...payout, ...changes }
      expect(await processor.payOut(asks)).toMatchObject({ code: 'operator_pays' })
      notes.set(payout.reference, transaction)
      expect(await processor.payOut(asks)).toEqual({ outcome: 'paid', transaction })
      expect(asked).toEqual([])
    },
  )

  it.each<readonly [string, Partial<CoinPayout>]>([
    ['a coin that is not taken any more', { coin: 'DOGE' as 'BTC', network: 'Dogecoin' }],
    ['a coin that is taken on another network now', { network: 'Liquid' }],
  ])('makes no payout of %s, and follows one that was made before', async (_name, changes) => {
    const asks = { ...payout, ...changes }
    const none = playing({ [list]: { json: [] } })
    expect(await none.processor.payOut(asks)).toMatchObject({ code: 'operator_pays' })
    expect(none.calls()).toEqual([list])
    const currency = asks.coin
    const table = { [list]: { json: [pull('Pull1', { currency })] } }
    const unclaimed = playing({ ...table, [payoutsOf('Pull1')]: { json: [] } })
    const before = changes.coin ? 'payout_mismatch' : 'operator_pays'
    expect(await unclaimed.processor.payOut(asks)).toMatchObject({ code: before })
    if (changes.coin) return
    const sent = claimed('Completed', { paymentProof: proof })
    const made = playing({ ...table, [payoutsOf('Pull1')]: { json: [sent] } })
    expect(await made.processor.payOut(asks)).toEqual({ outcome: 'paid', transaction })
  })

  it('pays nothing anew whose payout BTCPay had and has forgotten', async () => {
    const { processor, record, calls } = playing({
      [list]: [...[1, 2, 3].map(() => ({ json: [pull('Pull1')] })), { json: [] }],
      [payoutsOf('Pull1')]: [{ json: [] }, { json: [] }],
      [claimOf('Pull1')]: { json: claimed('AwaitingPayment') },
    })
    expect(await processor.payOut(payout)).toMatchObject({ outcome: 'pending' })
    expect(await record.find('ref_1-1')).toEqual({ pullPayment: 'Pull1', payouts: ['Out1'] })
    // The claim alone is gone first, then the pull payment as well.
    expect(await processor.payOut(payout)).toMatchObject({ code: 'payout_gone' })
    expect(await processor.payOut(payout)).toMatchObject({ code: 'payout_gone' })
    expect(calls().filter((call) => call.startsWith('POST'))).toEqual([claimOf('Pull1')])
  })

  it('is never given a reference that BTCPay would cut', async () => {
    const { processor } = playing({ [list]: { json: [] } })
    const long = { ...payout, reference: 'r'.repeat(51) }
    await expect(processor.payOut(long)).rejects.toThrow('cannot name a pull payment')
  })
})
