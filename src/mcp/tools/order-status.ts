import { keyForm, signInRequired } from '../../api/buying/credentials.ts'
import { retryAfterSeconds } from '../../api/extensions/policies.ts'
import {
  listAsk,
  listOwnOrders,
  listTokenHours,
  lookAtOrder,
  lookUpIn,
  orderParams,
} from '../../api/orders/find-orders.ts'
import { orderStanding } from '../../api/orders/order.ts'
import { maxReason, ownedBy, refundClaimed, refundWatched } from '../../api/orders/refund.ts'
import { mcpPath } from '../../api/paths.ts'
import { readParams, refused, text } from '../../catalog/search/params.ts'
import { Refusal } from '../../lib/refusal.ts'
import { argumentSchema, inArguments, textIn, without, withoutEmpty } from '../arguments.ts'
import { includeGoods, orderOutcome, showingOf } from '../order-outcome.ts'
import { credentialFields, credentialsIn, keyIn, signInGuidance, signInWith } from '../proofs.ts'
import type { Tool, ToolCall, ToolDeps, ToolOutcome } from '../tool.ts'

const own = [...Object.keys(credentialFields), 'include_goods']

export const orderStatus: Tool = {
  name: 'order_status',
  title: 'Order status',
  description: `The state of an order, by its orderId or paymentId. A transactionHash is public, so it shows only the state, unless you prove that the order is yours. Free. Call it after buy, at most every ${retryAfterSeconds} seconds, until agent_action is no longer "wait". While the state is PAYMENT_PENDING, never pay again. To see the goods, prove that the order is yours: with the idempotency_key of the purchase, its access_token, or a sign-in of the paying wallet in _meta["sign-in-with-x"]. Without an id, it lists the orders of the wallet that signs in; send the listToken of that answer as access_token to list them again for ${listTokenHours} hours.`,
  inputSchema: argumentSchema(
    {
      orderId: { type: 'string', description: 'From the answer to buy' },
      ...Object.fromEntries(
        Object.entries(orderParams).map(([name, { schema }]) => [name, schema]),
      ),
      ...credentialFields,
      include_goods: includeGoods,
    },
    [],
  ),
  annotations: { readOnlyHint: true, openWorldHint: false },
  app: 'order',
  limit: 'reading',
  charges: false,
  run: statusOf,
}

async function statusOf(call: ToolCall, deps: ToolDeps): Promise<ToolOutcome> {
  const { buying } = deps
  const showing = showingOf(call)
  const given = inArguments(without(call.args, own))
  const { orderId } = readParams(given, { ...orderParams, orderId: text })
  const { transactionHash, paymentId, ...page } = lookUpIn(
    inArguments(without(call.args, [...own, 'orderId'])),
  )
  if (orderId === undefined && transactionHash === undefined && paymentId === undefined) {
    return ordersOfWallet(call, deps, page)
  }
  const query = orderId === undefined ? { transactionHash, paymentId } : { orderId }
  const found = await lookAtOrder(buying, query, () => credentialsIn(call), call.log)
  if (!found.isPublic) return orderOutcome(buying, found, showing)
  const body = orderStanding(found.order, 'hash')
  return { type: 'answer', body, advice: body.message }
}

async function ordersOfWallet(
  call: ToolCall,
  { buying }: ToolDeps,
  page: { readonly limit: number; readonly offset: number },
): Promise<ToolOutcome> {
  const ask = listAsk(mcpPath)
  const shown = { signIn: signInWith(call), accessToken: textIn(call.args, 'access_token') }
  const list = await listOwnOrders(buying, shown, ask, page, call.log)
  if (list !== undefined) return { type: 'answer', body: list }
  const required = signInRequired(buying.signIn, ask)
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
  run: refunded,
}

async function refunded(call: ToolCall, { buying }: ToolDeps) {
  const { args, log, client } = call
  const key = keyIn(args)
  const orderId = textIn(args, 'orderId')
  if (orderId === undefined) {
    throw refused('orderId', 'orderId is required: the one in the answer to buy.')
  }
  const fields = withoutEmpty(without(args, ['orderId', 'idempotency_key', 'access_token']))
  const owned = () => ownedBy(buying, credentialsIn(call))
  const report =
    key === undefined
      ? await watched(buying, orderId, fields, log)
      : await refundClaimed(buying, { orderId, key, fields, client, isOwn: owned() }, log)
  return { type: 'answer' as const, body: report.body }
}

/** The state of a refund. A call without a key that has other fields is meant as a claim, and is refused. */
async function watched(
  buying: ToolDeps['buying'],
  orderId: string,
  fields: Record<string, unknown>,
  log: ToolCall['log'],
) {
  if (Object.keys(fields).length === 0) return refundWatched(buying, orderId, log)
  const message = 'A refund claim needs an idempotency_key.'
  throw new Refusal('idempotency_key_missing', message, { parameter: 'idempotency_key' })
}
