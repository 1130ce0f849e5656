import { Refusal } from '../lib/refusal.ts'
import { type Coin, coinAbilities } from '../payments/coins.ts'
import type { Digest } from '../secrets/tokens.ts'
import type { CheckoutIn } from './checkout.ts'
import { type CheckoutStore, TooManyUnpaid, type UnpaidBound } from './ports.ts'

/** How many unpaid checkouts of one client may wait in one coin. */
const most = 10
/** Where addresses are few and all buyers share them. */
const mostOfPool = 3

/**
 * Opens a checkout, unless its client has too many that nobody has paid: each takes an address of the
 * processor's.
 *
 * @throws Refusal `budget_spent`, with the number of `unpaid` ones
 */
export async function openBounded(
  { checkouts, marks }: { readonly checkouts: CheckoutStore; readonly marks: Digest },
  checkout: CheckoutIn<'OPENING'>,
  client: string | undefined,
): ReturnType<CheckoutStore['open']> {
  const { coin } = checkout
  const bound = client === undefined ? undefined : boundOf(coin, marks.of(`client:${client}`))
  try {
    return await checkouts.open(checkout, bound)
  } catch (error) {
    throw error instanceof TooManyUnpaid ? refusalOf(error, coin) : error
  }
}

/** An address of a pool stays with its checkout until that is closed, long after its time is over. */
function boundOf(coin: Coin, client: string): UnpaidBound {
  return coinAbilities[coin].isPooled
    ? { client, most: mostOfPool, states: ['OPENING', 'OPEN', 'ENDED'] }
    : { client, most, states: ['OPENING', 'OPEN'] }
}

function refusalOf({ unpaid }: TooManyUnpaid, coin: Coin): Refusal {
  const message = `${unpaid} unpaid checkouts in ${coin} are open from this address. Pay one, wait, or choose another coin.`
  return new Refusal('budget_spent', message, { charged: 'no', extra: { unpaid } })
}
