import type { InvoicedCheckout, Return } from './checkout.ts'
import type { CheckoutStore } from './ports.ts'

/**
 * Makes a return due again that could not be sent, and leaves it to the sweep. It is the same return,
 * to the same address, and it can be sent once. Any other return is left as it is.
 */
export async function retryReturn(
  checkouts: Pick<CheckoutStore, 'move' | 'release'>,
  checkout: InvoicedCheckout,
  seq: number,
): Promise<void> {
  const again = (one: Return): Return =>
    one.seq === seq && one.step.type === 'FAILED' ? { ...one, step: { type: 'DUE' } } : one
  const returns = checkout.returns.map(again)
  if (returns.every((one, index) => one === checkout.returns[index])) return
  const moved = await checkouts.move(checkout, { ...checkout, returns })
  if (moved.won) await checkouts.release(moved.checkout, 0)
}
