import { validateDiscoveryExtension } from '@x402/extensions/bazaar'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { transfersBetween } from './chain.ts'
import { callToken, settling } from './contracts/calls.ts'
import {
  expectDeliveredOnce,
  expectPending,
  expectSold,
  expectStillPending,
  payForVoucher,
} from './contracts/outcomes.ts'
import {
  type HandedOver,
  madeUpHash,
  type StoryFacilitator,
  startFacilitator,
} from './facilitator.ts'
import { ledgerOf, rowsKept } from './facts.ts'
import { type Answer, bodyFor, eventually, get, post, purchasePath, termsOf } from './requests.ts'
import { openStore, type Store } from './store.ts'

// A store that has its payments checked and submitted by somebody else, who may be away, slow or a
// liar. Nothing of what it says of a settlement is believed: the chain's logs decide.

interface Scene {
  readonly store: Store
  readonly facilitator: StoryFacilitator
}
const scenes: Scene[] = []

beforeAll(async () => {
  await Promise.all(
    Array.from({ length: 9 }, async () => {
      const facilitator = await startFacilitator()
      const env = { PURCHASE_WAIT_SECONDS: '1' }
      scenes.push({ facilitator, store: await openStore({ env, facilitatorUrl: facilitator.url }) })
    }),
  )
})
afterAll(async () => {
  await Promise.all(scenes.map(({ store }) => store.close()))
  for (const { facilitator } of scenes) facilitator.close()
})

/** Each story has a store and a facilitator of its own, so that they can run side by side. */
function newScene(): Scene {
  const scene = scenes[taken]
  taken += 1
  if (!scene) throw new Error('More stories than stores')
  return scene
}
let taken = 0

async function newPayment(store: Store) {
  const buyer = await newBuyer()
  const payment = await buyer.sign(await termsOf(store.url, 'voucher', bodyFor('voucher', 'OK')))
  return { buyer, header: payment.header }
}

/** Submits the payment as an honest facilitator would, and gives the hash of its transaction. */
async function submit({ store }: Scene, payment: HandedOver): Promise<string> {
  expect(await callToken(store.parts, settling(payment))).toBe('success')
  const { from, to } = payment.authorization
  const [landed] = await transfersBetween(store.parts, from, to)
  return landed?.transactionHash ?? ''
}

const settledBy = (scene: Scene) =>
  scene.facilitator.settles(async (payment) => ({
    success: true,
    transaction: await submit(scene, payment),
  }))

async function expectUnpaid({ store }: Scene, buyer: Buyer): Promise<void> {
  expect(await transfersBetween(store.parts, buyer.address, store.payTo)).toEqual([])
  expect(await ledgerOf(store)).toEqual([])
}

test.concurrent('a facilitator that says settled and settles nothing is not believed', async () => {
  const scene = newScene()
  const { store, facilitator } = scene
  const { buyer, header } = await newPayment(store)
  facilitator.settles(async () => ({ success: true, transaction: madeUpHash() }))
  const answer = await payForVoucher(store, header)
  expectPending(answer)
  // It is asked again, lies again, and is not believed again.
  const asked = facilitator.calls.length
  await eventually(
    () => facilitator.calls.length,
    (calls) => calls > asked + 1,
  )
  expectStillPending(await payForVoucher(store, header))
  await expectUnpaid(scene, buyer)

  settledBy(scene)
  await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
})

test.concurrent('a facilitator that names the settlement of another order is not believed', async () => {
  const scene = newScene()
  const { store, facilitator } = scene
  settledBy(scene)
  const earlier = await newPayment(store)
  const { body } = await payForVoucher(store, earlier.header)
  const bought = await expectDeliveredOnce(store, earlier.buyer.address, body.orderId)
  const { transactionHash } = bought

  const { buyer, header } = await newPayment(store)
  facilitator.settles(async () => ({ success: true, transaction: transactionHash }))
  const answer = await payForVoucher(store, header)
  expectPending(answer)
  expect(await ledgerOf(store)).toHaveLength(1)

  settledBy(scene)
  const order = await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
  expect(order.transactionHash).not.toBe(transactionHash)
})

test.concurrent('a settlement that the facilitator calls pending is unknown until the chain shows it', async () => {
  const scene = newScene()
  const { store, facilitator } = scene
  const { buyer, header } = await newPayment(store)
  let handedOver: HandedOver | undefined
  const transaction = madeUpHash()
  facilitator.settles(async (payment) => {
    handedOver = payment
    return { success: false, errorReason: 'settlement_pending', transaction }
  })
  const answer = await payForVoucher(store, header)
  expectPending(answer)
  expectStillPending(await payForVoucher(store, header))
  await expectUnpaid(scene, buyer)

  // It lands in a transaction with another hash, and the facilitator still says pending.
  if (!handedOver) throw new Error('The facilitator was not asked')
  await submit(scene, handedOver)
  const order = await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
  expect(order.transactionHash).not.toBe(transaction)
})

