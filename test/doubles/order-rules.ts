import type { Order } from '../../src/orders/order.ts'

/**
 * Why an order that the supplier has accepted must not become this one; undefined if it may. The database
 * refuses the same.
 */
export function forgottenBy(before: Order, after: Order): string | undefined {
  const [was, is] = [askingOf(before), askingOf(after)]
  if (was.acceptedAt === undefined) return undefined
  if (is.acceptedAt?.getTime() !== was.acceptedAt.getTime()) return 'the supplier has accepted it'
  if (is.askedAgainAt?.getTime() !== was.askedAgainAt?.getTime()) return 'it is not asked again'
  const isGivenUp = before.state === 'FULFILLING' && 'failure' in after
  const isSilence = isGivenUp && after.failure.trigger === 'upstream_timeout'
  return isSilence ? 'its silence is no answer' : undefined
}

function askingOf(order: Order): { readonly acceptedAt?: Date; readonly askedAgainAt?: Date } {
  return 'receipt' in order && order.state !== 'PAID' ? order : {}
}
