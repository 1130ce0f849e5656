import type { Checkout } from '../../checkouts/checkout.ts'
import { type StartDeps, startCheckout } from '../../checkouts/start.ts'
import { isCheckoutId } from '../../lib/ids.ts'
import { orNotNow } from '../buying/or-not-now.ts'
import type { TokenDeps } from '../tracking/tokens.ts'
import { opensCheckout } from './owner.ts'
import { sentForm } from './sent-form.ts'
import type { CheckoutService } from './service.ts'
import { checkoutView } from './view.ts'

/** The checkout service, over the store's own checkouts. */
export function createCheckoutService(
  deps: StartDeps & Pick<TokenDeps, 'tokenSigner'>,
): CheckoutService {
  const { tokenSigner, checkouts } = deps
  const found = async (id: string) => (isCheckoutId(id) ? checkouts.find(id) : undefined)
  const isOwn = (checkout: Checkout, token: string | undefined) =>
    opensCheckout({ tokenSigner, purchases: deps }, checkout, token)
  return {
    methods: deps.processor.methods,

    async start(form, admit) {
      const { checkout, accessToken } = await startCheckout(deps, form, admit)
      return { id: checkout.id, orderId: checkout.orderId, accessToken }
    },

    view: (id, token, log) =>
      orNotNow(log, async () => {
        const checkout = await found(id)
        return checkout && checkoutView(deps, checkout, isOwn(checkout, token))
      }),

    sent: (id, token, log) =>
      orNotNow(log, async () => {
        const checkout = await found(id)
        return checkout && isOwn(checkout, token) ? sentForm(deps, checkout) : undefined
      }),
  }
}
