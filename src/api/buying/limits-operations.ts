import * as z from 'zod'
import { LimitsAnswer } from '../../orders/spending-limits/answer.ts'
import { LimitsBody } from '../../orders/spending-limits/body.ts'
import { answers, type Operation } from '../operation.ts'
import { limitsPath } from '../paths.ts'
import { signInHeader } from './operations.ts'

const limits = {
  path: limitsPath,
  group: 'Orders',
  headers: signInHeader,
  answers: answers('The limits in force, what is coming, and what was spent', LimitsAnswer),
  access: 'sign_in',
} as const

/** The limits that a wallet sets itself, described. */
export const limitOperations: readonly Operation[] = [
  {
    ...limits,
    id: 'getLimits',
    method: 'GET',
    name: 'See your limits',
    description:
      'The limits that the wallet that signs in has set itself, and what it spent in the last 24 hours.',
    refusals: ['sign_in_invalid', 'try_again'],
    limit: 'reading',
  },
  {
    ...limits,
    id: 'setLimits',
    method: 'PUT',
    name: 'Limit yourself',
    description:
      'Sets what the wallet that signs in may buy here: purchases beyond it are refused before anything is paid. What is tighter holds at once, what is looser waits. The signature is for the very limits that are sent.',
    body: z.toJSONSchema(LimitsBody, { io: 'input' }),
    refusals: [
      'unknown_parameter',
      'invalid_body',
      'invalid_json',
      'unsupported_media_type',
      'body_too_large',
      'sign_in_invalid',
      'try_again',
    ],
    limit: 'purchase',
  },
  {
    ...limits,
    id: 'liftLimits',
    method: 'DELETE',
    name: 'Lift your limits',
    description: 'Lifts all limits of the wallet that signs in, once the waiting time is over.',
    refusals: ['sign_in_invalid', 'try_again'],
    limit: 'purchase',
  },
]
