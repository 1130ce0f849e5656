import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'
import { signInRequired } from '../api/buying/credentials.ts'
import { openPayable, payablePath } from '../api/buying/payable-url.ts'
import { retryAfterSeconds } from '../api/buying/payment-required.ts'
import { buy, type PurchaseOutcome, purchases } from '../api/buying/purchase.ts'
import {
  type BuyingDeps,
  type Operation,
  orderPath,
  type StoreDeps,
  type StoreOperation,
} from '../api/operation.ts'
import { unpaidOperations } from '../api/operations.ts'
import { orderBody } from '../api/orders/order.ts'
import { never } from '../lib/errors.ts'
import { Refusal } from '../lib/refusal.ts'
import { orderIdOfReference } from '../orders/order.ts'
import type { Notifier, OrderStore } from '../orders/ports.ts'
import { notReadable } from '../orders/price.ts'
import type { ConnectedSupplier } from '../suppliers/supplier.ts'
import {
  answer402,
  callIn,
  credentialsIn,
  httpTransport,
  indexedTransport,
  payableTransport,
  paymentIn,
  paymentResponse,
  postedFields,
  preferredWaitMs,
  prefersUrl,
  privately,
  requireNoFields,
} from './call.ts'
import { clientKeyOf, type Limits } from './gate.ts'
import { isOperator, type OperatorAccess } from './operator.ts'

const replayed = { 'idempotent-replayed': 'true' }

/** Buying: POST moves money, GET only quotes (docs/contributors/decisions/001). */
export function routePurchases(app: FastifyInstance, deps: BuyingDeps): void {
  for (const operation of purchases) {
    const config = { ...configOf(operation), findsOrders: true }
    app.post(operation.path, { config }, async (request, reply) => {
      const fields = postedFields(request)
      const transport = Object.keys(fields).length === 0 ? indexedTransport : httpTransport
      const asked = { kind: operation.kind, fields, transport, asksForUrl: prefersUrl(request) }
      return answerPurchase(deps, reply, await buy(deps, { ...purchaseIn(request), ...asked }))
    })
  }
}

/** An address that holds a whole purchase is paid by GET too, because some hosts can do nothing else (docs/contributors/decisions/024). */
export function routePayableUrls(app: FastifyInstance, deps: BuyingDeps): void {
  app.route({
    method: ['GET', 'POST'],
    // A parameter could not be as long.
    url: `${payablePath}/*`,
    exposeHeadRoute: false,
    config: { limit: 'purchase', charges: true, findsOrders: true },
    async handler(request, reply) {
      privately(reply)
      requireNoFields(request)
      const { '*': text } = request.params as { '*': string }
      const { url, ended, ...purchase } = openPayable(deps, deps.purchases, text)
      const call = purchaseIn(request)
      const heldUp = call.heldUp ?? ended
      const asked = { ...purchase, heldUp, kind: undefined, transport: payableTransport(url) }
      return answerPurchase(deps, reply, await buy(deps, { ...call, ...asked }))
    },
  })
}

function answerPurchase(deps: BuyingDeps, reply: FastifyReply, outcome: PurchaseOutcome) {
  const { request } = reply
  switch (outcome.type) {
    case 'order':
      return sendOrder(deps, reply, outcome)
    case 'standing':
      request.orderId = outcome.orderId
      request.provesNothing = true
      return answered(reply, outcome.came).headers(replayed).send(outcome.body)
    case 'payment_required':
      return answer402(reply, outcome.required, outcome.more)
    default:
      return never(outcome)
  }
}

function purchaseIn(request: FastifyRequest) {
  return {
    presented: paymentIn(request),
    readCredentials: () => credentialsIn(request),
    patienceMs: preferredWaitMs(request),
    client: clientKeyOf(request.ip),
    heldUp: request.heldUp,
  }
}

async function sendOrder(
  deps: BuyingDeps,
  reply: FastifyReply,
  outcome: Extract<PurchaseOutcome, { type: 'order' }>,
) {
  const { order, came: isDelivered, settled } = outcome
  reply.request.orderId = order.id
  answered(reply, isDelivered)
    .headers(paymentResponse(settled))
    .headers(isDelivered ? {} : { location: orderPath(order.id) })
    .headers(outcome.replayed ? replayed : {})
  return reply.send(await orderBody(deps.receipts, outcome))
}

function answered(reply: FastifyReply, isDelivered: boolean): FastifyReply {
  return privately(reply)
    .status(isDelivered ? 200 : 202)
    .headers(isDelivered ? {} : { 'retry-after': String(retryAfterSeconds) })
}

