import { createShelf } from '../../src/goods/catalog.ts'
import { fixtureTill } from '../../src/payments/payments.fixture.ts'
import { createDigest, createSigner } from '../../src/secrets/tokens.ts'
import { createVault } from '../../src/secrets/vault.ts'
import { catalogOf } from '../fixtures/catalog.ts'
import { esim, fixturePricing, topup, voucher } from '../fixtures/offers.ts'

/** What every world has in common and no run changes. */
export function modelShop() {
  const key = Buffer.alloc(32, 7)
  const pricing = fixturePricing()
  const shelf = createShelf()
  shelf.replace(catalogOf([voucher('CARD'), topup('CREDIT'), esim('PLAN')], pricing))
  return {
    pricing,
    shelf,
    till: fixtureTill,
    vault: createVault([key]),
    digest: createDigest([key], 'orders'),
    signer: createSigner([key], 'quote'),
    policy: { deliverWithinMs: 600_000, refundGraceMs: 6 * 3_600_000, patienceMs: 20_000 },
  }
}
export type Shop = ReturnType<typeof modelShop>

/** What a buyer of each kind fills in. */
export const wishes = {
  voucher: { offerId: 'CARD', firstName: 'Ada', lastName: 'Lovelace' },
  topup: { offerId: 'CREDIT', msisdn: '+50255512345' },
  esim: { offerId: 'PLAN', iccid: '8944500000000000017' },
} as const
