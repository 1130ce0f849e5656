import { usdc } from '../../src/lib/money.ts'
import { Refusal } from '../../src/lib/refusal.ts'
import { supplierReferenceOf } from '../../src/orders/order.ts'
import { type PurchaseAnswer, purchase } from '../../src/orders/purchase.ts'
import type { PurchaseRequest } from '../../src/orders/replay.ts'
import { paymentFor } from '../../src/payments/payments.fixture.ts'
import type { PaymentPayload, Terms } from '../../src/payments/terms.ts'
import { lineItems } from '../model/shop.ts'
import { deliveryOf } from '../model/supplier.ts'
import type { Running, World } from './world.ts'

const key = 'one-purchase-one-key-0123456789'

export interface Client {
  /** Sends the request for the first time. */
  first(running: Running): Promise<void>
  /** Repeats the request in the manner of this client. */
  again(running: Running): Promise<void>
}

/** A buyer who signs one payment, or a second one under the same key, and judges every answer. */
export async function modelClient(world: World): Promise<Client> {
  const { scene } = world
  const asked: PurchaseRequest = {
    kind: scene.kind,
    fields: lineItems[scene.kind],
    payment: undefined,
    viewer:
      scene.repeat === 'same-key' || scene.repeat === 'key-with-new-payment' ? { keys: [key] } : {},
  }
  const terms = await termsFor(world, asked)
  const sign = (digit: string) =>
    paymentFor(terms, world.clock.now(), { nonce: `0x${digit.repeat(64)}` })
  const hasTwo = scene.repeat === 'key-with-new-payment'
  // The limit has room for this one purchase only: an order must not block its own repetition.
  const perDay = usdc(terms.amount)
  await world.orders.limits.replace(world.payer, undefined, { inForce: { perDay } })
  world.chain.fund(world.payer, BigInt(terms.amount) * (hasTwo ? 2n : 1n))
  const one = sign('1')
  let other: PaymentPayload | undefined

  return {
    first: (running) => send(world, running, { ...asked, payment: one }, true),
    again: (running) => {
      if (hasTwo) other ??= sign('2')
      return send(world, running, { ...asked, payment: other ?? one }, false)
    },
  }
}

/** The terms. Without a key nothing is looked up, so no fault can meet this call. */
async function termsFor(world: World, request: PurchaseRequest): Promise<Terms> {
  const answer = await purchase(world.start().deps, { ...request, viewer: {} })
  if (answer.type !== 'payment_required') throw new Error('An order came without a payment')
  return answer.accepts[0]
}

async function send(
  world: World,
  { deps }: Running,
  request: PurchaseRequest,
  isFirst: boolean,
): Promise<void> {
  try {
    judgeAnswer(world, await purchase(deps, request), isFirst)
  } catch (error) {
    judgeError(world, error)
  }
}

function judgeAnswer(world: World, answer: PurchaseAnswer, isFirst: boolean): void {
  if (answer.type === 'payment_required') {
    if (world.landed().length > 0) {
      world.complain(`402 (${answer.fault?.code}) after the payment landed`)
    }
    return
  }
  const { order, reveal, replayed } = answer
  if (replayed && reveal && !showsKey(world)) world.complain('the goods were shown for a signature')
  if (!isFirst && !replayed && !showsKey(world) && world.landed().length > 1) {
    world.complain('a repeated request opened a second paid order')
  }
  if (order.state !== 'FULFILLED') return
  if (world.landed().length === 0) world.complain('goods were shown that nobody paid for')
  const at = { order: order.id, field: 'delivery' } as const
  const shown = JSON.stringify(world.shop.vault.open(order.delivery, at))
  const held = deliveryOf(order.item.kind, supplierReferenceOf(order.id))
  if (shown !== JSON.stringify(held)) world.complain(`other goods were shown: ${shown}`)
}

function showsKey({ scene }: World): boolean {
  return scene.repeat === 'same-key' || scene.repeat === 'key-with-new-payment'
}

/** Without an order, the buyer must get a refusal that says whether money can have moved. */
function judgeError(world: World, error: unknown): void {
  if (!(error instanceof Refusal)) {
    world.complain(`the buyer got a bare error: ${error}`)
  } else if (error.code !== 'try_again') {
    world.complain(`the buyer was refused: ${error.code}`)
  } else if (error.details.charged === 'no' && world.landed().length > 0) {
    world.complain('the buyer heard that nothing was charged, after the payment landed')
  }
}
