import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chainClient } from '../../sandbox/chain/rpc.ts'
import type { Report } from '../../src/reconcile/sources.ts'
import { query } from '../harness/query.ts'
import { newBuyer } from './buyer.ts'
import { mintUsdc, transfersBetween } from './chain.ts'
import { ledgerOf } from './facts.ts'
import { openSources, type StorySources } from './reconciling.ts'
import { bodyFor, buy, eventually, type Kind, supplierSays, until } from './requests.ts'
import { copyOf, openNode, openStore, type Store } from './store.ts'

const env = {
  PURCHASE_WAIT_SECONDS: '1',
  REFUND_GRACE_SECONDS: '1',
}

type Bought = Awaited<ReturnType<typeof purchase>>
type Node = Awaited<ReturnType<typeof openNode>>

async function purchase(store: { readonly url: string }, kind: Kind, outcome: string) {
  const buyer = await newBuyer()
  const bought = await buy(store, buyer, kind, bodyFor(kind, outcome))
  expect([200, 202]).toContain(bought.answer.status)
  return { ...bought, buyer, kind, orderId: bought.answer.body.orderId as string }
}

async function purchaseDelivered(store: { readonly url: string }, kind: Kind) {
  const bought = await purchase(store, kind, 'OK')
  await until(store, bought.orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')
  return bought
}

/** A purchase that was paid back. */
async function paidBack(store: { readonly url: string }, bought: Promise<Bought> | Bought) {
  const { orderId } = await bought
  await until(store, orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  return bought
}

async function switchRefunds(store: Store, stopped: boolean): Promise<void> {
  await store.query('insert into refund_switch (stopped) values ($1)', [stopped])
  if (!stopped) await hurry(store.databaseUrl)
}

/** What waits for its time is looked at now. */
async function hurry(databaseUrl: string): Promise<void> {
  await query(
    databaseUrl,
    'update orders set due_at = now(), locked_until = now() where due_at is not null',
  )
}

async function quiet(databaseUrl: string): Promise<void> {
  await eventually(
    async () => {
      await hurry(databaseUrl)
      // What is delivered is only watched until its payment is final.
      return query(
        databaseUrl,
        `select id, state from orders where finished_at is null and state <> 'FULFILLED'`,
      )
    },
    (open) => open.length === 0,
  )
}

function codesOf({ differences }: Report, { orderId }: Bought): string[] {
  return differences.filter(({ order }) => order === orderId).map(({ code }) => code)
}

/** What the chain and the supplier have of a purchase: what no database can change. */
async function truthOf(store: Store, { buyer, orderId }: Bought) {
  const [paid, refunded, booked] = await Promise.all([
    transfersBetween(store.parts, buyer.address, store.payTo),
    transfersBetween(store.parts, store.refundWallet, buyer.address),
    ledgerOf(store),
  ])
  const mine = booked.filter(({ transactionId }) => transactionId === orderId.replace('_', ''))
  return {
    paid: paid.map(({ value }) => value),
    refunded: refunded.map(({ value }) => value),
    purchases: mine.length,
    delivered: mine.reduce((sum, { deliveries }) => sum + deliveries, 0),
  }
}

describe('a backup is restored, and refunds were paid since', () => {
  let store: Store
  let node: Node
  let sources: StorySources
  let backup: string
  let report: Report
  const orders: Record<string, Bought> = {}
  const order = (name: string): Bought => {
    const found = orders[name]
    if (!found) throw new Error(`There is no order ${name}`)
    return found
  }

  async function into(name: string, bought: Promise<Bought>): Promise<void> {
    orders[name] = await bought
  }

  beforeAll(async () => {
    store = await openStore({ env })
    // Before the backup.
    await Promise.all([
      into('delivered', purchaseDelivered(store, 'voucher')),
      into('refunded', paidBack(store, purchase(store, 'topup', 'FAIL'))),
      into('then delivered', purchase(store, 'topup', 'HANG')),
      into('then refunded', purchase(store, 'esim', 'HANG')),
    ])
    await switchRefunds(store, true)
    await into('due, then refunded', purchase(store, 'topup', 'DECLINED'))
    await store.halt()
    backup = await copyOf(store.databaseUrl)

    // After it.
    node = await openNode(store.settings, store.parts)
    await switchRefunds(store, false)
    await supplierSays(store, order('then delivered').orderId, 'DONE')
    await supplierSays(store, order('then refunded').orderId, 'FAILED')
    await Promise.all([
      paidBack(node, order('due, then refunded')),
      paidBack(node, order('then refunded')),
      into('lost, delivered voucher', purchaseDelivered(node, 'voucher')),
      into('lost, delivered esim', purchaseDelivered(node, 'esim')),
      into('lost, refunded', paidBack(node, purchase(node, 'voucher', 'FAIL'))),
      into('lost, refunded, never bought', paidBack(node, purchase(node, 'esim', 'DECLINED'))),
      into('lost, under way', purchase(node, 'voucher', 'HANG')),
    ])
    await switchRefunds(store, true)
    await into('lost, refund due', purchase(node, 'topup', 'DECLINED'))
    await mintUsdc(store.parts, store.payTo, 123_456n)
    const chain = chainClient(store.parts.rpcUrl)
    const minted = await chain.getBlockNumber()
    await eventually(
      () => chain.getBlock({ blockTag: 'safe' }),
      ({ number }) => number >= minted,
    )
    await node.close()
  })
  afterAll(async () => {
    await sources?.close()
    await node?.close()
    await store.close()
  })

  const restored = () => ({ ...store.settings, databaseUrl: backup })

  test('the store refuses to start on it, and names what proves it', async () => {
    const start = openNode(restored(), store.parts)
    await expect(start).rejects.toThrow(/kiosk402 reconcile --rebuild/)
    await expect(start).rejects.toThrow(/in transaction 0x[0-9a-f]{64} and \d+ more/)
  })

  test('every difference is named, and none besides', async () => {
    sources = await openSources(restored())
    report = await sources.reconcile()
    const found = Object.fromEntries(
      Object.entries(orders).map(([name, bought]) => [name, codesOf(report, bought).sort()]),
    )
    const lost = ['payment_without_order', 'supplier_purchase_unknown']
    expect(found).toEqual({
      delivered: [],
      refunded: [],
      'then delivered': [],
      'then refunded': ['refund_not_booked'],
      'due, then refunded': ['refund_not_booked'],
      'lost, delivered voucher': lost,
      'lost, delivered esim': lost,
      'lost, refunded': ['payment_without_order', 'refund_not_booked', 'supplier_purchase_unknown'],
      'lost, refunded, never bought': ['payment_without_order', 'refund_not_booked'],
      'lost, under way': lost,
      'lost, refund due': ['payment_without_order'],
    })
    const others = report.differences.filter(({ order: id }) => id === undefined)
    expect(others).toMatchObject([{ code: 'unmatched_money', found: 123_456n }])
    expect(report.totals.chain.refunded).toBe(600_000n + 650_000n + 800_000n + 600_000n + 800_000n)
  })

  test('the record is rebuilt from what the chain and the supplier prove', async () => {
    const rebuilt = await sources.rebuild()
    const became = Object.fromEntries(rebuilt.map(({ order: id, became }) => [id, became]))
    const expected = {
      'then refunded': 'refunded',
      'due, then refunded': 'refunded',
      'lost, delivered voucher': 'delivered',
      'lost, delivered esim': 'delivered',
      'lost, refunded': 'refunded',
      'lost, refunded, never bought': 'refunded',
      'lost, under way': 'left',
      'lost, refund due': 'refund_due',
    }
    expect(became).toEqual(
      Object.fromEntries(Object.entries(expected).map(([name, to]) => [order(name).orderId, to])),
    )
    const after = await sources.reconcile()
    expect(after.differences.map(({ code }) => code).sort()).toEqual([
      'payment_without_order',
      'supplier_purchase_unknown',
      'unmatched_money',
    ])
    expect(codesOf(after, order('lost, under way'))).toHaveLength(2)
    await supplierSays(store, order('lost, under way').orderId, 'DONE')
    expect(await sources.rebuild()).toEqual([
      { order: order('lost, under way').orderId, became: 'delivered' },
    ])
    expect(await sources.rebuild()).toEqual([])
  })

  test('then it starts, and every payment has one outcome, once', async () => {
    node = await openNode(restored(), store.parts)
    await query(backup, 'insert into refund_switch (stopped) values (false)')
    await quiet(backup)
    for (const [name, { send }] of Object.entries(orders)) {
      const again = await send()
      expect(again.status, name).toBeLessThan(203)
      expect(again.body.transactionHash, name).toMatch(/^0x/)
    }
    await quiet(backup)
    const truth: Record<string, unknown> = {}
    for (const [name, bought] of Object.entries(orders)) truth[name] = await truthOf(store, bought)
    const delivered = (amount: bigint) => ({
      paid: [amount],
      refunded: [],
      purchases: 1,
      delivered: 1,
    })
    const back = (amount: bigint, purchases: number) => ({
      paid: [amount],
      refunded: [amount],
      purchases,
      delivered: 0,
    })
    expect(truth).toEqual({
      delivered: delivered(500_000n),
      refunded: back(600_000n, 1),
      'then delivered': delivered(650_000n),
      'then refunded': back(650_000n, 1),
      'due, then refunded': back(800_000n, 0),
      'lost, delivered voucher': delivered(500_000n),
      'lost, delivered esim': delivered(500_000n),
      'lost, refunded': back(600_000n, 1),
      'lost, refunded, never bought': back(800_000n, 0),
      'lost, under way': delivered(650_000n),
      'lost, refund due': back(800_000n, 0),
    })
    expect((await sources.reconcile()).differences.map(({ code }) => code)).toEqual([
      'unmatched_money',
    ])
  })
})
