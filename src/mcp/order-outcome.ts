import { revealLink } from '../api/buying/reveal.ts'
import type { BuyingDeps } from '../api/deps.ts'
import { retryAfterSeconds } from '../api/extensions/policies.ts'
import { type OrderView, orderBody, orderMessage } from '../api/orders/order.ts'
import { isUnderWay, type Order } from '../orders/order.ts'
import { flagIn, textIn } from './arguments.ts'
import type { ToolCall, ToolOutcome } from './tool.ts'

export const includeGoods = {
  type: 'boolean',
  default: false,
  description:
    'true: puts the goods, the access token and the secret of a webhook into the answer, where everyone who reads this conversation sees them. Otherwise the answer has reveal.url, which shows the goods to a person once.',
} as const

/** How the goods are shown to a caller who may see them. */
interface Showing {
  /** In the answer itself, rather than by a link. */
  readonly inline: boolean
  /** Whether the client brings a person to the link now, or has already done so. */
  readonly visit: 'now' | 'done' | undefined
}

/**
 * How to show the goods for this call. If its host allows only links, and the client can bring a person to a link, it
 * does so before the model gets the answer, which then does not contain the link.
 */
export function showingOf({ args, host, person }: ToolCall): Showing {
  const inline = flagIn(args, 'include_goods') && host.goods === undefined
  // The client repeats the call for the answer, which must prove ownership again. A payment alone does not.
  const proof = textIn(args, 'idempotency_key') ?? textIn(args, 'access_token')
  const isBrought = host.goods === 'link' && person.reached === 'by_result' && proof !== undefined
  return { inline, visit: isBrought ? (person.isBack ? 'done' : 'now') : undefined }
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
  const { inline } = showing
  const secrets = inline ? { accessToken, webhook } : {}
  const view = { order, reveal: reveal && inline, ...secrets }
  const { orders, ...body } = await orderBody(deps.purchases.vault, view)
  const way = reveal ? wayOf(order, showing) : 'locked'
  const link = way === 'link' && mayBeDelivered(order) ? revealLink(deps, order) : undefined
  const shown = orders.map(withoutPictures)
  const advice = orderMessage(order, {
    again: `Call order_status with orderId ${order.id} in ${retryAfterSeconds} seconds.`,
    delivered: deliveredAdvice[way],
  })
  const hint = hints[way === 'link' && !link ? 'locked' : way]
  return {
    type: 'answer',
    body: {
      ...body,
      message: advice,
      orders: shown.map(({ order: one }) =>
        one.result_hint === undefined ? one : { ...one, result_hint: hint },
      ),
      ...(link ? { reveal: link } : {}),
    },
    advice,
    picture: shown.find(({ picture }) => picture !== undefined)?.picture,
    visit: link && isVisited(order, showing) ? { url: link.url, message: linkMessage } : undefined,
  }
}

type Way = 'inline' | 'link' | 'shown' | 'locked'

function wayOf(order: Order, { inline, visit }: Showing): Way {
  if (inline) return 'inline'
  return order.state === 'FULFILLED' && visit === 'done' ? 'shown' : 'link'
}

function isVisited({ state }: Order, { visit }: Showing): boolean {
  return state === 'FULFILLED' && visit === 'now'
}

const linkMessage = 'Your purchase is here. The link shows it once.'

const linkHint =
  'The goods are behind reveal.url, which opens once: give the link to the person they are for. With include_goods: true they are here instead.'
const lockedHint =
  'Prove that the goods are yours: call again with the idempotency_key of the purchase, its access_token, or a sign-in of the paying wallet in _meta["sign-in-with-x"].'

const shownAdvice =
  'Delivered. The person was given a link that shows the goods once. For a new one, call order_status.'

const hints: Readonly<Record<Way, string>> = {
  inline: lockedHint,
  link: linkHint,
  shown: shownAdvice,
  locked: lockedHint,
}

function mayBeDelivered(order: Order): boolean {
  return order.state === 'FULFILLED' || isUnderWay(order)
}

type Listed = Awaited<ReturnType<typeof orderBody>>['orders'][number]
type Result = Readonly<Record<string, unknown>> | null

/** Moves the QR code out of the JSON into an image of its own, as PNG, which clients show. */
function withoutPictures(order: Listed) {
  const result: Result = order.result
  if (result === null) return { order, picture: undefined }
  const { qrPng, qrSvg: _, ...rest } = result
  const picture = typeof qrPng === 'string' ? qrPng.replace(/^[^,]*,/, '') : undefined
  return { order: { ...order, result: rest }, picture }
}

/** What the caller should do with what was delivered. */
const deliveredAdvice: Readonly<Record<Way, string>> = {
  shown: shownAdvice,
  inline: 'Delivered. The goods are in the answer above; treat them like cash.',
  link: 'Delivered. Give reveal.url to the person the goods are for; it opens once.',
  locked: 'Delivered. Prove that the order is yours to see the goods.',
}