/** Routes the operations on orders and prices. Purchases have their own routes, because of the payment headers. */
export function routeOperations(
  app: FastifyInstance,
  deps: BuyingDeps,
  limits: Pick<Limits, 'refused'>,
): void {
  for (const operation of unpaidOperations) {
    app.route({
      method: operation.method,
      url: routeOf(operation),
      config: configOf(operation),
      // HEAD would cost as much as a quote and answer nothing.
      exposeHeadRoute: operation.group !== 'Buying',
      async handler(request, reply) {
        const { run, group, charges } = operation
        const answer = await run(callIn(request, reply, limits), deps).catch((error: unknown) => {
          throw group === 'Orders' ? notReadable(request.log, error, charges && 'unknown') : error
        })
        if ('signIn' in answer) {
          return answer402(reply, signInRequired(deps.signIn, answer.signIn), {
            message: howToSignIn,
          })
        }
        const { body, status = 200, headers = {} } = answer
        return privately(reply).status(status).headers(headers).send(body)
      },
    })
  }
}

const howToSignIn =
  'Sign the challenge in extensions["sign-in-with-x"] with the paying wallet and send it as SIGN-IN-WITH-X. Nothing is charged.'

export function routeStoreOperations(
  app: FastifyInstance,
  deps: StoreDeps,
  operations: readonly StoreOperation[],
  access: OperatorAccess,
): void {
  for (const operation of operations) {
    const { servedAt = () => routeOf(operation), run, cacheControl, limit } = operation
    const config = { ...configOf(operation), isProbe: limit === undefined }
    app.get(servedAt(deps.site), { config }, (request, reply) => {
      const { body, status = 200 } = run(deps, { isOperator: isOperator(request, access) })
      return reply.status(status).header('cache-control', cacheControl).send(body)
    })
  }
}

/** The path of an operation in the router's notation: `:id` for `{id}`. */
export function routeOf({ path }: Pick<Operation, 'path'>): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}

export function configOf({ limit, charges }: Operation) {
  return { ...(limit && { limit }), ...(charges && { charges }) }
}

export interface SandboxDeps {
  readonly rpcUrl: string
  readonly chainId: number
  readonly usdc: string
  readonly supplierUrl: string
  /** Sends 1,000 test USDC to a wallet; returns the hash of the transaction. */
  readonly faucet: (address: string) => Promise<string>
}

const FaucetRequest = z.strictObject({ address: z.string().regex(/^0x[0-9a-fA-F]{40}$/) })

export function routeSandbox(app: FastifyInstance, { faucet, ...addresses }: SandboxDeps): void {
  app.get('/sandbox', () => addresses)

  app.post('/sandbox/faucet', { config: { limit: 'purchase' } }, async (request) => {
    const parsed = FaucetRequest.safeParse(request.body)
    if (!parsed.success) {
      const message = 'address must be a wallet: 0x and 40 hexadecimal digits.'
      throw new Refusal('invalid_body', message, { parameter: 'address' })
    }
    const { address } = parsed.data
    const transactionHash = await faucet(address)
    return { address, amount: '1000000000', asset: addresses.usdc, transactionHash }
  })
}

/** Its report is only a hint to look sooner, with the store's own API key, at what it would look at anyway. */
interface SupplierWebhookDeps {
  readonly orders: Pick<OrderStore, 'hasten'>
  readonly notifier: Notifier
  readonly suppliers: readonly Pick<ConnectedSupplier, 'webhook'>[]
}

/** In bytes. Records of suppliers contain terms and instructions, so they are larger than buyers' bodies. */
const maxSupplierBody = 256 * 1_024

export function routeSupplierWebhook(app: FastifyInstance, deps: SupplierWebhookDeps): void {
  app.head('/webhooks/supplier', (_, reply) => reply.status(204).send())

  const senderOf = ({ headers }: FastifyRequest) =>
    deps.suppliers.find(({ webhook }) => webhook.isGenuine(headers))?.webhook
  // Before the body is read, because only a supplier may send a body of this size.
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) =>
    senderOf(request) ? undefined : reply.status(401).send()

  const options = { bodyLimit: maxSupplierBody, onRequest }
  app.post('/webhooks/supplier', options, async (request, reply) => {
    const order = orderIdOfReference(senderOf(request)?.referenceIn(request.body) ?? '')
    if (order !== undefined) {
      await deps.orders.hasten(order)
      deps.notifier.notify(order)
    }
    return reply.status(204).send()
  })
}

interface ProcessorWebhookDeps {
  readonly hasten: (invoice: string) => Promise<void>
  readonly invoiceIn: (body: Buffer, signature: Header) => InvoiceEvent
}

export type Header = string | readonly string[] | undefined

export type InvoiceEvent =
  | { readonly isGenuine: false }
  /** Undefined for events about anything else. */
  | { readonly isGenuine: true; readonly invoice: string | undefined }

/** In bytes; an event contains little more than the id of its invoice. */
const maxEvent = 64 * 1_024

/** The webhook of the payment processor. The signature covers the bytes of the body, so they are not parsed before. */
export function routeProcessorWebhook(app: FastifyInstance, deps: ProcessorWebhookDeps): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))

    scope.post('/webhooks/btcpay', { bodyLimit: maxEvent }, async ({ body, headers }, reply) => {
      const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
      const event = deps.invoiceIn(bytes, headers['btcpay-sig'])
      if (!event.isGenuine) return reply.status(401).send()
      if (event.invoice !== undefined) await deps.hasten(event.invoice)
      return reply.status(204).send()
    })
  })
}
