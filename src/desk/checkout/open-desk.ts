import { type StartDeps, startCheckout } from '../../checkouts/start.ts'
import { isCheckoutId } from '../../primitives/ids.ts'
import type { CheckoutDesk } from './desk.ts'
import { checkoutView } from './view.ts'

/** The desk of the checkout, over the store's own checkouts. */
export function openCheckoutDesk(deps: StartDeps): CheckoutDesk {
  return {
    methods: deps.processor.methods,

    async start(form) {
      const { checkout, accessToken } = await startCheckout(deps, form)
      return { id: checkout.id, orderId: checkout.orderId, accessToken }
    },

    async view(id, accessToken) {
      const checkout = isCheckoutId(id) ? await deps.checkouts.find(id) : undefined
      return checkout && checkoutView(checkout, accessToken, deps.now())
    },
  }
}
