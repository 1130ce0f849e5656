import { signInRequired } from '../../api/buying/sign-in.ts'
import { retryAfterSeconds } from '../../api/extensions/policies.ts'
import {
  listAsk,
  listOwnOrders,
  lookAtOrder,
  lookUpIn,
  orderParams,
} from '../../api/orders/find-orders.ts'
import { listTokenHours } from '../../api/orders/list-token.ts'
import { orderStanding } from '../../api/orders/order.ts'
import { mcpPath } from '../../api/paths.ts'
import { readParams, text } from '../../catalog/search/params.ts'
import { inArguments, textIn, without } from '../arguments.ts'
import { includeGoods, orderOutcome, showingOf } from '../order-outcome.ts'
import { credentialFields, credentialsIn, signInGuidance, signInWith } from '../proofs.ts'
import { argumentSchema } from '../schemas.ts'
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
