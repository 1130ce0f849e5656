import { createLiveCatalog } from '../../src/catalog/catalog.ts'
import { fixturePayee } from '../../src/payments/payments.fixture.ts'
import { createDigest, createSigner, createVault } from '../../src/secrets/secrets.ts'
import { catalogOf } from '../fixtures/catalog.ts'
import { esim, fixed, fixturePricing, topup, voucher } from '../fixtures/offers.ts'

/** What the offers cost a buyer at first, and later: the supplier's prices below with 2.5 %, rounded up to the cent. */
export const prices: readonly Readonly<Record<string, bigint>>[] = [
  { CARD: 25_630_000n, CREDIT: 5_130_000n, PLAN: 4_620_000n },
  { CARD: 28_700_000n, CREDIT: 4_100_000n, PLAN: 6_150_000n },
]

/** The parts that all worlds share and no run changes. */
export function modelShop() {
  const key = Buffer.alloc(32, 7)
  const pricing = fixturePricing({ markupBps: 250 })
  const catalogAt = (card: number, credit: number, plan: number) =>
    catalogOf(
      [
        voucher('CARD', { price: fixed(card) }),
        topup('CREDIT', { price: fixed(credit) }),
        esim('PLAN', { price: fixed(plan) }),
      ],
      pricing,
    )
  const first = catalogAt(2_500, 500, 450)
  const liveCatalog = createLiveCatalog()
  liveCatalog.replace(first)
  return {
    pricing,
    liveCatalog,
    /** In the order of `prices`. */
    catalogs: [first, catalogAt(2_800, 400, 600)] as const,
    payee: fixturePayee,
    vault: createVault([key]),
    digest: createDigest([key], 'orders'),
    codes: createDigest([key], 'recovery-code'),
    signer: createSigner([key], 'quote'),
    policy: { deliverWithinMs: 600_000, refundGraceMs: 6 * 3_600_000, patienceMs: 20_000 },
  }
}
export type Shop = ReturnType<typeof modelShop>

/** The fields of a purchase of each kind. */
export const lineItems = {
  voucher: { offerId: 'CARD', firstName: 'Ada', lastName: 'Lovelace' },
  topup: { offerId: 'CREDIT', msisdn: '+50255512345' },
  esim: { offerId: 'PLAN', iccid: '8944500000000000017' },
} as const
