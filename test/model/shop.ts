import { createLiveCatalog } from '../../src/catalog/catalog.ts'
import { fixturePayee } from '../../src/payments/payments.fixture.ts'
import { createDigest, createSigner } from '../../src/secrets/tokens.ts'
import { createVault } from '../../src/secrets/vault.ts'
import { catalogOf } from '../fixtures/catalog.ts'
import { esim, fixturePricing, topup, voucher } from '../fixtures/offers.ts'

/** The parts that all worlds share and no run changes. */
export function modelShop() {
  const key = Buffer.alloc(32, 7)
  const pricing = fixturePricing()
  const liveCatalog = createLiveCatalog()
  liveCatalog.replace(catalogOf([voucher('CARD'), topup('CREDIT'), esim('PLAN')], pricing))
  return {
    pricing,
    liveCatalog,
    payees: [fixturePayee] as const,
    vault: createVault([key]),
    digest: createDigest([key], 'orders'),
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
