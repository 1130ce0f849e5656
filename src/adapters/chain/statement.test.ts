import { encodeAbiParameters, encodeEventTopics, type Hex } from 'viem'
import { expect, test } from 'vitest'
import { networks } from '../../payments/networks.ts'
import type { ChainTransfer } from '../../reconcile/ports.ts'
import type { Chain } from './clients.ts'
import { chainStatement } from './statement.ts'
import { tokenAbi } from './token.ts'

const network = networks['base-sepolia']
const store = `0x${'a1'.repeat(20)}` as const
const refunds = `0x${'f0'.repeat(20)}` as const
const formerStore = `0x${'a2'.repeat(20)}` as const
const formerRefunds = `0x${'f1'.repeat(20)}` as const
const payer = `0x${'b2'.repeat(20)}` as const
const thief = `0x${'c3'.repeat(20)}` as const
const nonce = `0x${'12'.repeat(32)}` as const
const transaction = `0x${'34'.repeat(32)}` as const

/** Two wallets of each role: the present one and an earlier one. */
const wallets = [
  { role: 'pay_to', address: store, isPresent: true },
  { role: 'pay_to', address: formerStore, isPresent: false },
  { role: 'refunds', address: refunds, isPresent: true },
  { role: 'refunds', address: formerRefunds, isPresent: false },
] as const

interface Filter {
  readonly topics: readonly (Hex | readonly Hex[] | null)[]
}

function log(topics: readonly unknown[], data: Hex, logIndex: number) {
  const place = { blockNumber: '0x7', blockHash: transaction, transactionIndex: '0x0' }
  const index = `0x${logIndex.toString(16)}`
  const from = { address: network.usdc, transactionHash: transaction, removed: false }
  return { ...place, ...from, logIndex: index, topics, data }
}

function transfer(from: Hex, to: Hex, logIndex: number) {
  const topics = encodeEventTopics({ abi: tokenAbi, eventName: 'Transfer', args: { from, to } })
  return log(topics, encodeAbiParameters([{ type: 'uint256' }], [500_000n]), logIndex)
}

function used(authorizer: Hex, logIndex: number) {
  const args = { authorizer, nonce }
  return log(
    encodeEventTopics({ abi: tokenAbi, eventName: 'AuthorizationUsed', args }),
    '0x',
    logIndex,
  )
}

/** A statement from a node that has these logs and filters them by topic. */
function statementOver(logs: readonly ReturnType<typeof log>[]) {
  const fits = (topic: unknown, wanted: Filter['topics'][number] | undefined) =>
    wanted === null || wanted === undefined || [wanted].flat().includes(topic as Hex)
  const request = async ({ params: [{ topics }] }: { params: [Filter] }) =>
    logs.filter((one) => topics.every((wanted, at) => fits(one.topics[at], wanted)))
  const chain = { network, reader: { request } } as unknown as Chain
  return chainStatement(chain, wallets)
}

async function all(pages: AsyncIterable<readonly ChainTransfer[]>): Promise<ChainTransfer[]> {
  const found: ChainTransfer[] = []
  for await (const page of pages) found.push(...page)
  return found
}

async function received(...logs: readonly ReturnType<typeof log>[]) {
  return (await all(statementOver(logs).received(0, 10))).map(({ from, nonce: by }) => [from, by])
}

test('a transfer has the authorization that stands directly before it', async () => {
  expect(await received(used(payer, 4), transfer(payer, store, 5))).toEqual([[payer, nonce]])
})

test.each([
  ['none', []],
  ['one further off', [used(payer, 3)]],
  ['one after it', [used(payer, 6)]],
  ['that of somebody else', [used(thief, 4)]],
])('with %s it is a plain transfer', async (_, before) => {
  expect(await received(...before, transfer(payer, store, 5))).toEqual([[payer, undefined]])
})

test('the authorization of another payer beside it is not its own', async () => {
  const logs = [transfer(thief, store, 1), used(thief, 4), transfer(payer, store, 5)]
  expect(await received(...logs)).toEqual([
    [thief, undefined],
    [payer, undefined],
  ])
})

test('an authorization that was burnt on another transfer pays nothing here', async () => {
  const logs = [used(payer, 1), transfer(payer, thief, 2), transfer(payer, store, 3)]
  expect(await received(...logs)).toEqual([[payer, undefined]])
})

test('what leaves the refund wallet is found with its authorization, and nothing else', async () => {
  const logs = [used(refunds, 1), transfer(refunds, payer, 2), transfer(payer, refunds, 3)]
  expect(await all(statementOver(logs).paidBack(0, 10))).toEqual([
    { transaction, block: 7, logIndex: 2, from: refunds, to: payer, amount: 500_000n, nonce },
  ])
})

test('what our wallets sent without an authorization is found by its payee', async () => {
  const plain = [transfer(store, payer, 2), transfer(refunds, payer, 3)]
  const authorized = [used(refunds, 4), transfer(refunds, payer, 5)]
  const others = [transfer(store, thief, 6), transfer(thief, payer, 7)]
  const statement = statementOver([...plain, ...authorized, ...others])
  const sent = await all(statement.sentPlainly(payer, 0, 10))
  expect(sent.map(({ from, logIndex }) => [from, logIndex])).toEqual([
    [store, 2],
    [refunds, 3],
  ])
})

test('what a transaction has moved of another token is no transfer', async () => {
  const other = { ...transfer(payer, store, 1), address: thief }
  const logs = [other, used(payer, 2), transfer(payer, store, 3), transfer(thief, payer, 4)]
  const receipt = {
    ...{ transactionHash: transaction, blockHash: transaction, blockNumber: '0x7' },
    ...{ status: '0x1', logs: logs.map((one) => ({ ...one, blockHash: transaction })) },
  }
  const reader = {
    request: async () => receipt,
    getBlock: async () => ({ number: 7n, hash: transaction }),
  }
  const chain = { network, reader } as unknown as Chain
  const statement = chainStatement(chain, wallets)
  expect(await statement.transferIn(transaction, nonce)).toMatchObject({ logIndex: 3 })
  expect(await statement.plainTransfersIn(transaction)).toMatchObject([{ logIndex: 4 }])
})

test('what came to an earlier address and what left an earlier wallet is found as well', async () => {
  const logs = [
    ...[used(payer, 1), transfer(payer, store, 2), transfer(payer, formerStore, 3)],
    ...[used(formerRefunds, 4), transfer(formerRefunds, payer, 5), transfer(refunds, payer, 6)],
  ]
  const statement = statementOver(logs)
  const places = async (pages: AsyncIterable<readonly ChainTransfer[]>) =>
    (await all(pages)).map(({ logIndex, nonce: by }) => [logIndex, by])
  expect(await places(statement.received(0, 10))).toEqual([
    [2, nonce],
    [3, undefined],
  ])
  expect(await places(statement.paidBack(0, 10))).toEqual([
    [5, nonce],
    [6, undefined],
  ])
  expect(await places(statement.sentPlainly(payer, 0, 10))).toEqual([[6, undefined]])
})
