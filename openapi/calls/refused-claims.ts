import { newKey } from './call.ts'
import type { Recipe } from './refusals.ts'

const isClaim = ({ id }: { readonly id: string }) => id === 'claimRefund'

/** How refund claims, and other calls that need an idempotency key, are made to refuse. */
export const claimRecipes: Readonly<Record<string, Recipe>> = {
  idempotency_key_missing: () => ({ body: {} }),
  idempotency_conflict: async (operation, shop) => {
    if (!isClaim(operation)) return undefined
    const { orderId } = await shop.bought('voucher', 'FAIL')
    return { params: { orderId }, headers: await shop.claimed(orderId), body: { reason: 'again' } }
  },
  invalid_body: (operation) =>
    isClaim(operation) ? { headers: newKey(), body: { colour: 'red' } } : undefined,
  refund_destination_refused: () => ({
    headers: newKey(),
    body: { refund_to: `0x${'1'.repeat(40)}` },
  }),
  budget_spent: async (operation, shop) => {
    if (!isClaim(operation)) return undefined
    const { orderId } = await shop.bought('esim', 'FAIL')
    await shop.claimedOften(orderId)
    return { params: { orderId }, headers: newKey(), body: {} }
  },
  not_refundable: (operation) => (isClaim(operation) ? { headers: newKey(), body: {} } : {}),
  order_not_found: (operation) =>
    isClaim(operation) ? { headers: newKey(), body: {} } : undefined,
  try_again: (operation) => (isClaim(operation) ? { headers: newKey(), body: {} } : undefined),
}
