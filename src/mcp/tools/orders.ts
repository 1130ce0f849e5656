import { keyForm, signInRequired } from '../../api/buying/credentials.ts'
import { retryAfterSeconds } from '../../api/buying/payment-required.ts'
import {
  buy as buyByCall,
  type PurchaseOutcome,
  quote as quoteFor,
} from '../../api/buying/purchase.ts'
import { revealLink } from '../../api/buying/reveal.ts'
import { type BuyingDeps, type Credentials, mcpPath } from '../../api/operation.ts'
import {
  listOwnOrders,
  lookAtOrder,
  orderParams,
  orderQuery,
  ordersScope,
} from '../../api/orders/find-orders.ts'
import { deliveredTo, type OrderView, orderBody, publicStatusOf } from '../../api/orders/order.ts'
import { orderMessage } from '../../api/orders/outcome.ts'
import { maxReason, ownedBy, refundClaimed, refundWatched } from '../../api/orders/refund.ts'
import { goods } from '../../catalog/kinds.ts'
import { invalidParameter, pageOf, readParams, text } from '../../catalog/search/params.ts'
import type { Page } from '../../catalog/search/search-index.ts'
import { Refusal } from '../../lib/refusal.ts'
import { isUnderWay, type Order } from '../../orders/order.ts'
import {
  argumentSchema,
  credentialFields,
  credentialsIn,
  flagIn,
  inArguments,
  keyIn,
  mcpTransport,
  presentedWith,
  purchaseFields,
  purchaseIn,
  receiptKey,
  signInGuidance,
  signInWith,
  type ToolCall,
  textIn,
  without,
  withoutEmpty,
} from '../arguments.ts'
import type { Tool, ToolDeps, ToolOutcome } from '../call.ts'

type Demand = Extract<PurchaseOutcome, { type: 'payment_required' }>

const includeGoods = {
  type: 'boolean',
  default: false,
  description:
    'true: puts the goods, the access token and the secret of a webhook into the answer, where everyone who reads this conversation sees them. Otherwise reveal.url shows the goods to a person once.',
} as const

const idempotencyKey = {
  type: 'string',
  description: `Yours: random, of ${keyForm}, and new for each purchase. It alone finds the order and its goods later, so keep it.`,
} as const

export const buy: Tool = {
  name: 'buy',
  title: 'Buy',
  description: [
    'Buys one offer with USDC (x402). The first call, without a payment, costs nothing: it returns an error with the price in accepts[0].',
    'Sign that and call again with the same arguments and the payment in _meta["x402/payment"]; x402 clients do this by themselves. Each payment is charged once, however often it is sent.',
    'If no answer arrives, send the very same call again, or ask order_status with its idempotency_key. Never sign a new payment while an order is PAYMENT_PENDING, PAID or FULFILLING: ask order_status instead.',
    'If the goods are not delivered, the full amount is refunded automatically to the wallet that paid.',
    'The answer has reveal.url, a link that shows the goods to a person once, unless include_goods is true.',
  ].join(' '),
  inputSchema: argumentSchema(
    { ...purchaseFields(), idempotency_key: idempotencyKey, include_goods: includeGoods },
    ['offerId', 'idempotency_key'],
  ),
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  app: 'order',
  limit: 'purchase',
  charges: true,
  findsOrders: true,
  run: buyGoods,
}

async function buyGoods(call: ToolCall, { buying }: ToolDeps): Promise<ToolOutcome> {
  const { client, heldUp, host } = call
  // First, so that an invalid flag is refused before anything is bought.
  const showing = showingOf(call)
  const outcome = await buyByCall(buying, {
    kind: undefined,
    fields: purchaseIn(without(call.args, ['idempotency_key', 'include_goods'])),
    presented: presentedWith(call),
    readCredentials: () => keyedCredentialsIn(call),
    patienceMs: undefined,
    approveAbove: host.approveAbove,
    transport: mcpTransport,
    client,
    heldUp,
  })
  if (outcome.type === 'payment_required') {
    return demandInShort(outcome)
  }
  if (outcome.type === 'standing') {
    const { body } = outcome
    return { type: 'answer', body, advice: body.message, provesNothing: true }
  }
  const { settled } = outcome
  const answer = await orderOutcome(buying, outcome, showing)
  return { ...answer, ...(settled ? { meta: { [receiptKey]: settled } } : {}) }
}

/** A model cannot repeat a purchase whose answer is lost by its payment, because its host signs another one. */
function keyedCredentialsIn(call: ToolCall): Credentials {
  const credentials = credentialsIn(call)
  if (credentials.idempotencyKey !== undefined) return credentials
  const message = `buy needs an idempotency_key: yours, random, of ${keyForm}, and new for each purchase.`
  throw new Refusal('idempotency_key_missing', message, { parameter: 'idempotency_key' })
}

/** Without what the tools say already: how the store delivers and refunds. */
function demandInShort({ required, more }: Demand): ToolOutcome {
  const accepts = required.accepts.map((terms: object) => ({ ...terms, extensions: undefined }))
  return {
    type: 'demand',
    required: JSON.parse(JSON.stringify({ ...required, accepts })),
    more,
  }
}

