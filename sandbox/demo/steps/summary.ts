import type { Step } from '../demo.ts'
import { audit, coinProblems, type Purchase } from '../ledger.ts'
import { usdcText } from '../money.ts'
import { coin } from '../person.ts'
import { table } from '../print.ts'
import { coinText } from './coins.ts'

/** Adds everything up and compares it with the chain. */
export const summary: Step = {
  name: 'summary',
  title: 'Add it all up',
  async run({ buyer, tell }, { start, purchases, coinPayments }) {
    const final = await buyer.balance()
    const { spent, refunded, expected, problems: inUsdc } = audit(purchases, { start, final })
    const problems = [...inUsdc, ...coinProblems(coinPayments)]
    tell.block(tableOf(purchases))
    tell.fact('Began with', `${usdcText(start)} USDC`)
    tell.fact('Spent', `${usdcText(spent)} USDC in ${purchases.length} purchases`)
    tell.fact('Refunded', `${usdcText(refunded)} USDC`)
    tell.fact('Expected', `${usdcText(expected)} USDC, what it began with less what was delivered`)
    tell.fact('On chain', `${usdcText(final)} USDC`)
    for (const { id, state, paid, returned } of coinPayments) {
      const back = `${coinText(returned)} came back`
      tell.fact(`In ${coin}`, `${id} ${state}: ${coinText(paid)} paid, ${back}`)
    }
    if (problems.length > 0) throw new Error(`The money does not add up. ${problems.join(' ')}`)
    tell.fact('', 'It adds up.')
    return {
      change: 0n,
      data: {
        purchases: purchases.map(({ paid, refunded: back, ...purchase }) => ({
          ...purchase,
          paidUsdc: usdcText(paid),
          refundedUsdc: usdcText(back),
        })),
        startUsdc: usdcText(start),
        spentUsdc: usdcText(spent),
        refundedUsdc: usdcText(refunded),
        expectedUsdc: usdcText(expected),
        finalUsdc: usdcText(final),
      },
    }
  },
}

function tableOf(purchases: readonly Purchase[]): string {
  const rows = purchases.map(({ offerId, orderId, state, paid, refunded }) => [
    offerId,
    orderId,
    state,
    usdcText(paid),
    usdcText(refunded),
  ])
  return table([['Offer', 'Order', 'State', 'Paid', 'Refunded'], ...rows], 3)
}
