import type { Authorization, Chain } from '../model/chain.ts'
import type { Clock } from '../model/clock.ts'
import type { Network } from '../model/payment-method.ts'

/** What happens to a payment on its way to the chain. */
export const payments = [
  'pays',
  'lands-slowly',
  'landed-by-other',
  'cancelled',
  'spent-elsewhere',
  'emptied-wallet',
  'never-lands',
] as const
export type PaymentManner = (typeof payments)[number]

/** What happens to a refund on its way to the chain. */
export const refunds = ['prompt', 'slow', 'dropped', 'lapses', 'no-float'] as const
export type RefundManner = (typeof refunds)[number]

interface Sending {
  readonly clock: Clock
  readonly chain: Chain
  readonly payment: PaymentManner
  readonly refund: RefundManner
}

/** A network that carries payment and refund in their manners. */
export function manneredNetwork(world: Sending): Network {
  return { payment: paymentSender(world), refund: refundSender(world) }
}

/** Somebody else may act before the first submission of a payment. */
function paymentSender(world: Sending): Network['payment'] {
  const { clock, chain, payment } = world
  const met = new Set<string>()
  return async (authorization) => {
    if (!met.has(authorization.nonce)) comeFirst(world, authorization)
    met.add(authorization.nonce)
    if (payment === 'never-lands') return
    if (payment === 'lands-slowly') clock.later(30_000, () => void chain.execute(authorization))
    else chain.execute(authorization)
  }
}

/** What somebody else does with an authorization before it reaches the chain. */
function comeFirst({ chain, payment }: Sending, authorization: Authorization): void {
  switch (payment) {
    case 'landed-by-other':
      chain.execute(authorization)
      break
    case 'cancelled':
      chain.cancel(authorization)
      break
    case 'spent-elsewhere':
      chain.spendElsewhere(authorization)
      break
    case 'emptied-wallet':
      chain.fund(authorization.from, -chain.balanceOf(authorization.from))
      break
    default:
      break
  }
}

function refundSender({ clock, chain, refund: manner }: Sending): Network['refund'] {
  let sent = 0
  let firstEnds = 0
  return async (authorization) => {
    sent += 1
    firstEnds ||= authorization.validBefore
    if (manner === 'dropped' && sent === 1) return
    if (manner === 'lapses' && authorization.validBefore === firstEnds) return
    if (manner === 'slow') clock.later(40_000, () => void chain.execute(authorization))
    else chain.execute(authorization)
  }
}
