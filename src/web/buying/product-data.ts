import type { Site } from '../../api/site.ts'
import type { Offer } from '../../catalog/offer.ts'
import type { PriceTexts } from '../shop/money-text.ts'
import { kindName, productName } from '../shop/offer-words.ts'
import { countryName } from '../texts/countries.ts'
import type { Texts } from '../texts/texts.ts'

/** The offer as schema.org data for search engines: a Product with an Offer. */
export function productData(
  offer: Offer,
  price: PriceTexts,
  { site, url, t }: { readonly site: Site; readonly url: string; readonly t: Texts },
): object {
  const { notes, shortNotes } = offer
  const about = offer.kind === 'voucher' ? offer.description : undefined
  return {
    '@context': 'https://schema.org',
    '@type': 'Product',
    '@id': `${url}#product`,
    url,
    name: productName(offer, t),
    description: shortNotes ?? notes ?? about ?? productName(offer, t),
    sku: offer.id,
    category: [kindName(offer, t), ...offer.subTypes].join(' > '),
    brand: { '@type': 'Brand', name: offer.brandName },
    image: offer.kind === 'voucher' ? offer.image : undefined,
    offers: {
      ...priceFields(price),
      url,
      availability: `https://schema.org/${price.type === 'NOT_SOLD' ? 'OutOfStock' : 'InStock'}`,
      areaServed: countriesOf(offer).map((code) => ({
        '@type': 'Country',
        name: countryName(code, t),
        identifier: code,
      })),
      seller: { '@type': 'Organization', name: site.name, url: site.url, email: site.contact },
    },
  }
}

/** An open value has no single price but bounds, which only an AggregateOffer can carry. */
function priceFields(price: PriceTexts): object {
  switch (price.type) {
    case 'FIXED':
      return { '@type': 'Offer', price: price.usd, priceCurrency: 'USD' }
    case 'RANGE':
      return {
        '@type': 'AggregateOffer',
        lowPrice: price.minUsd,
        highPrice: price.maxUsd,
        price: price.minUsd,
        priceCurrency: 'USD',
      }
    case 'NOT_SOLD':
      return { '@type': 'Offer' }
  }
}

function countriesOf(offer: Offer): readonly string[] {
  if (offer.country !== undefined) return [offer.country]
  return offer.kind === 'esim' ? offer.coverage.map(({ country }) => country) : []
}