export const quote: Tool = {
  name: 'quote',
  title: 'Quote a purchase',
  description:
    'Checks a purchase in full and gives its exact price, without paying. Free; nothing is stored. Its payableUrl is the purchase as an address, which any x402 client pays by GET: for hosts that cannot pay a tool. Takes what buy takes, except idempotency_key and include_goods.',
  inputSchema: argumentSchema(typesOf(purchaseFields()), ['offerId']),
  annotations: { readOnlyHint: true, openWorldHint: false },
  app: 'price',
  limit: 'purchase',
  charges: true,
  async run({ args, proofs }, { buying }) {
    // Terms to sign come with buy.
    const { accepts: _, ...body } = await quoteFor(buying, undefined, purchaseIn(args), proofs)
    return { type: 'answer', body }
  },
}

function typesOf(fields: ReturnType<typeof purchaseFields>) {
  return Object.fromEntries(Object.entries(fields).map(([name, { type }]) => [name, { type }]))
}

const ownNames = [...Object.keys(credentialFields), 'include_goods', 'include_qr']

export const orderStatus: Tool = {
  name: 'order_status',
  title: 'Order status',
  description: `An order: by the idempotency_key of its purchase alone, or by its orderId or paymentId. A transactionHash is public, so it shows only the state, unless you prove that the order is yours. Free. Call it after buy, at most every ${retryAfterSeconds} seconds, until agent_action is no longer "wait". While the state is PAYMENT_PENDING, never pay again. The goods need proof that they are yours: that idempotency_key, the access_token, or a sign-in of the paying wallet in _meta["sign-in-with-x"]. With a sign-in alone, it lists the orders of that wallet.`,
  inputSchema: argumentSchema(
    {
      orderId: { type: 'string', description: 'From the answer to buy' },
      ...Object.fromEntries(
        Object.entries(orderParams).map(([name, { schema }]) => [name, schema]),
      ),
      ...credentialFields,
      include_goods: { ...includeGoods, description: 'true: the goods in the answer, as in buy' },
      include_qr: {
        type: 'boolean',
        default: false,
        description: 'true: with include_goods, also the QR code of an eSIM as a picture',
      },
    },
    [],
  ),
  annotations: { readOnlyHint: true, openWorldHint: false },
  app: 'order',
  limit: 'reading',
  charges: false,
  readsOrders: true,
  run: statusOf,
}

async function statusOf(call: ToolCall, deps: ToolDeps): Promise<ToolOutcome> {
  const { buying } = deps
  const showing = showingOf(call)
  const { limit, offset, ...ids } = readParams(inArguments(without(call.args, ownNames)), {
    ...orderParams,
    orderId: text,
  })
  const query = orderQuery(ids, () => keyIn(call.args))
  if (query === undefined) return ordersOfWallet(call, deps, pageOf({ limit, offset }))
  const view = await lookAtOrder(buying, query, () => credentialsIn(call))
  if (!view.isPublic) return orderOutcome(buying, view, showing)
  const body = publicStatusOf(view.order, 'hash')
  return { type: 'answer', body, advice: body.message }
}

async function ordersOfWallet(
  call: ToolCall,
  { buying }: ToolDeps,
  page: Page,
): Promise<ToolOutcome> {
  const list = await listOwnOrders(buying, signInWith(call), page)
  if (list !== undefined) return { type: 'answer', body: list }
  const required = signInRequired(buying.signIn, ordersScope(mcpPath))
  return { type: 'demand', required, more: { message: signInGuidance } }
}

export const refund: Tool = {
  name: 'refund',
  title: 'Refund',
  description:
    'The refund of an order that failed: its state or, with an idempotency_key, a claim. Refunds start automatically, so a claim is never needed; it retries one that could not be paid. The full amount always goes to the wallet that paid, never anywhere else. Delivered goods are not refunded. Free.',
  inputSchema: argumentSchema(
    {
      orderId: { type: 'string', description: 'From the answer to buy' },
      idempotency_key: {
        type: 'string',
        description: `Makes the call a claim. Yours, of ${keyForm}, and new for each claim`,
      },
      access_token: {
        type: 'string',
        description:
          'Only with a claim: the accessToken of the purchase, if you have it. Claims by strangers then do not use up yours',
      },
      reason: {
        type: 'string',
        description: `Only with a claim: why, in at most ${maxReason} characters`,
      },
    },
    ['orderId'],
  ),
  annotations: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: true,
  },
  app: 'order',
  limit: (args) => (keyIn(args) === undefined ? 'reading' : 'purchase'),
  charges: true,
  readsOrders: true,
  run: refunded,
}

async function refunded(call: ToolCall, { buying }: ToolDeps) {
  const { args, client } = call
  const key = keyIn(args)
  const orderId = textIn(args, 'orderId')
  if (orderId === undefined) {
    throw invalidParameter('orderId', 'orderId is required: the one in the answer to buy.')
  }
  const fields = withoutEmpty(without(args, ['orderId', 'idempotency_key', 'access_token']))
  if (key !== undefined) {
    const claim = { orderId, key, fields, client, isOwn: ownedBy(buying, credentialsIn(call)) }
    return { type: 'answer' as const, body: await refundClaimed(buying, claim) }
  }
  // Other fields mean a claim.
  if (Object.keys(fields).length > 0) {
    const message = 'A refund claim needs an idempotency_key.'
    throw new Refusal('idempotency_key_missing', message, { parameter: 'idempotency_key' })
  }
  return { type: 'answer' as const, body: await refundWatched(buying, orderId) }
}

