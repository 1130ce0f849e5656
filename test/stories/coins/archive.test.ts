import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { archiveAll, settled } from '../archiving.ts'
import { openSources } from '../reconciling.ts'
import { eventually, get, until } from '../requests.ts'
import { openStore, type Store } from '../store.ts'
import { choose, type Paying, rowOf, sendForm } from './person.ts'

let store: Store
let dir: string

beforeAll(async () => {
  store = await openStore({ coins: {} })
  dir = await mkdtemp(join(tmpdir(), 'kiosk402-archive-'))
})
afterAll(async () => {
  await store.close()
  await rm(dir, { recursive: true })
})

/** An order that was paid in Litecoin. */
async function paid(outcome: string): Promise<Paying> {
  const paying = await choose(store, 'LTC', { outcome })
  await store.btcpay(`/invoices/${paying.invoice}/pay`)
  return paying
}

/** Lets the time pass in which BTCPay looks for late payments. */
async function watchIsOver({ id, invoice }: Paying): Promise<void> {
  await store.btcpay(`/invoices/${invoice}/forget`)
  await store.query(
    'update checkouts set due_at = now(), locked_until = now() where id = $1 and due_at is not null',
    [id],
  )
  await eventually(
    () => rowOf(store, id),
    ({ finished_at }) => finished_at !== null,
  )
}

test('orders that were paid in coins are archived with their checkouts, and all books agree', async () => {
  const delivered = await paid('OK')
  await until(store, delivered.orderId, ({ orders }) => orders?.[0]?.state === 'FULFILLED')
  const refunded = await paid('DECLINED')
  await until(store, refunded.orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  await settled(store)
  const sources = await openSources(store.settings)
  try {
    expect(await archiveAll(store, dir)).toBe(0)
    await watchIsOver(delivered)
    await watchIsOver(refunded)
    const { doc } = await rowOf(store, delivered.id)
    const before = await sources.reconcile()
    expect([before.differences, before.silent]).toEqual([[], []])
    expect(before.totals).toMatchObject({ orders: 2, checkouts: 2 })

    expect(await archiveAll(store, dir)).toBe(2)

    const after = await sources.reconcile()
    expect([after.differences, after.silent]).toEqual([[], []])
    expect(after.totals).toEqual(before.totals)
    expect([after.lost, await sources.rebuild()]).toEqual([[], []])

    const { cookie } = delivered
    for (const path of [`/orders/${delivered.orderId}`, `/pay/${delivered.id}`]) {
      const page = await get(store.url, path, { accept: 'text/html', cookie })
      expect(page.status, path).toBe(404)
      expect(page.body, path).toContain('archived')
    }
    const { address, payments } = doc.invoice
    for (const number of [address, payments[0].transaction, delivered.orderId, delivered.id]) {
      const found = await sendForm(store, '/find/payment', { number })
      expect(await found.text(), number).toContain('archived')
      expect(found.status).toBe(404)
    }
    const next = await paid('OK')
    await until(store, next.orderId, ({ orders }) => orders?.[0]?.state === 'FULFILLED')
  } finally {
    await sources.close()
  }
})
