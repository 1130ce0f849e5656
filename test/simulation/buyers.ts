import type { Kind } from '../../src/catalog/offer.ts'
import type { OrderId } from '../../src/lib/ids.ts'
import { Refusal } from '../../src/lib/refusal.ts'
import {
  idsFor,
  isRefunding,
  isUnderWay,
  type Order,
  supplierReferenceOf,
} from '../../src/orders/order.ts'
import { type PurchaseAnswer, purchase } from '../../src/orders/purchase.ts'
import { claimRefund } from '../../src/orders/refund.ts'
import type { PurchaseRequest } from '../../src/orders/replay.ts'
import { paymentFor } from '../../src/payments/payments.fixture.ts'
import type { PaymentPayload, Terms } from '../../src/payments/terms.ts'
import { Injected } from '../model/calls.ts'
import { streamOf } from '../model/random.ts'
import { lineItems } from '../model/shop.ts'
import { deliveryOf } from '../model/supplier.ts'
import { type Buyer, isForgetful } from './buyer-book.ts'
import type { StoreNode } from './node.ts'
import type { Caller } from './process.ts'
import type { World } from './world.ts'

/** The result of a request, as far as its sender knows. */
type Heard =
  | { readonly type: 'order'; readonly order: Order }
  | { readonly type: 'payment required' }
  /** The wallet has bought the same, but not by this purchase. */
  | { readonly type: 'another' }
  | { readonly type: 'refused'; readonly code: string }
  | { readonly type: 'nothing' }

interface Payment {
  readonly payload: PaymentPayload
  readonly order: OrderId
}

const maxRequests = 8
const clientTimeoutMs = 30_000
/** Who sent nothing but payments gives up before the store takes a new one for another purchase; milliseconds. */
const forgetfulMs = 540_000
/** Much longer than a price is kept. */
const dawdlesMs = 1_500_000

/** One buyer, with a stranger who may copy its payment. Resolves when neither sends anything more. */
export async function shopping(world: World, nodes: readonly StoreNode[], buyer: Buyer) {
  const customer = newCustomer(world, nodes, buyer)
  const { spec } = buyer
  await world.time.sleep(spec.atSeconds * 1_000)
  const payment = await customer.sign()
  const others = [
    ...(spec.habit === 'duplicates' ? [customer.persist(payment, spec.node + 1, 2)] : []),
    ...(spec.isCopied === 'yes' ? [customer.beCopied(payment)] : []),
  ]
  const heard = await customer.persist(
    payment,
    spec.node,
    spec.habit === 'gives-up' ? 1 : maxRequests,
  )
  if (spec.habit === 'changes-the-body') await customer.changeBody(payment)
  if (heard.type === 'payment required')
    await customer.persist(await customer.sign(), spec.node, maxRequests)
  if (spec.claims === 'yes') await customer.claim(payment)
  await Promise.all(others)
}

