import type { FastifyBaseLogger } from 'fastify'
import { testApp } from '../../../test/fixtures/app.ts'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import {
  esim,
  fixed,
  fixturePricing,
  open,
  shopOffers,
  topup,
  voucher,
} from '../../../test/fixtures/offers.ts'
import type { CheckoutService } from '../../api/checkout.ts'
import type { BuyingDeps } from '../../api/operation.ts'
import type { OrderTrackingDeps } from '../../api/tracking/order-view.ts'
import { createLiveCatalog, type LiveCatalog } from '../../catalog/catalog.ts'
import { noRules, type SellingRules } from '../../catalog/selling-rules.ts'
import { networks } from '../../payments/networks.ts'
import { createDigest } from '../../secrets/secrets.ts'
import type { CoinRates } from '../buying/buy-form.ts'
import type { TrackingDeps } from '../orders/tracking.ts'
import { routeWeb } from '../routes.ts'
import { type Texts, textsIn } from '../texts/texts.ts'

/** A text by which an attacker would inject script through a catalog. */
export const breakout = `</title></script><script>alert(1)</script><!-- "' onerror="x" & é`

const oddOffers = [
  voucher('HOSTILE', {
    brandName: breakout,
    description: breakout,
    shortNotes: breakout,
    notes: `First.\n\nSecond ${breakout}`,
    redemptionInstructions: breakout,
    subTypes: [breakout],
    regions: [breakout],
    image: `https://img.example/a.png?"><script>alert(1)</script>`,
  }),
  topup('FREE_MINUTES', {
    allowance: { voiceUnlimited: true, smsNumber: 1, dataGb: 0.5, durationDays: 1 },
  }),
  voucher('PRICED_IN_CLP', { price: fixed(9000, 'CLP', 1), country: 'CL' }),
  esim('ESIM-UK', { country: 'GB', coverage: [{ country: 'GB', speeds: ['5G', '4G'] }] }),
  voucher('IN_EUROS', {
    price: open(500, 50_000, 100),
    faceValue: { ...open(430, 43_000, 1), currency: 'EUR' },
  }),
  voucher('CURIOUS', {
    requiredFields: ['recipient.msisdn', 'sender.address.country', 'delivery.message'],
  }),
  voucher('CHEAP', { price: fixed(50), faceValue: fixed(50) }),
]

/** The pages over a small catalog with hostile and odd offers in it. */
export function website(
  changes: {
    liveCatalog?: LiveCatalog
    isSandbox?: boolean
    markupBps?: number
    rules?: SellingRules
    buying?: BuyingDeps
    tracking?: TrackingDeps
    checkout?: CheckoutService
    rates?: CoinRates
    sandboxPayUrl?: (invoice: string) => string
    t?: Texts
    log?: FastifyBaseLogger
  } = {},
) {
  const rules = changes.rules ?? noRules
  const pricing = fixturePricing({ markupBps: changes.markupBps ?? 0, rules: () => rules })
  const catalog = catalogOf([...shopOffers, ...oddOffers], pricing)
  const liveCatalog = changes.liveCatalog ?? createLiveCatalog(catalog)
  const { app, deps, logged, pass } = testApp({
    liveCatalog,
    pricing,
    pageFor: (...told) => pageFor(...told),
    ...(changes.log && { log: changes.log }),
  })
  const pageFor = routeWeb(app, {
    ...deps,
    networkName: 'Base',
    fulfillmentDeadlineSeconds: 600,
    isSandbox: changes.isSandbox ?? false,
    t: changes.t ?? textsIn('en'),
    payee: { network: networks.base, payTo: '0x1111111111111111111111111111111111111111' },
    checkout: changes.checkout,
    rates: changes.rates,
    sandboxPayUrl: changes.sandboxPayUrl,
    buying: changes.buying ?? ({} as BuyingDeps),
    tracking: changes.tracking ?? {
      follow: { codes: createDigest([Buffer.alloc(32)], 'recovery-code') } as OrderTrackingDeps,
      limits: deps.limits,
    },
  })
  const get = async (url: string, headers: Record<string, string> = {}) => {
    return app.inject({ method: 'GET', url, headers })
  }
  /** As a browser sends the form of one of our pages. */
  const post = async (
    url: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string | undefined>> = {},
  ) => {
    const payload = new URLSearchParams(fields).toString()
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    const all = { ...type, 'sec-fetch-site': 'same-origin', ...headers }
    const named = Object.entries(all).filter(([, value]) => value !== undefined)
    return app.inject({ method: 'POST', url, payload, headers: Object.fromEntries(named) })
  }
  return { app, deps, get, post, logged, pass }
}

/** The visible text of a page: without tags, each run of white space as one space. */
export function read(page: string): string {
  return page
    .replace(/<[^>]*>/g, ' ')
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, ' ')
}
