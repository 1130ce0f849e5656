import type { FastifyInstance } from 'fastify'
import { signInRequired } from '../api/buying/sign-in.ts'
import type { BuyingDeps } from '../api/deps.ts'
import type { Operation, StoreDeps, StoreOperation } from '../api/operation.ts'
import { unpaidOperations } from '../api/operations.ts'
import { callIn } from './call.ts'
import { answer402, privately } from './payment-headers.ts'
import type { Limits } from './rate-limit.ts'

/** Every operation about orders and prices; purchases have payments in headers of their own. */
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
      // The answer to HEAD would take as much as a quote, and say nothing.
      exposeHeadRoute: operation.group !== 'Buying',
      async handler(request, reply) {
        const answer = await operation.run(callIn(request, reply, limits), deps)
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

/** What the store says of itself. */
export function routeStoreOperations(
  app: FastifyInstance,
  deps: StoreDeps,
  operations: readonly StoreOperation[],
): void {
  for (const operation of operations) {
    const { servedAt = () => routeOf(operation), run, cacheControl, limit } = operation
    const config = { ...configOf(operation), isProbe: limit === undefined }
    app.get(servedAt(deps.site), { config }, (_, reply) => {
      const { body, status = 200 } = run(deps)
      return reply.status(status).header('cache-control', cacheControl).send(body)
    })
  }
}

const howToSignIn =
  'Sign the challenge in extensions["sign-in-with-x"] with the paying wallet and send it as SIGN-IN-WITH-X. Nothing is charged.'

/** The path of an operation as the router writes it: `{id}` is `:id` there. */
export function routeOf({ path }: Pick<Operation, 'path'>): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}

/** What the gate and the errors need to know of a route. */
export function configOf({ limit, charges }: Operation) {
  return { ...(limit && { limit }), ...(charges && { charges }) }
}
