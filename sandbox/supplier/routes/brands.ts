import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { notFound, parsed } from '../api-error.ts'
import type { Brand } from '../catalog/catalog.ts'
import { hash32 } from '../catalog/rng.ts'
import { voucherBrands } from '../catalog/voucher-brands.ts'
import type { Deps } from '../deps.ts'
import { pageOf, pagingOf } from '../page.ts'

const paysFor = new Map(voucherBrands.map((brand) => [brand.brand, brand.paysFor]))
const countryQuery = z.object({ country: z.string().optional() })
const instructionQuery = z.object({
  country: z.string().default(''),
  deliveryType: z.string().default(''),
  language: z.string().default('en'),
})

/** A colour for each brand, dark enough for white letters. */
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

function instructionsOf({ brandName, family }: Brand): string {
  if (family === 'vouchers') {
    return `1. Sign in to ${brandName}. 2. Choose "Redeem a gift card". 3. Enter the code. The value is added to your account.`
  }
  if (family === 'topups')
    return 'Nothing to do: the number is credited and informed by text message.'
  return 'Scan the QR code in the mobile network settings of your phone, then switch on data roaming.'
}

function infoOf(brand: Brand, base: string) {
  const images = `${base}/assets/brands/${brand.brand}`
  return {
    brand: brand.brand,
    brandBigImage: `${images}/big.svg`,
    brandColor: colourOf(brand.brand),
    brandGiftImage: `${images}/gift.svg`,
    brandInfoPdf: '',
    brandLogo: `${images}/logo.svg`,
    brandLogoExtension: 'svg',
    brandName: brand.brandName,
    description: descriptionOf(brand),
    inputMasks: [],
    redemptionInstructions: [...brand.countries]
      .filter((country) => country !== '')
      .map((country) => ({
        country,
        deliveryType: 'EPIN',
        language: 'en',
        link: `${base}/v1/brands/${brand.brand}/redemptionInstructions?country=${country}`,
      })),
    requiredFieldsLabels: [
      { label: 'First name', requiredField: 'recipient.firstName' },
      { label: 'Last name', requiredField: 'recipient.lastName' },
      { label: 'E-mail', requiredField: 'recipient.email' },
      { label: 'Country', requiredField: 'recipient.country' },
    ],
  }
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

function baseOf(request: FastifyRequest): string {
  return `${request.protocol}://${request.host}`
}

type OfBrand = { Params: { brand: string } }

/** Routes of brands, with descriptions, images and instructions. Images need no key, as on a CDN. */
export function brandRoutes(app: FastifyInstance, deps: Deps): void {
  const find = (brand: string): Brand => {
    const found = deps.catalog.brands.get(brand)
    if (!found) throw notFound(`The brand ${brand}`)
    return found
  }
  app.get('/v1/brands', (request) => {
    const paging = pagingOf(request.query)
    const { country } = parsed(countryQuery, request.query)
    const brands = [...deps.catalog.brands.values()]
      .filter((brand) => country === undefined || brand.countries.has(country))
      .map(({ brand, brandName }) => ({ brand, brandName }))
    return pageOf(brands, paging)
  })
  app.get<OfBrand>('/v1/brands/:brand', (request) => {
    return infoOf(find(request.params.brand), baseOf(request))
  })
  app.get<OfBrand>('/v1/brands/:brand/redemptionInstructions', (request) => {
    const asked = parsed(
      instructionQuery as z.ZodType<z.infer<typeof instructionQuery>>,
      request.query,
    )
    return {
      ...asked,
      redemptionInstructions: instructionsOf(find(request.params.brand)),
      redemptionVideo: '',
      terms: 'Not exchangeable for cash. Subject to the terms of the brand.',
    }
  })
  app.get<{ Params: { brand: string; image: string } }>(
    '/assets/brands/:brand/:image',
    (request, reply) => reply.type('image/svg+xml').send(imageOf(find(request.params.brand))),
  )
}
