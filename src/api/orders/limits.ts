import * as z from 'zod'
import {
  LimitsAnswer,
  LimitsBody,
  type LimitsDeps,
  liftLimits,
  readLimits,
  sentenceOf,
  setLimits,
  showLimits,
} from '../../orders/spending-limits/keep.ts'
import { signedInWallet, signInHeader } from '../buying/credentials.ts'
import {
  type Answer,
  answers,
  type BuyingDeps,
  type Call,
  limitsPath,
  type OrderOperation,
  refusesBody,
} from '../operation.ts'

const limits = {
  path: limitsPath,
  group: 'Orders',
  headers: signInHeader,
  answers: answers('The limits in force, what is coming, and what was spent', LimitsAnswer),
  access: 'sign_in',
} as const

/** A signature for reading changes nothing, and one for certain limits sets no others. */
export const limitOperations: readonly OrderOperation[] = [
  {
    ...limits,
    id: 'getLimits',
    method: 'GET',
    name: 'See your limits',
    description:
      'The limits that the wallet that signs in has set itself, and what it spent in the last 24 hours.',
    refusals: ['sign_in_invalid', 'try_again'],
    limit: 'reading',
    run: (call, deps) => asWallet(call, deps, 'Show the limits of this wallet.', showLimits),
  },
  {
    ...limits,
    id: 'setLimits',
    method: 'PUT',
    name: 'Limit yourself',
    description:
      'Sets what the wallet that signs in may buy here: purchases beyond it are refused before anything is paid. What is tighter holds at once, what is looser waits. The signature is for the very limits that are sent.',
    body: z.toJSONSchema(LimitsBody, { io: 'input' }),
    refusals: ['invalid_body', ...refusesBody, 'sign_in_invalid', 'try_again'],
    limit: 'purchase',
    async run(call, deps) {
      const body = readLimits(call.fields())
      return asWallet(call, deps, sentenceOf(body), (limits, wallet) =>
        setLimits(limits, wallet, body),
      )
    },
  },
  {
    ...limits,
    id: 'liftLimits',
    method: 'DELETE',
    name: 'Lift your limits',
    description: 'Lifts all limits of the wallet that signs in, once the waiting time is over.',
    refusals: ['sign_in_invalid', 'try_again'],
    limit: 'purchase',
    run: (call, deps) => asWallet(call, deps, 'Lift all limits of this wallet.', liftLimits),
  },
]

async function asWallet(
  { signIn }: Call,
  deps: BuyingDeps,
  statement: string,
  answer: (limits: LimitsDeps, wallet: string) => Promise<LimitsAnswer>,
): Promise<Answer> {
  const scope = {
    path: limitsPath,
    description: 'The limits of the wallet that signs in',
    statement,
  }
  const wallet = await signedInWallet(deps.signIn, signIn, scope)
  if (wallet === undefined) return { signIn: scope }
  return { body: await answer(deps.guardrails, wallet) }
}
