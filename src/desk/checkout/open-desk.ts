import { type StartDeps, startCheckout } from '../../checkouts/start.ts'
import { isCheckoutId } from '../../primitives/ids.ts'
import type { CheckoutDesk } from './desk.ts'
import { sentForm } from './sent-form.ts'
import { checkoutView, isOwner } from './view.ts'

/** The desk of the checkout, over the store's own checkouts. */
export function openCheckoutDesk(deps: StartDeps): CheckoutDesk {
  const found = async (id: string) => (isCheckoutId(id) ? deps.checkouts.find(id) : undefined)
  return {
    methods: deps.processor.methods,

    async start(form, admit) {
      const { checkout, accessToken } = await startCheckout(deps, form, admit)
      return { id: checkout.id, orderId: checkout.orderId, accessToken }
    },

    async view(id, accessToken) {
      const checkout = await found(id)
      return checkout && checkoutView(deps, checkout, accessToken)
    },

    async sent(id, accessToken) {
      const checkout = await found(id)
      return checkout && isOwner(checkout, accessToken) ? sentForm(deps, checkout) : undefined
    },
  }
}
