import { expect, it } from 'vitest'
import { scripted } from './scripted.fixture.ts'

const list = 'GET /api/v1/stores/S1/pull-payments?includeArchived=true'
const transaction = 'ab'.repeat(32)
const isOurs = (name: string) => name.startsWith('ref_')

function pull(id: string, name: string, changes: object = {}) {
  return {
    id,
    name,
    description: '',
    currency: 'btc',
    amount: '0.0012',
    BOLT11Expiration: '30',
    autoApproveClaims: true,
    archived: false,
    viewLink: `https://btcpay.example.com/pull-payments/${id}`,
    ...changes,
  }
}

function claimed(state: string, changes: object = {}) {
  return {
    id: `Out${state}`,
    revision: 0,
    destination: 'bc1qBuyer',
    originalCurrency: 'BTC',
    originalAmount: '0.00120000',
    payoutCurrency: 'BTC',
    payoutAmount: '0.0012',
    payoutMethodId: 'BTC-CHAIN',
    state,
    metadata: {},
    ...changes,
  }
}

/** A BTCPay Server with these pull payments, and what was claimed from each. */
function holding(pulls: readonly object[], payouts: Readonly<Record<string, readonly object[]>>) {
  return scripted(({ call }) => {
    if (call === list) return { json: pulls }
    const [, id = ''] = /pull-payments\/(\w+)\/payouts/.exec(call) ?? []
    return payouts[id] ? { json: payouts[id] } : { status: 500, text: 'not in the script' }
  })
}

it('tells what was claimed under such names, sent or not, and nothing of others', async () => {
  const proof = { proofType: 'PayoutTransactionOnChainBlob', transactionId: transaction }
  const { processor, unfit } = holding(
    [pull('P1', 'ref_1'), pull('P2', 'ref_2', { archived: true }), pull('P3', 'tips')],
    {
      P1: [claimed('Completed', { paymentProof: proof }), claimed('Cancelled')],
      P2: [claimed('InProgress', { originalAmount: '0.000000001' })],
    },
  )
  expect(await processor.payouts(isOurs)).toEqual({
    outcome: 'found',
    payouts: [
      {
        reference: 'ref_1',
        coin: 'BTC',
        to: 'bc1qBuyer',
        units: 120_000n,
        isSent: true,
        transaction,
      },
      {
        reference: 'ref_2',
        coin: 'BTC',
        to: 'bc1qBuyer',
        units: undefined,
        isSent: false,
        transaction: undefined,
      },
    ],
  })
  expect(unfit).toEqual([])
})

it('has no amount for what is in another currency', async () => {
  const other = pull('P1', 'ref_1', { currency: 'USD' })
  const { processor } = holding([other], { P1: [claimed('Completed')] })
  expect(await processor.payouts(isOurs)).toMatchObject({
    payouts: [{ coin: 'USD', units: undefined, isSent: true }],
  })
})

it('tells nothing rather than a part', async () => {
  const half = holding([pull('P1', 'ref_1'), pull('P2', 'ref_2')], { P1: [claimed('Completed')] })
  expect(await half.processor.payouts(isOurs)).toMatchObject({ outcome: 'unknown' })
  const refused = scripted(() => ({
    status: 403,
    json: { code: 'missing-permission', message: '' },
  }))
  expect(await refused.processor.payouts(isOurs)).toEqual({
    outcome: 'unknown',
    reason: 'BTCPay answers 403 missing-permission',
  })
})