function newCustomer(world: World, nodes: readonly StoreNode[], buyer: Buyer) {
  const { time, shop, book } = world
  const { spec, wallet, index, key } = buyer
  const random = streamOf(world.seed, `buyer ${spec.luck}`)
  const viewer = key === undefined ? {} : { keys: [key] }
  const fieldsOf = (kind: Kind) => ({
    ...lineItems[kind],
    // A few buyers top up one phone.
    ...(kind === 'topup' && { msisdn: `+5025551234${index % 8}` }),
    ...(buyer.webhookUrl && { webhookUrl: buyer.webhookUrl }),
  })
  const asked: PurchaseRequest = {
    kind: spec.kind,
    fields: fieldsOf(spec.kind),
    payment: undefined,
    viewer,
    // Half of those with a key send it as tools do, where it says nothing of other purchases.
    isAnother: key !== undefined && index % 2 === 0,
  }
  const persistsMs = isForgetful(spec) ? forgetfulMs : Infinity
  let calls = 0
  let signed = 0

  async function callAt(from: number): Promise<readonly [StoreNode, Caller]> {
    for (;;) {
      const node = Array.from(nodes, (_, step) => nodes[(from + step) % nodes.length]).find(
        (each) => each?.process(),
      )
      const process = node?.process()
      calls += 1
      const name = `buyer ${index}.${calls}`
      const luck = `call ${spec.luck}.${calls}`
      if (node && process) return [node, { process, name, random: streamOf(world.seed, luck) }]
      await time.sleep(1_000)
    }
  }

  /** Asks for the price without the key, which may have an order by now, and signs the terms. */
  async function sign(): Promise<Payment> {
    const isFirst = signed === 0
    const terms = await termsOf(spec.habit === 'haggles' && isFirst ? 'topup' : spec.kind)
    if (spec.habit === 'dawdles' && isFirst) await time.sleep(dawdlesMs)
    signed += 1
    const nonce = `0x${(spec.luck * 10 + signed).toString(16).padStart(64, '0')}`
    const payload = paymentFor(terms, time.now(), { nonce, from: wallet })
    const { id } = idsFor(shop.digest, {
      network: terms.network,
      asset: terms.asset,
      payer: wallet,
      nonce,
    })
    book.signed(buyer, nonce, id)
    if (spec.isFunded === 'yes') world.chain.fund(wallet, BigInt(terms.amount))
    return { payload, order: id }
  }

  async function termsOf(kind: Kind): Promise<Terms> {
    const [node, caller] = await callAt(spec.node)
    const request = { ...asked, kind, fields: fieldsOf(kind), viewer: {} }
    const answer = await purchase(node.depsFor(caller), request)
    if (answer.type === 'payment_required') return answer.accepts[0]
    throw new Error('An order came without a payment')
  }

  /** Sends the payment until an answer is final. */
  async function persist(payment: Payment, from: number, most: number): Promise<Heard> {
    let heard: Heard = { type: 'nothing' }
    let current = payment
    let sending = { isAnother: asked.isAnother, keys: viewer, isServed: false, insists: {} }
    const until = time.time() + persistsMs
    for (let sent = 0; sent < most && time.time() < until; sent += 1) {
      const { isAnother, keys, insists } = sending
      const shown = { ...keys, accessToken: buyer.tokens.get(current.order) }
      const fields = { ...asked.fields, ...insists }
      const request = { ...asked, fields, payment: current.payload, viewer: shown, isAnother }
      heard = await send(current, from + sent, request)
      if (isLastWord(heard)) return heard
      sending = after(heard, sending)
      if (spec.habit === 'pays-anew' && sent % 2 === 0) current = await sign()
      await time.sleep(1_000 + 9_000 * random() * (sent + 1))
    }
    return heard
  }

  /** As the answer says: another one is bought with a key, and by nobody who has heard of an order of its own. */
  function after<T extends { isServed: boolean }>(heard: Heard, sending: T) {
    if (heard.type === 'order') return { ...sending, isServed: true }
    if (heard.type !== 'another' || sending.isServed) return sending
    const keys = { keys: [key ?? `another of ${index}`] }
    return { ...sending, isAnother: true, keys, insists: { confirmAnother: true } }
  }

  async function send(payment: Payment, from: number, request: PurchaseRequest): Promise<Heard> {
    const [node, caller] = await callAt(from)
    const sentAt = time.time()
    const answered = purchase(node.depsFor(caller), request).then(
      (answer) => judge(world, buyer, payment, request, answer),
      (error: unknown) => judgeError(world, buyer, payment, error),
    )
    const gone = Promise.race([caller.process.death, time.sleep(clientTimeoutMs)])
    const heard = await Promise.race([answered, gone.then((): Heard => ({ type: 'nothing' }))])
    world.trace.tell(
      `heard ${heard.type} after ${time.time() - sentAt} ms: ${caller.name}`,
      payment.order,
    )
    return heard
  }

  /** A stranger sends the payment once its signature is public on the chain, with or without a key of its own. */
  async function beCopied(payment: Payment): Promise<void> {
    const { nonce } = payment.payload.payload.authorization
    const isPublic = () => world.chain.transfers.some((transfer) => transfer.nonce === nonce)
    for (let looks = 0; looks < 60 && !isPublic(); looks += 1) await time.sleep(2_000)
    if (!isPublic()) return
    await time.sleep(60_000 * random())
    const [node, caller] = await callAt(index)
    const stranger = index % 2 === 0 ? {} : { keys: ['the-key-of-a-stranger'] }
    const request = { ...asked, viewer: stranger, payment: payment.payload }
    const copied = purchase(node.depsFor(caller), request).catch(() => undefined)
    const answer = await Promise.race([copied, caller.process.death])
    if (typeof answer === 'object') judgeCopied(world, payment, answer)
  }

  async function changeBody(payment: Payment): Promise<void> {
    const kind = spec.kind === 'voucher' ? 'topup' : 'voucher'
    await send(payment, spec.node, {
      kind,
      fields: fieldsOf(kind),
      payment: payment.payload,
      viewer,
    })
  }

  async function claim({ order: id }: Payment): Promise<void> {
    for (let claims = 0; claims < 3; claims += 1) {
      await time.sleep(200_000)
      const order = world.witness.current.get(id)
      if (order && isRefunding(order)) await claimOnce(order, claims)
    }
  }

  async function claimOnce(order: Order, nth: number): Promise<void> {
    const [node, caller] = await callAt(nth)
    const wanted = { key: `claim ${index}`, bodyHash: 'body' }
    const claimed = claimRefund(node.depsFor(caller), order, wanted).catch((error: unknown) => {
      if (!(error instanceof Injected)) world.complain(`a claim failed: ${error}`, order.id)
    })
    await Promise.race([claimed, caller.process.death])
  }

  return { sign, persist, beCopied, changeBody, claim }
}

