import type { FastifyInstance } from 'fastify'
import type { Brand } from './catalog/catalog.ts'
import { hash32 } from './catalog/rng.ts'
import { voucherBrands } from './catalog/voucher-brands.ts'
import { notFound } from './faults.ts'

const paysFor = new Map(voucherBrands.map((brand) => [brand.brand, brand.paysFor]))

function colourOf(brand: string): string {
  return `#${[0, 8, 16].map((shift) => (32 + ((hash32(brand) >>> shift) & 0x7f)).toString(16)).join('')}`
}

function descriptionOf({ brand, brandName, family }: Brand): string {
  if (family === 'vouchers') {
    const use = paysFor.get(brand) ?? 'trying this sandbox'
    return `${brandName} gift cards pay for ${use}. The code is delivered at once.`
  }
  if (family === 'topups') return `Airtime and data for prepaid numbers of ${brandName}.`
  return `Mobile data abroad with ${brandName}: an eSIM that installs in minutes.`
}

function imageOf({ brand, brandName }: Brand): string {
  const name = brandName.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 300" role="img">' +
    `<rect width="480" height="300" rx="24" fill="${colourOf(brand)}"/>` +
    '<text x="240" y="166" fill="#fff" font-family="sans-serif" font-size="40" ' +
    `text-anchor="middle" textLength="${Math.min(400, name.length * 24)}">${name}</text></svg>`
  )
}

/** Routes of brands: what the store reads of them, and their images, which need no key, as on a CDN. */
export function brandRoutes(app: FastifyInstance, brands: ReadonlyMap<string, Brand>): void {
  const find = (brand: string): Brand => {
    const found = brands.get(brand)
    if (!found) throw notFound(`The brand ${brand}`)
    return found
  }
  type OfBrand = { Params: { brand: string } }
  app.get<OfBrand>('/v1/brands/:brand', ({ params, protocol, host }) => {
    const { brand, brandName, ...rest } = find(params.brand)
    const image = `${protocol}://${host}/assets/brands/${brand}/gift.svg`
    return {
      ...{ brand, brandName, brandColor: colourOf(brand), brandGiftImage: image },
      ...{ brandBigImage: image, brandLogo: image, brandLogoExtension: 'svg', brandInfoPdf: '' },
      description: descriptionOf({ brand, brandName, ...rest }),
    }
  })
  app.get<OfBrand>('/assets/brands/:brand/gift.svg', ({ params }, reply) =>
    reply.type('image/svg+xml').send(imageOf(find(params.brand))),
  )
}
