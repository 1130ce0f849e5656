import { expect, test } from 'vitest'
import { checkoutService } from '../../test/fixtures/checkouts.ts'
import { routesIn } from '../../test/harness/routes-in.ts'
import type { MailDeps } from '../api/tracking/find.ts'
import type { OrderTrackingDeps } from '../api/tracking/order-view.ts'
import { createLimits } from '../http/gate.ts'
import { interfaces } from './frame/senders.ts'
import { website } from './frame/website.fixture.ts'

const tracking = {
  follow: {} as OrderTrackingDeps,
  mail: {} as MailDeps,
  limits: createLimits(),
}
const { app, get } = website({ checkout: checkoutService().checkouts, tracking })
await app.ready()

/** Paths to which pages post forms, and which the address bar shows afterwards. */
const forms = routesIn(app.printRoutes({ commonPrefix: false })).filter(
  ({ route, methods }) => methods.includes('POST') && !interfaces.test(route),
)

test('there are forms', () => {
  expect(forms.map(({ route }) => route)).toContain('/orders/:orderId/goods')
})

test.each(forms)('$route is an address that a browser can restore', async ({ route, methods }) => {
  expect(methods).toContain('GET')
  const step = route.slice(0, route.lastIndexOf('/'))
  if (!['/open', '/goods', '/mail'].some((end) => route.endsWith(end))) return
  const { statusCode, headers } = await get(route.replace(/:\w+/, 'a%2F%0d%0ab'))
  // A parameter in the path stays one segment of the path, whatever its value.
  expect([statusCode, headers.location]).toEqual([303, step.replace(/:\w+/, 'a%2F%0D%0Ab')])
  expect(headers['cache-control']).toBe('no-store')
})