function isLastWord(heard: Heard): boolean {
  if (heard.type === 'order') return !isUnderWay(heard.order)
  return heard.type !== 'nothing' && heard.type !== 'another'
}

/** What is named was bought with this wallet. Its own is the one whose answer was lost. Others' orders are not named. */
function judgeTwin(world: World, buyer: Buyer, { details: { extra = {} } }: Refusal): Heard {
  if (!('orderId' in extra)) return { type: 'another' }
  const { orderId, orderIds = [orderId] } = extra as { orderId: OrderId; orderIds?: OrderId[] }
  const owners = orderIds.map((id) => world.book.ofOrder(id))
  if (owners.some((owner) => owner?.wallet !== buyer.wallet))
    world.complain('a buyer was told of another wallet', orderId)
  const order = world.witness.current.get(orderIds[owners.indexOf(buyer)] ?? orderId)
  return order && owners.includes(buyer) ? { type: 'order', order } : { type: 'another' }
}

/** The order of this payment, unless the payment is proven to have failed. */
function standing(world: World, { order }: Payment): Order | undefined {
  const known = world.witness.current.get(order)
  return known?.state === 'PAYMENT_FAILED' ? undefined : known
}

function judge(
  world: World,
  buyer: Buyer,
  payment: Payment,
  request: PurchaseRequest,
  answer: PurchaseAnswer,
): Heard {
  if (answer.type === 'payment_required') {
    judgeDemand(world, payment, answer.fault?.code)
    return { type: 'payment required' }
  }
  const { order, reveal, accessToken, webhook, replayed } = answer
  if (webhook !== undefined) buyer.secrets.set(order.id, webhook.secret)
  if (accessToken !== undefined) buyer.tokens.set(order.id, accessToken)
  if (world.book.ofOrder(order.id) !== buyer)
    world.complain('a buyer got the order of another', order.id)
  if (replayed && reveal && !showsProof(request))
    world.complain('the goods were shown for a signature', order.id)
  if (reveal && order.state === 'FULFILLED') judgeGoods(world, order)
  return { type: 'order', order }
}

function judgeCopied(world: World, { order }: Payment, answer: PurchaseAnswer): void {
  if (answer.type !== 'order') return
  if (answer.reveal) world.complain('the goods were shown for a signature', order)
  if (!answer.replayed) world.complain('a copied signature bought something', order)
}

function showsProof({ viewer }: PurchaseRequest): boolean {
  return viewer.keys !== undefined || viewer.accessToken !== undefined
}

/**
 * A 402 is wrong while the money may still come. The store decides by its last read, so only an order that
 * was opened before that read counts.
 */
function judgeDemand(world: World, payment: Payment, code: string | undefined): void {
  const order = standing(world, payment)
  if (!order || world.time.time() - world.witness.openedAt(order.id) < answerMs) return
  if (
    order.state === 'PAYMENT_PENDING' ||
    !('settlement' in order) ||
    order.settlement !== 'LOST'
  ) {
    world.complain(`402 (${code}) while the payment is ${order.state}`, order.id)
  }
}

/** Longer than one read of the database takes. */
const answerMs = 200

function judgeGoods(world: World, order: Extract<Order, { state: 'FULFILLED' }>): void {
  const shown = world.shop.vault.open(order.delivery, { order: order.id, field: 'delivery' })
  const held = deliveryOf(order.item.kind, supplierReferenceOf(order.id))
  if (JSON.stringify(shown) !== JSON.stringify(held))
    world.complain('other goods were shown', order.id)
}

const expectedCodes = new Set([
  'try_again',
  'payment_reused',
  'possible_duplicate',
  'idempotency_conflict',
  'limit_exceeded',
  'budget_spent',
])

function judgeError(world: World, buyer: Buyer, payment: Payment, error: unknown): Heard {
  if (!(error instanceof Refusal)) {
    world.complain(`the buyer got a bare error: ${error}`, payment.order)
    return { type: 'nothing' }
  }
  if (!expectedCodes.has(error.code))
    world.complain(`the buyer was refused: ${error.code}`, payment.order)
  const order = standing(world, payment)
  const isOld = order && world.time.time() - world.witness.openedAt(order.id) >= answerMs
  if (
    error.details.charged === 'no' &&
    isOld &&
    !('settlement' in order && order.settlement === 'LOST')
  ) {
    world.complain('the buyer heard that nothing was charged', payment.order)
  }
  if (error.code === 'possible_duplicate') return judgeTwin(world, buyer, error)
  return error.code === 'try_again' ? { type: 'nothing' } : { type: 'refused', code: error.code }
}
