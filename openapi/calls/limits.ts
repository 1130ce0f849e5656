import type { Operation } from '../../src/api/operation.ts'
import type { Ask, Call, Shop, SignedRequest } from './call.ts'
import type { Recipe } from './refusals.ts'

const path = '/api/catalog/limits'
const someLimits = { perOrderUsdc: '5', perDayUsdc: '20', kinds: ['topup', 'esim'] }

const requests: Readonly<Record<string, SignedRequest>> = {
  getLimits: { method: 'GET' },
  setLimits: { method: 'PUT', body: someLimits },
  liftLimits: { method: 'DELETE' },
}

/** Calls about spending limits that succeed, or are answered with a sign-in challenge. */
export const limitCalls: readonly Call[] = [
  ...callsOf('getLimits', 'set', 'A wallet with spending limits'),
  ...callsOf('setLimits', 'set', 'Limits that hold at once'),
  ...callsOf('liftLimits', 'lifted', 'What is looser waits'),
]

function callsOf(operation: string, name: string, summary: string): Call[] {
  const request = requests[operation] as SignedRequest
  const unsigned = request.body === undefined ? {} : { body: request.body }
  return [
    { operation, name, summary, status: 200, ask: (shop) => signed(shop, request) },
    {
      operation,
      name: 'sign_in_required',
      summary: 'The challenge to sign',
      status: 402,
      ask: () => unsigned,
    },
  ]
}

async function signed(shop: Shop, request: SignedRequest, at?: 'away'): Promise<Ask> {
  const { body } = request
  const headers = { 'sign-in-with-x': await shop.signIn(path, at, request) }
  return { headers, ...(body === undefined ? {} : { body }) }
}

/** How calls about spending limits are made to refuse. */
export const limitRecipes: Readonly<Record<string, Recipe>> = {
  invalid_body: ({ id }) => (id === 'setLimits' ? { body: { perOrderUsdc: '$5' } } : undefined),
  sign_in_invalid: (operation) => {
    const { body } = requestOf(operation)
    return body && { body, headers: { 'sign-in-with-x': 'nobody' } }
  },
  try_again: (operation, shop) => {
    return operation.path === path ? signed(shop, requestOf(operation), 'away') : undefined
  },
}

function requestOf({ id }: Operation): SignedRequest {
  return requests[id] ?? { method: 'GET' }
}
