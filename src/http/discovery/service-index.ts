import type { ReadDeps } from '../deps.ts'
import { readParams } from '../params.ts'
import type { Published } from '../views/discovery-offer.ts'
import { paths } from './paths.ts'

/** `GET /ai`: where everything is. */
export function serviceIndex(url: string, { site }: ReadDeps): Published {
  readParams(url, {})
  return {
    name: site.name,
    description: site.description,
    accepts_crypto: site.acceptsCrypto,
    delivery: 'instant',
    website: site.url,
    catalogs: { vouchers: paths.vouchers, topups: paths.topups, esims: paths.esims },
    capabilities: paths.capabilities,
  }
}
