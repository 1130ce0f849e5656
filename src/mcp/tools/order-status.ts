import { orNotNow } from '../../api/buying/or-not-now.ts'
import { lookUpIn, orderParams } from '../../api/buying/order-params.ts'
import { listOrders, lookAtOrder, ordersAsk } from '../../api/buying/orders.ts'
import { signedInWallet, signInRequired } from '../../api/buying/sign-in.ts'
import { readParams, text } from '../../api/params.ts'
import { mcpPath } from '../../api/paths.ts'
import { orderStanding } from '../../api/views/order.ts'
import { flagIn, inArguments, without } from '../arguments.ts'
import { includeGoods, orderOutcome } from '../order-outcome.ts'
import { credentialFields, credentialsIn, signInGuidance, signInWith } from '../proofs.ts'
import { argumentSchema } from '../schemas.ts'
import type { Tool, ToolCall, ToolDeps, ToolOutcome } from '../tool.ts'

const own = [...Object.keys(credentialFields), 'include_goods']

export const orderStatus: Tool = {
  name: 'order_status',
  title: 'Order status',
  description:
    'How an order stands, for whoever knows its orderId or its paymentId. By the transactionHash of its payment, which everybody can read on the chain, only its state is told, unless you show that it is yours. Free. Call it after buy until agent_action is not "wait", every 5 seconds or less often. While the state is PAYMENT_PENDING never pay again. The goods are only for who shows that they are theirs: by the idempotency_key of the purchase, its access_token, or a sign-in of the paying wallet in _meta["sign-in-with-x"]. Without any id it lists the orders of the wallet that signs in.',
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
  limit: 'reading',
  charges: false,
  run: statusOf,
}

async function statusOf(call: ToolCall, deps: ToolDeps): Promise<ToolOutcome> {
  const { buying } = deps
  const inline = flagIn(call.args, 'include_goods')
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
  if (!found.isPublic) return orderOutcome(buying, found, inline)
  const body = orderStanding(found.order, 'hash')
  return { type: 'answer', body, advice: body.message }
}

async function ordersOfWallet(
  call: ToolCall,
  { buying }: ToolDeps,
  page: { readonly limit: number; readonly offset: number },
): Promise<ToolOutcome> {
  const { signIn } = buying
  const wallet = await orNotNow(call.log, () => signedInWallet(signIn, signInWith(call)))
  if (wallet !== undefined) {
    return { type: 'answer', body: await listOrders(buying, wallet, page, call.log) }
  }
  const required = signInRequired(signIn, ordersAsk(mcpPath))
  return { type: 'demand', required, more: { message: signInGuidance } }
}
