import { setTimeout as delay } from 'node:timers/promises'
import type { LocalAccount } from 'viem'
import { type Accepts, signPayment } from '../test/harness/payer.ts'
import { bodyFor, purchasePath } from '../test/stories/requests.ts'
import { type Called, call } from './calls.ts'
import type { Seen } from './facts.ts'
import { type Plan, pick } from './plan.ts'
import { openPurchaseLog, type PurchaseLog } from './purchase-log.ts'

/** A purchase to make: the buyer, the plan and the nodes. */
export interface Errand {
  readonly name: string
  readonly account: LocalAccount
  readonly plan: Plan
  readonly nodes: readonly string[]
  /** Aborted when even a patient buyer gives up. */
  readonly closing: AbortSignal
}

interface Open extends Errand {
  readonly purchaseLog: PurchaseLog
  readonly path: string
  readonly body: Record<string, unknown>
  readonly key: Record<string, string>
}

type Answer = Extract<Called, { type: 'answer' }>

/** The timeout of a call. The store answers a purchase after about a second (PURCHASE_WAIT_SECONDS). */
const patienceMs = 10_000

export interface Bought {
  readonly seen: Seen
  /** Resolves when the order has ended, or the buyer has given up. */
  readonly followed: Promise<void>
}

/**
 * One purchase of a conforming client: it asks for the price, signs, sends, and without an answer sends the
 * same request again, to any node.
 */
export async function buy(errand: Errand): Promise<Bought> {
  const { plan, name, account } = errand
  const body: Record<string, unknown> = { ...bodyFor(plan.kind, plan.outcome), ...numberFor(plan) }
  const offerId = String(body['offerId'])
  const purchaseLog = openPurchaseLog({
    purchase: name,
    payer: account.address.toLowerCase(),
    kind: plan.kind,
    offerId,
  })
  const key = plan.keyed ? { 'idempotency-key': `chaos-${name}-${account.address}` } : {}
  const open: Open = {
    ...errand,
    purchaseLog,
    path: purchasePath(plan.kind),
    body,
    key: { ...key },
  }
  const accepts = await terms(open)
  // Without a price there is no purchase; its ending stays "not told".
  if (accepts === undefined) return { seen: purchaseLog.seen, followed: Promise.resolve() }
  const answer = await pay(open, accepts)
  const followed = answer === undefined ? Promise.resolve() : follow(open, answer)
  return { seen: purchaseLog.seen, followed }
}

/** Each topup goes to another phone number, because no honest buyer fails again and again with the same one. */
function numberFor({ kind, random }: Plan): { readonly msisdn?: string } {
  const digits = 2_000_000 + Math.floor(random() * 3_000_000)
  return kind === 'topup' ? { msisdn: `+1202${digits}` } : {}
}

/** The terms of the purchase; undefined if the run ended before the store named them. */
async function terms(open: Open): Promise<Accepts | undefined> {
  for (let tries = 0; !open.closing.aborted; tries += 1) {
    const { path, body } = open
    const called = await call(pick(open.plan.random, open.nodes), { path, body, patienceMs })
    if (open.purchaseLog.called(called)) {
      if (called.status === 402) return called.body.accepts?.[0] as Accepts
      open.purchaseLog.unexpected('price', called)
    }
    await pause(open, tries)
  }
  return undefined
}

/** Sends the payment until it is answered. Undefined if the buyer gave up or the payment was refused. */
async function pay(open: Open, accepts: Accepts): Promise<Answer | undefined> {
  const { plan, purchaseLog } = open
  let payment = await sign(open, accepts)
  for (let tries = 0; !open.closing.aborted; tries += 1) {
    const answers = await send(open, payment)
    for (const answer of answers) noteAnswer(open, payment.authorization.nonce, answer)
    if (answers.some(endsPaying)) return orderAmong(answers)
    if (tries + 1 >= plan.leavesAfter) return void purchaseLog.end('left')
    if (tries === 0 && plan.signsAgain) payment = await sign(open, accepts)
    await pause(open, tries)
  }
  return undefined
}

/** Whether the answer shows an order, or proves that this payment buys none. */
function endsPaying({ status }: Answer): boolean {
  return status === 200 || status === 202 || status === 402
}

function isOrder({ status }: Answer): boolean {
  return status === 200 || status === 202
}

/** Prefers an answer that shows its order: without an idempotency key, only the first one does. */
function orderAmong(answers: readonly Answer[]): Answer | undefined {
  return answers.find(({ body }) => body.orderId !== undefined) ?? answers.find(isOrder)
}

async function sign({ account, purchaseLog }: Open, accepts: Accepts) {
  const payment = await signPayment(account, accepts)
  purchaseLog.signed(payment.authorization.nonce)
  return payment
}

/** Makes one call, or two at the same moment. Some buyers hang up before the store can answer. */
async function send(open: Open, { header }: { header: string }): Promise<readonly Answer[]> {
  const { plan, nodes, path, body, key, purchaseLog } = open
  const first = Math.floor(plan.random() * nodes.length)
  const impatient = plan.random() < 0.2
  const waitMs = impatient ? 30 + plan.random() * 600 : patienceMs
  const calls = (plan.twice ? [first, first + 1] : [first]).map((at) =>
    call(nodes[at % nodes.length] ?? '', {
      path,
      body,
      headers: { 'payment-signature': header, ...key },
      patienceMs: waitMs,
    }),
  )
  return (await Promise.all(calls)).filter((called) => purchaseLog.called(called))
}

function noteAnswer({ purchaseLog }: Open, nonce: string, answer: Answer): void {
  if (isOrder(answer)) purchaseLog.shown(answer)
  else if (answer.status === 402) purchaseLog.refused(nonce, answer)
  else purchaseLog.unexpected('purchase', answer)
}

/** Reads the order until it has ended, with the access token and the key, if the buyer has them. */
async function follow(open: Open, { body: first }: Answer): Promise<void> {
  const { purchaseLog, plan, closing, key } = open
  if (purchaseLog.seen.ending !== 'not told') return
  // A buyer who lost the first answer and has no key learns that they paid, but not for which order.
  if (plan.leavesAfter < 3 || first.orderId === undefined) return void purchaseLog.end('left')
  const token = first.accessToken
  const headers = token === undefined ? key : { ...key, authorization: `Bearer ${token}` }
  const path = `/api/catalog/orders/${first.orderId}`
  for (let tries = 0; !closing.aborted; tries += 1) {
    await pause(open, tries + 2)
    const called = await call(pick(plan.random, open.nodes), { path, headers, patienceMs })
    if (purchaseLog.called(called) && noteReading(purchaseLog, called)) return
  }
}

/** Records an answer about the order. Returns whether the order has ended. */
function noteReading(purchaseLog: PurchaseLog, answer: Answer): boolean {
  if (answer.status === 200) return purchaseLog.shown(answer)
  purchaseLog.unexpected('order', answer)
  return false
}

/** Exponential backoff with jitter, at most 2 s. */
async function pause({ plan, closing }: Open, tries: number): Promise<void> {
  const maxMs = Math.min(2_000, 100 * 2 ** Math.min(tries, 5))
  await delay(maxMs * (0.5 + plan.random() / 2), undefined, { signal: closing }).catch(() => {})
}
