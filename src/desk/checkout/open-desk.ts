import type { Checkout } from '../../checkouts/checkout.ts'
import { type StartDeps, startCheckout } from '../../checkouts/start.ts'
import { isCheckoutId } from '../../primitives/ids.ts'
import { orNotNow } from '../buying/or-not-now.ts'
import type { PassDeps } from '../following/passes.ts'
import type { CheckoutDesk } from './desk.ts'
import { opensCheckout } from './owner.ts'
import { sentForm } from './sent-form.ts'
import { checkoutView } from './view.ts'

/** The desk of the checkout, over the store's own checkouts. */
export function openCheckoutDesk(deps: StartDeps & Pick<PassDeps, 'passes'>): CheckoutDesk {
  const { passes, checkouts } = deps
  const found = async (id: string) => (isCheckoutId(id) ? checkouts.find(id) : undefined)
  const isOwn = (checkout: Checkout, opener: string | undefined) =>
    opensCheckout({ passes, purchases: deps }, checkout, opener)
  return {
    methods: deps.processor.methods,

    async start(form, admit) {
      const { checkout, accessToken } = await startCheckout(deps, form, admit)
      return { id: checkout.id, orderId: checkout.orderId, accessToken }
    },

    view: (id, opener, log) =>
      orNotNow(log, async () => {
        const checkout = await found(id)
        return checkout && checkoutView(deps, checkout, isOwn(checkout, opener))
      }),

    sent: (id, opener, log) =>
      orNotNow(log, async () => {
        const checkout = await found(id)
        return checkout && isOwn(checkout, opener) ? sentForm(deps, checkout) : undefined
      }),
  }
}
