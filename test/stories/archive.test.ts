import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createArchive } from '../../src/adapters/storage/archive.ts'
import { readArchived, withGoods } from '../../src/commands/archive-files.ts'
import { createVault } from '../../src/secrets/vault.ts'
import { secretsKey } from '../harness/node.ts'
import { archiveAll, inTables, settled } from './archiving.ts'
import { newBuyer } from './buyer.ts'
import { openClient } from './mcp/client.ts'
import { openSources } from './reconciling.ts'
import { bodyFor, buy, get, until } from './requests.ts'
import { openStore, type Store } from './store.ts'

let store: Store
let dir: string

beforeAll(async () => {
  store = await openStore()
  dir = await mkdtemp(join(tmpdir(), 'kiosk402-archive-'))
})
afterAll(async () => {
  await store.close()
  await rm(dir, { recursive: true })
})

/** What the operator's command shows of an archived order. */
function goodsInFiles(name: string): Promise<unknown> {
  return inTables(store, async (database) => {
    const archived = await readArchived(createArchive(database), dir, name)
    expect(JSON.stringify(archived)).not.toContain('goods')
    return withGoods(createVault([secretsKey]), archived).goods
  })
}

test('orders that were archived say so, their payments buy nothing again, and all books agree', async () => {
  const buyer = await newBuyer()
  const delivered = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
  expect(delivered.answer.status).toBe(200)
  const failed = await buy(store, buyer, 'topup', bodyFor('topup', 'FAIL'))
  const { orderId } = failed.answer.body
  await until(store, orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  await settled(store)
  const orders = '/api/catalog/orders'
  const { paymentId, transactionHash } = (await get(store.url, `${orders}/${orderId}`)).body
  const { client, call } = await openClient(store, 'SDK 1.x')
  const sources = await openSources(store.settings)
  try {
    const before = await sources.reconcile()
    expect(before.differences).toEqual([])
    const balance = await buyer.balance()

    expect(await archiveAll(store, dir)).toBe(2)

    const { differences, totals, lost } = await sources.reconcile()
    expect(differences).toEqual([])
    expect(totals).toEqual(before.totals)
    expect([lost, await sources.rebuild()]).toEqual([[], []])

    const names = [`?transactionHash=${transactionHash}`, `?paymentId=${paymentId}`]
    for (const name of [`/${orderId}`, ...names]) {
      const gone = await get(store.url, `${orders}${name}`)
      expect(gone, name).toMatchObject({ status: 404, body: { code: 'order_not_found' } })
      expect(gone.body.detail).toContain('archived')
      if (names.includes(name)) expect(JSON.stringify(gone.body)).not.toContain(orderId)
    }
    const page = await get(store.url, `/orders/${orderId}`, { accept: 'text/html' })
    expect(page.status).toBe(404)
    expect(page.body).toContain('archived')
    for (const sought of [{ orderId }, { paymentId }, { transactionHash }]) {
      const said = await call('order_status', sought)
      expect(said).toMatchObject({ isError: true, data: { code: 'order_not_found' } })
      expect(said.data.detail).toContain('archived')
    }
    const found = await fetch(`${store.url}/find/payment`, {
      method: 'POST',
      body: new URLSearchParams({ number: transactionHash }),
    })
    expect(found.status).toBe(404)
    expect(await found.text()).toContain('archived')

    const { body: bought } = delivered.answer
    for (const name of [bought.orderId, bought.paymentId, bought.transactionHash]) {
      expect(await goodsInFiles(name)).toMatchObject(bought.orders[0].result)
    }

    const again = await delivered.send()
    expect(again).toMatchObject({ status: 409, body: { code: 'payment_reused', charged: 'yes' } })
    expect(await buyer.balance()).toBe(balance)

    const next = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
    expect(next.answer.status).toBe(200)
    expect((await sources.reconcile()).differences).toEqual([])
  } finally {
    await client.close()
    await sources.close()
  }
})