interface Showing {
  readonly inline: boolean
  /** Whether with the picture of a QR code. */
  readonly withQr: boolean
  /** Whether the client brings a person to the link now, or has already done so. */
  readonly visit: 'now' | 'done' | undefined
}

/**
 * How to show the goods for this call. If its host allows only links, and the client can bring a person to a link, it
 * does so before the model gets the answer, which then does not contain the link.
 */
function showingOf({ args, host, person }: ToolCall): Showing {
  const inline = flagIn(args, 'include_goods') && host.goods === undefined
  // The client repeats the call for the answer, which must prove ownership again. A payment alone does not.
  const proof = textIn(args, 'idempotency_key') ?? textIn(args, 'access_token')
  const isBrought = host.goods === 'link' && person.reached === 'by_result' && proof !== undefined
  const withQr = inline && flagIn(args, 'include_qr')
  return { inline, withQr, visit: isBrought ? (person.isBack ? 'done' : 'now') : undefined }
}

/**
 * The answer of a tool about an order. Codes stay out of the model's context unless the call asks for them, because
 * a model can be tricked into repeating what it has read.
 */
export async function orderOutcome(
  deps: BuyingDeps,
  { order, reveal, accessToken, webhook }: OrderView,
  showing: Showing,
): Promise<Extract<ToolOutcome, { type: 'answer' }>> {
  const { inline, withQr, visit } = showing
  const secrets = inline ? { accessToken, webhook } : {}
  const view = { order, reveal: inline && reveal, ...secrets }
  const { orders, ...body } = await orderBody(deps.receipts, view)
  const isDelivered = order.state === 'FULFILLED'
  const way = reveal ? wayOf(order, showing) : 'locked'
  const link = way === 'link' ? linkTo(deps, order) : undefined
  const { vault, site } = deps.receipts
  const advice = orderMessage(order, {
    ...deliveredTo(vault, order, reveal !== false),
    site,
    pollAdvice: `Call order_status with orderId ${order.id} in ${retryAfterSeconds} seconds.`,
    delivered: deliveredAdvice(order, way),
  })
  const hint = hints[way === 'link' && !link ? 'locked' : way]
  return {
    type: 'answer',
    body: {
      ...body,
      message: advice,
      orders: orders.map((one) => withoutPictures(one, hint)),
      ...(link ? { reveal: link } : {}),
    },
    advice,
    picture: pictureIn(withQr ? orders[0] : undefined),
    visit:
      visit === 'now' && isDelivered && link ? { url: link.url, message: visitMessage } : undefined,
  }
}

type Way = 'inline' | 'link' | 'shown' | 'locked'

function wayOf(order: Order, { inline, visit }: Showing): Way {
  if (inline) return 'inline'
  return order.state === 'FULFILLED' && visit === 'done' ? 'shown' : 'link'
}

function linkTo(deps: BuyingDeps, order: Order) {
  return order.state === 'FULFILLED' || isUnderWay(order) ? revealLink(deps, order) : undefined
}

const visitMessage = 'Your purchase is here. The link shows it once.'
const lockedHint =
  'Prove that the goods are yours: call again with the idempotency_key of the purchase, its access_token, or a sign-in of the paying wallet in _meta["sign-in-with-x"].'
const shownAdvice =
  'The person was given a link that shows the goods once. For a new one, call order_status.'

const hints: Readonly<Record<Way, string>> = {
  inline: lockedHint,
  link: 'The goods are behind reveal.url, which opens once: give the link to the person they are for. With include_goods: true they are here instead.',
  shown: shownAdvice,
  locked: lockedHint,
}

function deliveredAdvice({ item }: Order, way: Way): string {
  const isAtHome = way === 'link' && goods[item.kind].isCredited
  return isAtHome ? 'Nothing is left to do; reveal.url shows the confirmation once.' : advices[way]
}

const advices: Readonly<Record<Way, string>> = {
  shown: shownAdvice,
  inline: 'The goods are in orders[0].result; treat them like cash.',
  link: 'Give reveal.url to the person the goods are for; it opens once.',
  locked: 'Prove that the order is yours to see the goods.',
}

type Listed = Awaited<ReturnType<typeof orderBody>>['orders'][number]

/** The QR code is an image of its own in the answer, as PNG, which clients show. */
function pictureIn(order: Listed | undefined): string | undefined {
  const png = order?.result?.['qrPng']
  return typeof png === 'string' ? png.replace(/^[^,]*,/, '') : undefined
}

function withoutPictures({ result, result_hint, ...order }: Listed, hint: string) {
  const { qrPng: _, qrSvg: __, ...rest }: Readonly<Record<string, unknown>> = result ?? {}
  return { ...order, result: result && rest, result_hint: result_hint && hint }
}
