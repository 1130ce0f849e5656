import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { Report } from '../../src/reconcile/sources.ts'
import type { Accepts } from '../harness/payer.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { balanceOf, emptyWallet, mintUsdc, transfersBetween } from './chain.ts'
import { callToken, settling } from './contracts/calls.ts'
import { openSources, type StorySources } from './reconciling.ts'
import { bodyFor, buy, eventually, post, purchasePath, termsOf, until } from './requests.ts'
import { newDatabase, openNode, openStore, type Store, siblingSettings } from './store.ts'

// An operator is paid at another address from now on, and pays back from another wallet.

type Node = Awaited<ReturnType<typeof openNode>>

const thieves = privateKeyToAddress(generatePrivateKey())

let store: Store
let node: Node
let sources: StorySources
let before: Accepts
const refunded: Buyer[] = []

async function purchase(at: Node, outcome: 'OK' | 'FAIL') {
  const buyer = await newBuyer()
  const { answer } = await buy(at, buyer, 'voucher', bodyFor('voucher', outcome))
  const { orderId } = answer.body
  if (outcome === 'OK') return
  await until(at, orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  refunded.push(buyer)
}

async function tradeAt(at: Node): Promise<void> {
  await purchase(at, 'OK')
  await purchase(at, 'FAIL')
}

/** What the books say once the block that it is about is safe. */
const reconciled = (isSeen: (report: Report) => boolean = () => true) =>
  eventually(sources.reconcile, (report) => report.open.length === 0 && isSeen(report))

const codes = ({ differences }: Report) => differences.map(({ code }) => code)

const lower = (address: string) => address.toLowerCase()

const refundsTo = async ({ address }: Buyer) => {
  const wallets = [store.refundWallet, node.refundWallet]
  const all = wallets.map((wallet) => transfersBetween(store.parts, wallet, address))
  return (await Promise.all(all)).flat().length
}

const atNode = (header: string) =>
  post(node.url, purchasePath('voucher'), bodyFor('voucher', 'OK'), { 'payment-signature': header })

const why = { reason: 'The key leaked', by: 'Ann Smith' }

/** A transfer of nothing, authorized with the key of the earlier refund wallet. */
async function stolenRefund(): Promise<string> {
  const thief = await newBuyer(0n, store.parts, privateKeyToAccount(store.settings.refundKey))
  const { authorization, signature } = await thief.sign({ ...before, amount: '0', payTo: thieves })
  expect(await callToken(store.parts, settling({ authorization, signature }))).toBe('success')
  const [stolen] = await transfersBetween(store.parts, store.refundWallet, thieves)
  return stolen?.transactionHash ?? ''
}

beforeAll(async () => {
  store = await openStore({ env: { REFUND_GRACE_SECONDS: '1' } })
  before = await termsOf(store.url, 'voucher', bodyFor('voucher', 'OK'))
  await tradeAt({ ...store, close: store.halt })
  await store.halt()
  const refundKey = generatePrivateKey()
  await mintUsdc(store.parts, privateKeyToAddress(refundKey), 1_000_000_000n)
  const payTo = privateKeyToAddress(generatePrivateKey())
  node = await openNode({ ...store.settings, payTo, refundKey }, store.parts)
  sources = await openSources(node.settings)
  await tradeAt(node)
})
afterAll(async () => {
  await sources.close()
  await node.close()
  await store.close()
})

test('what was paid and paid back before and after the change is counted, and nothing differs', async () => {
  const { differences, totals } = await reconciled()
  expect(differences).toEqual([])
  expect(totals.chain).toEqual({
    received: totals.ledger.received,
    refunded: -totals.ledger.refunded,
    unmatched: 0n,
  })
})

test('a float that is moved on is no difference, and what is left at an earlier address is told', async () => {
  await emptyWallet(store.parts, store.settings.refundKey, node.refundWallet)
  const { differences, movements, earlier } = await reconciled((seen) => seen.movements.length > 0)
  expect(differences).toEqual([])
  expect(movements).toMatchObject([{ isWithin: true, transfer: { to: lower(node.refundWallet) } }])
  const left = await balanceOf(store.parts, store.payTo)
  expect(earlier).toEqual([
    { role: 'pay_to', address: lower(store.payTo), holds: left },
    { role: 'refunds', address: lower(store.refundWallet), holds: 0n },
  ])
})

test('a payment that comes late to the earlier address is not called unpaid, and goes back once', async () => {
  const buyer = await newBuyer()
  const payment = await buyer.sign(before)
  expect(await callToken(store.parts, settling(payment))).toBe('success')
  const answer = await atNode(payment.header)
  expect(answer).toMatchObject({ status: 503, body: { charged: 'unknown' } })
  const seen = await reconciled(({ differences }) => differences.length > 0)
  expect(codes(seen)).toEqual(['payment_without_order'])
  const rebuilt = await sources.rebuild()
  expect(rebuilt).toMatchObject([{ became: 'refund_due' }])
  for (const { order } of rebuilt) {
    await until(node, order, ({ refund_state }) => refund_state === 'REFUNDED')
  }
  expect(await refundsTo(buyer)).toBe(1)
  refunded.push(buyer)
  const after = await reconciled(
    ({ totals }) => totals.ledger.open === 0n && !totals.chain.unmatched,
  )
  expect(after.differences).toEqual([])
})

test('whoever has the key of an earlier refund wallet keeps no node from starting', async () => {
  const transaction = await stolenRefund()
  const { differences, movements } = await reconciled((seen) => seen.differences.length > 0)
  expect(differences).toMatchObject([{ code: 'refund_without_order', transaction }])
  const started = await openNode(await siblingSettings(node), node.parts)
  const events = started.logLines.map((line) => JSON.parse(line).event)
  expect(events).toContain('earlier_wallet_used')
  await started.close()
  const stolen = movements.filter(({ transfer }) => transfer.transaction === transaction)
  for (const { transfer } of stolen) await sources.movements.acknowledge(transfer, why)
  expect((await reconciled()).differences).toEqual([])
})

test('a lost record is rebuilt from both addresses, and nothing is paid back twice', async () => {
  await node.close()
  const databaseUrl = await newDatabase(inject('parts').databaseUrl)
  const empty = await openSources({ ...node.settings, databaseUrl })
  await empty.wallets.addEarlier('pay_to', store.payTo)
  await empty.wallets.addEarlier('refunds', store.refundWallet)
  const rebuilt = await empty.rebuild()
  const became = rebuilt.map((one) => one.became).sort()
  expect(became).toEqual(['delivered', 'delivered', 'refunded', 'refunded', 'refunded'])
  for (const buyer of refunded) expect(await refundsTo(buyer)).toBe(1)
  await empty.close()
})
