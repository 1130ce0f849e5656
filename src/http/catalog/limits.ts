import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { BuyingDeps } from '../../api/buying/deps.ts'
import { orNotNow } from '../../api/buying/or-not-now.ts'
import { type SignInAsk, signedInWallet, signInRequired } from '../../api/buying/sign-in.ts'
import { limitsPath } from '../../api/paths.ts'
import type { LimitsAnswer } from '../../orders/spending-limits/answer.ts'
import { readLimits, sentenceOf } from '../../orders/spending-limits/body.ts'
import {
  type LimitsDeps,
  liftLimits,
  setLimits,
  showLimits,
} from '../../orders/spending-limits/keep.ts'
import { postedFields, privately, sendSignInRequired } from './buying.ts'

/**
 * The limits that a wallet sets itself, for the wallet that signs in. A signature is for the one
 * thing that its challenge says: one for reading changes nothing, and one for some limits sets no
 * others.
 */
export function routeLimits(app: FastifyInstance, deps: BuyingDeps): void {
  app.get(limitsPath, { config: { limit: 'reading' } }, (request, reply) =>
    asWallet(deps, request, reply, 'Show the limits of this wallet.', showLimits),
  )
  app.put(limitsPath, { config: { limit: 'purchase' } }, (request, reply) => {
    const body = readLimits(postedFields(request))
    return asWallet(deps, request, reply, sentenceOf(body), (limits, wallet) =>
      setLimits(limits, wallet, body),
    )
  })
  app.delete(limitsPath, { config: { limit: 'purchase' } }, (request, reply) =>
    asWallet(deps, request, reply, 'Lift all limits of this wallet.', liftLimits),
  )
}

async function asWallet(
  deps: BuyingDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  statement: string,
  work: (limits: LimitsDeps, wallet: string) => Promise<LimitsAnswer>,
) {
  const ask: SignInAsk = {
    path: limitsPath,
    description: 'The limits of the wallet that signs in',
    statement,
  }
  const header = request.headers['sign-in-with-x']
  const wallet = await orNotNow(request.log, () => signedInWallet(deps.signIn, header, ask))
  if (wallet === undefined) return sendSignInRequired(reply, signInRequired(deps.signIn, ask))
  return privately(reply).send(await orNotNow(request.log, () => work(deps.guardrails, wallet)))
}
