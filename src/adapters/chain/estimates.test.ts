import { beforeEach, expect, test } from 'vitest'
import { paymentOf } from '../../../test/doubles/orders.ts'
import { networks } from '../../payments/networks.ts'
import { nodeBefore } from './chain.fixture.ts'
import { openChain } from './clients.ts'
import { ownFacilitator } from './facilitator.ts'
import { isSilence } from './rpc.ts'
import { costOf, gasOf, transferOf } from './token.ts'

// What nodes say about a call that needs more gas than the limit of an estimate. The payer can choose that.

/** What the node answers to every call. */
let said: { readonly code: number; readonly message: string }
const node = await nodeBefore('')
const gasKey = `0x${'22'.repeat(32)}` as const
const options = { rpcUrl: node.url, gasKey, pollMs: 20, maxSettlementWei: 10n ** 16n }
const chain = openChain({ network: networks['base-sepolia'], ...options })

beforeEach(() => node.tamper(() => ({ error: said })))

const payment = paymentOf()
const transfer = transferOf(payment)

const words = [
  ['Geth, Erigon', 'gas required exceeds allowance (4000000)'],
  ['older ones', 'gas required exceeds allowance or always failing transaction'],
  ['Reth', 'out of gas: gas required exceeds: 4000000'],
  ['Nethermind', 'Cannot estimate gas, gas spent exceeded transaction and block gas limit'],
  ['Nethermind since', 'Gas estimation failed due to out of gas'],
  ['anvil', 'Out of gas: gas required exceeds allowance: 4000000'],
] as const

/** The codes that nodes use for one refusal: invalid input, internal error, missing resource, limit, revert. */
const codes = [-32_000, -32_603, -32_002, -32_005, -32_015]

const refusals = [
  ...words.map(([who, message]) => [who, message, 3] as const),
  ...codes.map((code) => [`one at code ${code}`, words[0][1], code] as const),
]

test.each(refusals)(
  'in the words of %s that is what the payment costs',
  async (_, message, code) => {
    said = { code, message }
    expect(await costOf(chain, transfer)).toBe('too_much')
    const error = await gasOf(chain, transfer).catch((refused: unknown) => refused)
    expect(isSilence(error)).toBe(false)
  },
)

test('a node that fails for another reason has said nothing of the payment', async () => {
  said = { code: -32_603, message: 'the database is closed' }
  await expect(costOf(chain, transfer)).rejects.toThrow()
})

test('a payment that cannot be checked is not called bad, and leaves no question open', async () => {
  const codesOf: unknown[] = []
  node.tamper((method, [address]) => {
    if (method === 'eth_getCode') codesOf.push(String(address).toLowerCase())
    return { status: 503 }
  })
  const fresh = { ...payment, validBefore: Math.floor(Date.now() / 1_000) + 300 }
  await expect(ownFacilitator(chain, []).verify(fresh)).rejects.toThrow(/503/)
  // The package makes two calls in parallel and handles only the first failure. Only the one for the
  // payer's code may go to the node: an unhandled failure ends the process.
  expect(new Set(codesOf)).toEqual(new Set([payment.payer.toLowerCase()]))
})
