import type { FastifyInstance } from 'fastify'
import { signInRequired } from '../api/buying/credentials.ts'
import type { BuyingDeps } from '../api/deps.ts'
import type { Operation, StoreDeps, StoreOperation } from '../api/operation.ts'
import { unpaidOperations } from '../api/operations.ts'
import { callIn } from './call.ts'
import { isOperator, type OperatorAccess } from './operator.ts'
import { answer402, privately } from './payment-headers.ts'
import type { Limits } from './rate-limit.ts'

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

const howToSignIn =
  'Sign the challenge in extensions["sign-in-with-x"] with the paying wallet and send it as SIGN-IN-WITH-X. Nothing is charged.'

/** The path of an operation in the router's notation: `:id` for `{id}`. */
export function routeOf({ path }: Pick<Operation, 'path'>): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}

export function configOf({ limit, charges }: Operation) {
  return { ...(limit && { limit }), ...(charges && { charges }) }
}
