import { expect, test } from 'vitest'
import { checkoutWorld, invoiced, openCheckout } from '../../test/doubles/checkouts.ts'
import { newOrderId } from '../../test/doubles/ids.ts'
import { esim } from '../../test/fixtures/offers.ts'
import { itemOf } from '../orders/price.ts'
import { createVault } from '../secrets/secrets.ts'
import { boughtOf, checkoutView } from './checkout.ts'

const minute = 60_000

/** The stage of a checkout of which `part` of 4 parts was paid, `leftMs` before it expires. */
async function seen(part: bigint, leftMs: number) {
  const world = checkoutWorld()
  const { checkout } = await world.start()
  const { id, invoice } = invoiced(checkout)
  if (part > 0n) {
    world.processor.pay(invoice.id, (invoice.units * part) / 4n, { confirmed: false })
    await world.live(minute)
  }
  const found = await world.checkouts.find(id)
  if (found === undefined) throw new Error('no checkout')
  const at = new Date(invoice.expiresAt.getTime() - leftMs)
  return checkoutView({ ...world.deps, now: () => at }, found, true)
}

test.each([
  [0n, 1, 'waiting'],
  [1n, 1, 'partly_paid'],
  [4n, 1, 'confirming'],
  // Nobody is told to pay when the money would only be returned, however long the processor is silent.
  [0n, 0, 'closing'],
  [1n, -60 * minute, 'closing'],
  [4n, 0, 'confirming'],
] as const)('with %i of 4 parts and %i ms to go is %s', async (part, leftMs, stage) => {
  expect(await seen(part, leftMs)).toMatchObject({ stage })
})

test('asks for what the processor says is due, also where more than the price has come', async () => {
  const world = checkoutWorld()
  const { checkout } = await world.start()
  const { id, invoice } = invoiced(checkout)
  const { status } = invoice
  // Of each payment, a network fee of 9 units does not count.
  world.processor.pay(invoice.id, invoice.units + 2n)
  const { payments } = world.processor.invoicesOf(id)[0] ?? invoice
  world.reading.read = async () => ({
    outcome: 'found',
    invoice: { ...invoice, status, payments, due: 7n },
  })
  await world.live(minute)
  const view = checkoutView(world.deps, await world.seen(id), true)
  expect(view).toMatchObject({ stage: 'partly_paid', invoice: { due: 7n } })
})

test('asks for no money while the processor does not know the invoice', async () => {
  const world = checkoutWorld()
  const { id } = await openCheckout(world)
  world.processor.restore()
  await world.live(minute)
  const view = checkoutView(world.deps, await world.seen(id), true)
  expect(view.stage).toBe('unwatched')
})

test('has another version when its time is over, so that its page asks for no money any more', async () => {
  const [before, after] = [await seen(1n, 1), await seen(1n, 0)]
  expect(after.version).not.toBe(before.version)
})

test('what was bought is told from its record: where it is for, and when it becomes slow', () => {
  const offer = esim('PLAN', { country: 'JP', notes: 'After 1 GB: 512 kbps.' })
  const lineItem = { recipient: { kind: 'esim' } as const, value: undefined }
  const item = itemOf({ offer, lineItem }, { rates: () => undefined })
  const vault = createVault([Buffer.alloc(32, 7)])
  expect(boughtOf({ vault }, { orderId: newOrderId(), item, recipient: undefined })).toMatchObject({
    kind: 'esim',
    brandName: offer.brandName,
    country: 'JP',
    fairUse: 'After 1 GB: 512 kbps.',
    offer: { kind: 'esim', country: 'JP', price: offer.price, allowance: offer.allowance },
  })
})
