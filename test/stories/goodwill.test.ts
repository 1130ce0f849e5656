import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commandOf } from '../../src/commands/refunds-arguments.ts'
import { carryOut } from '../../src/commands/refunds-work.ts'
import { usdc } from '../../src/lib/money.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { transfersBetween } from './chain.ts'
import { openSources } from './reconciling.ts'
import { buyDelivered, eventually } from './requests.ts'
import { copyOf, openNode, openStore, type Store } from './store.ts'
import { inTables, settled } from './tables.ts'

// The operator gives the buyer of delivered goods money from the float, which is no refund.

const caps = { hour: usdc(10n ** 9n), day: usdc(10n ** 9n) }

let store: Store
let backup: string
let node: Awaited<ReturnType<typeof openNode>>
let buyer: Buyer
let orderId: string
let dir: string

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kiosk402-goodwill-'))
  store = await openStore()
  buyer = await newBuyer()
  orderId = (await buyDelivered(store, buyer, 'voucher')).order.orderId
  await settled(store)
  await store.halt()
  backup = await copyOf(store.databaseUrl)
  node = await openNode(store.settings, store.parts)
})
afterAll(async () => {
  await node.close()
  await store.close()
  await rm(dir, { recursive: true })
})

/** `npm run refunds`, with what it prints. */
function refunds(...args: readonly string[]): Promise<string> {
  return inTables(node, async (database) => {
    const { lines } = await carryOut({ database, caps, by: 'ann@ops' }, commandOf(args))
    return lines.join('\n')
  })
}

const give = () => refunds('goodwill', orderId, '0.25', '--reason', 'The code was used')

const given = () => transfersBetween(store.parts, store.refundWallet, buyer.address)

/** The books once all that is under way has ended. */
async function books() {
  const sources = await openSources(node.settings)
  try {
    return await eventually(sources.reconcile, ({ open }) => open.length === 0)
  } finally {
    await sources.close()
  }
}

const isPaid = () =>
  eventually(
    () => refunds('status'),
    (status) => !status.includes(orderId),
  )

test('goodwill goes to the payer once, and all books agree', async () => {
  const before = (await books()).totals
  const balance = await buyer.balance()
  expect(await give()).toBe(
    `${orderId}: gives 0.25 USDC to ${buyer.address}; the running store pays it`,
  )
  await isPaid()
  expect(await buyer.balance()).toBe(balance + 250_000n)
  expect(await give()).toContain('gave 0.25 USDC for it already')
  const { differences, totals } = await books()
  expect(differences).toEqual([])
  expect(totals).toEqual({ ...before, goodwill: { booked: 250_000n, onChain: 250_000n } })
  expect(await given()).toHaveLength(1)
})

test('a store restored from an older backup starts, and the same goodwill given again is not paid again', async () => {
  await node.close()
  node = await openNode({ ...store.settings, databaseUrl: backup }, store.parts)
  expect((await books()).differences).toMatchObject([
    { code: 'goodwill_not_booked', order: orderId, found: 250_000n },
  ])
  expect(await give()).toContain('gives 0.25 USDC')
  await isPaid()
  expect(await given()).toHaveLength(1)
  expect((await books()).differences).toEqual([])
})