test.concurrent('a facilitator that is away takes nobody’s money, and loses nobody’s', async () => {
  const scene = newScene()
  const { store, facilitator } = scene
  settledBy(scene)
  const { buyer, header } = await newPayment(store)
  const before = await rowsKept(store)
  facilitator.goAway()
  // New payments cannot be checked: nothing is written, and nobody is asked to sign again.
  const refused = await payForVoucher(store, header)
  expect(refused).toMatchObject({ status: 503, body: { code: 'try_again', charged: 'unknown' } })
  expect(refused.headers.get('payment-required')).toBeNull()
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await rowsKept(store)).toEqual(before)
  await expectUnpaid(scene, buyer)
  expect((await get(store.url, '/ai/vouchers')).status).toBe(200)

  // It goes between the check and the settlement: the connection is refused.
  await facilitator.comeBack()
  facilitator.verifies(() => {
    facilitator.goAway()
    return { isValid: true }
  })
  const answer = await payForVoucher(store, header)
  expectPending(answer)
  expect(facilitator.calls).toEqual(['verify'])
  await expectUnpaid(scene, buyer)

  await facilitator.comeBack()
  await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
})

test.concurrent('a payment whose check is never answered is given up, and is good afterwards', async () => {
  const scene = newScene()
  const { store, facilitator } = scene
  settledBy(scene)
  const { buyer, header } = await newPayment(store)
  const before = await rowsKept(store)
  facilitator.verifies(() => 'nothing')
  const refused = await payForVoucher(store, header)
  expect(refused).toMatchObject({ status: 503, body: { code: 'try_again', charged: 'unknown' } })
  expect(refused.headers.get('payment-required')).toBeNull()
  expect(await rowsKept(store)).toEqual(before)

  facilitator.verifies(() => ({ isValid: true }))
  const answer = await payForVoucher(store, header)
  expectSold(answer)
  await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
})

test.concurrent('a settlement that is made and never answered is found in the logs', async () => {
  const scene = newScene()
  const { store, facilitator } = scene
  const { buyer, header } = await newPayment(store)
  let landing: Promise<readonly string[]> | undefined
  facilitator.settles(async (payment) => {
    landing ??= submit(scene, payment).then(() => [...facilitator.calls])
    await landing
    return 'nothing'
  })
  const answer = await payForVoucher(store, header)
  expectSold(answer)
  await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
  // On a busy machine it can be asked again before the payment lands, but never afterwards.
  expect(facilitator.calls).toEqual(await landing)
})

/** Sends a payment with a request of the facilitator's own, as soon as it is shown the payment. */
function stealing({ store, facilitator }: Scene, header: string, says: { isValid: boolean }) {
  const lineItem = { ...bodyFor('voucher', 'OK'), firstName: 'Mallory' }
  const stolen: Answer[] = []
  facilitator.verifies(async () => {
    if (stolen.length > 0) return { isValid: true }
    stolen.push(
      await post(store.url, purchasePath('voucher'), lineItem, { 'payment-signature': header }),
    )
    return says.isValid ? says : { ...says, invalidReason: 'insufficient_funds' }
  })
  return stolen
}

test.concurrent('a facilitator that posts a payment with a request of its own, in the middle of the check, gets nothing', async () => {
  const scene = newScene()
  const { store } = scene
  settledBy(scene)
  const { buyer, header } = await newPayment(store)
  const stolen = stealing(scene, header, { isValid: true })
  const answer = await payForVoucher(store, header)
  expect(stolen).toMatchObject([
    { status: 409, body: { code: 'payment_reused', charged: 'unknown' } },
  ])
  expectSold(answer)
  await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
})

test.concurrent('a facilitator that calls a payment bad and posts it itself gets nothing either', async () => {
  const scene = newScene()
  const { store } = scene
  settledBy(scene)
  const { buyer, header } = await newPayment(store)
  const stolen = stealing(scene, header, { isValid: false })
  expect(await payForVoucher(store, header)).toMatchObject({
    // Our node shows the money and the nonce unused, so the refusal is not believed.
    status: 503,
    body: { code: 'try_again' },
  })
  expect(stolen).toMatchObject([{ status: 409, body: { code: 'payment_reused' } }])
  const answer = await payForVoucher(store, header)
  await expectDeliveredOnce(store, buyer.address, answer.body.orderId)
})

test.concurrent('a facilitator that keeps an index can list the route, and learns nothing of the purchase', async () => {
  const scene = newScene()
  settledBy(scene)
  const { store, facilitator } = scene
  const { header } = await newPayment(store)
  await post(store.url, purchasePath('voucher'), bodyFor('voucher', 'OK'), {
    'payment-signature': header,
  })
  const [listed] = facilitator.listed
  expect(listed?.resource?.url).toBe(`${store.url}${purchasePath('voucher')}`)
  expect(Object.keys(listed?.extensions ?? {})).toEqual(['bazaar'])
  expect(validateDiscoveryExtension(listed?.extensions?.['bazaar'] as never)).toEqual({
    valid: true,
  })
  expect(JSON.stringify(listed?.extensions)).not.toContain('TEST-VOUCHER-OK')
})
