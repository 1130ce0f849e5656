import {
  type Act,
  type Authorization,
  blockSeconds,
  type Chain,
  type Mined,
} from '../model/chain.ts'
import { type Network, refundWallet } from '../model/payment-method.ts'
import type { Buyer, BuyerBook } from './buyer-book.ts'
import type { Scheduler } from './scheduler.ts'
import type { Trace } from './trace.ts'

interface Carrying {
  readonly time: Scheduler
  readonly chain: Chain
  readonly book: BuyerBook
  readonly trace: Trace
  readonly random: () => number
}

const blockMs = blockSeconds * 1_000
/** How long the method waits for a transaction to get into a block. */
const patienceMs = 10_000

export interface ChainNetwork extends Network {
  /** Drops blocks; their transactions land again in others, or vanish. */
  reorg(blocks: number): void
}

/** The mempool, and the payers and strangers who watch it. */
export function modelNetwork(carrying: Carrying): ChainNetwork {
  const { time, chain, book, random, trace } = carrying
  const sent = new Map<string, number>()

  async function send(authorization: Authorization, afterMs: number): Promise<void> {
    // Other transactions may land before this one.
    time.later(afterMs, () => void chain.execute(authorization))
    await time.sleep(Math.min(afterMs + 300, patienceMs))
  }

  function isDropped({ mined, buyer }: { mined: Mined; buyer: Buyer | undefined }): boolean {
    const { act } = mined
    if (act.type === 'transfer' && buyer?.spec.trick === 'cancels-in-reorg') {
      trace.tell('cancelled in a reorg')
      chain.cancel(act.authorization)
    }
    return random() < 0.3
  }

  return {
    async payment(authorization) {
      const { nonce } = authorization
      const buyer = book.ofNonce(nonce)
      const nth = (sent.get(nonce) ?? 0) + 1
      sent.set(nonce, nth)
      if (buyer && nth === 1) playTrick(carrying, buyer, authorization)
      const delay = landingMs(buyer?.spec.lands ?? 'soon', nth, random())
      if (delay === undefined) await time.sleep(patienceMs)
      else await send(authorization, delay)
    },

    async refund(authorization) {
      const drawn = random()
      if (drawn > 0.9) await time.sleep(patienceMs)
      else await send(authorization, drawn > 0.8 ? 40_000 : blockMs * (1 + Math.floor(drawn * 3)))
    },

    reorg(blocks) {
      const dropped = chain.drop(blocks)
      for (const mined of dropped) {
        trace.tell(`reorg dropped a transaction: ${mined.act.type}`)
        const buyer = nonceOf(mined.act) && book.ofNonce(nonceOf(mined.act) ?? '')
        if (isDropped({ mined, buyer: buyer || undefined })) continue
        const afterMs = blockMs * Math.floor(random() * 9)
        time.later(afterMs, () => void chain.mine(mined.act, mined.hash))
      }
    },
  }
}

function nonceOf(act: Act): string | undefined {
  return act.type === 'move' ? undefined : act.authorization.nonce
}

/** How long a payment takes to land; undefined if this submission is lost. Milliseconds. */
function landingMs(lands: Buyer['spec']['lands'], nth: number, drawn: number): number | undefined {
  switch (lands) {
    case 'soon':
      return blockMs * (1 + Math.floor(drawn * 3))
    case 'slowly':
      return 15_000 + 75_000 * drawn
    case 'second-try':
      return nth === 1 ? undefined : blockMs
    case 'never':
      return undefined
  }
}

/** What a payer or a stranger does with an authorization that the store has submitted. */
function playTrick({ time, chain, trace }: Carrying, buyer: Buyer, authorization: Authorization) {
  const { trick, trickAfterMs } = buyer.spec
  if (trick === 'none' || trick === 'cancels-in-reorg') return
  const acts: Readonly<Record<typeof trick, () => unknown>> = {
    'front-run': () => chain.execute(authorization),
    cancels: () => chain.cancel(authorization),
    'spends-elsewhere': () => chain.spendElsewhere(authorization),
    'empties-wallet': () =>
      chain.mine({
        type: 'move',
        from: buyer.wallet,
        to: `${refundWallet}-elsewhere`,
        value: chain.balanceOf(buyer.wallet),
      }),
  }
  // Most tricks are much faster than the payment.
  time.later(trickAfterMs % 3 === 0 ? trickAfterMs : trickAfterMs / 20, () => {
    trace.tell(`trick ${trick}`)
    acts[trick]()
  })
}
