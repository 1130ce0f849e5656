import { describe, expect, test } from 'vitest'
import { allItems, callerFor } from './reading.ts'
import { useStore } from './store.ts'

const store = useStore('still')
const call = callerFor(store)

type Check = (value: unknown) => boolean
type Item = Readonly<Record<string, unknown>>

const isText: Check = (value) => typeof value === 'string' && value !== ''
const isUri: Check = (value) => typeof value === 'string' && URL.canParse(value)
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText)
const isWhole: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0
const isNumber: Check = (value) => typeof value === 'number' && value > 0
const isFlag: Check = (value) => typeof value === 'boolean'
const isCode: Check = (value) => typeof value === 'string' && /^[A-Z]{2}$/.test(value)
const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value)

/** A price as published: always an object, with integers in minor units (docs/contributors/decisions/003). */
const isMoney: Check = (value) => {
  const { currency, currencyDivisor, ...amounts } = value as Item
  const names = Object.keys(amounts).sort().join()
  return (
    /^[A-Z]{3}$/.test(String(currency)) &&
    [1, 10, 100, 1000].includes(Number(currencyDivisor)) &&
    (names === 'fixed' || names === 'max,min') &&
    Object.values(amounts).every((amount) => isWhole(amount) && Number(amount) > 0) &&
    Number(amounts['min'] ?? 0) <= Number(amounts['max'] ?? 0)
  )
}

const isAtomic: Check = (value) => typeof value === 'string' && /^[1-9]\d*0000$/.test(value)

/** What is paid: whole cents in atomic USDC. */
const isUsdc: Check = (value) => {
  const { decimals, ...amounts } = value as Item
  const names = Object.keys(amounts).sort().join()
  return (
    decimals === 6 &&
    (names === 'amount' || names === 'increment,max,min') &&
    Object.values(amounts).every(isAtomic)
  )
}

/** What the field `value` of a purchase takes, in dollars. */
const isOpenValue: Check = (value) => {
  const { unit, min, max, step, ...others } = value as Item
  return (
    unit === 'USD' &&
    [min, max, step].every(isNumber) &&
    Number(min) <= Number(max) &&
    Object.keys(others).length === 0
  )
}

/** The documented fields; those with a question mark are absent where they do not apply. */
type Fields = Readonly<Record<string, Check>>

const shared = {
  offerId: isText,
  brand: isText,
  regions: isTexts,
  subTypes: isTexts,
  price: isMoney,
  buy_url: isUri,
}
const allowance = { 'dataGb?': isNumber, 'dataUnlimited?': isFlag, 'durationDays?': isWhole }
const units = { 'voiceMinutes?': isWhole, 'smsNumber?': isWhole }

const discovery: Readonly<Record<string, Fields>> = {
  vouchers: {
    ...shared,
    brandName: isText,
    'country?': isCode,
    'description?': isText,
    'shortNotes?': isText,
    productType: isText,
    'image?': isUri,
  },
  topups: { ...shared, brandName: isText, country: isCode, ...allowance, ...units },
  esims: { ...shared, 'country?': isCode, ...allowance, 'shortNotes?': isText },
}

const catalogMore: Fields = {
  brandName: isText,
  kind: oneOf('voucher', 'topup', 'esim'),
  productType: isText,
  'shortNotes?': isText,
  priceType: oneOf('FIXED', 'RANGE'),
  'faceValue?': isMoney,
  'value?': isOpenValue,
  'usdc?': isUsdc,
  requiredFields: isTexts,
  available: isFlag,
  'unavailableReason?': isText,
}
const catalog: Readonly<Record<string, Fields>> = {
  vouchers: { ...discovery['vouchers'], ...catalogMore, categories: isTexts },
  topups: { ...discovery['topups'], ...catalogMore },
  esims: { ...discovery['esims'], ...units, ...catalogMore },
}

/** Every fault of the items against the documented fields: missing, too many, or of another form. */
function faultsOf(items: readonly Item[], fields: Fields): string[] {
  return items.flatMap((item) => {
    const known = Object.entries(fields).map(([name, check]) => ({
      name: name.replace('?', ''),
      optional: name.endsWith('?'),
      check,
    }))
    const names = known.map(({ name }) => name)
    const extra = Object.keys(item).filter((name) => !names.includes(name))
    const wrong = known
      .filter(({ name, optional }) => !(optional && !(name in item)))
      .filter(({ name, check }) => !check(item[name]))
    return [...extra, ...wrong.map(({ name }) => name)].map(
      (name) => `${item['offerId']}.${name} = ${JSON.stringify(item[name])}`,
    )
  })
}

describe.each(['vouchers', 'topups', 'esims'])('%s', (family) => {
  test('of discovery have exactly the documented fields', async () => {
    const items = await allItems(call, `/ai/${family}`, 50)
    expect(items.length).toBeGreaterThan(0)
    expect(faultsOf(items, discovery[family] ?? {})).toEqual([])
  })

  test('of the catalog carry all that and what a buyer needs', async () => {
    const items = await allItems(call, `/api/catalog/${family}/offers`, 100)
    expect(faultsOf(items, catalog[family] ?? {})).toEqual([])
    const kind = family.slice(0, -1)
    for (const item of items) {
      const { available, unavailableReason, usdc, priceType, price, requiredFields } = item
      const about = String(item['offerId'])
      expect(item['kind'], about).toBe(kind)
      expect(unavailableReason === undefined, about).toBe(available)
      expect(usdc !== undefined, about).toBe(available)
      expect('value' in item, about).toBe(priceType === 'RANGE' && available)
      expect('min' in (price as Item), about).toBe(priceType === 'RANGE')
      expect((requiredFields as string[]).includes('value'), about).toBe(priceType === 'RANGE')
    }
  })

  test('have a detail each that adds the refund rule and how to buy', async () => {
    const listed = await allItems(call, `/api/catalog/${family}/offers`, 100)
    const more = { 'notes?': isText, refundRule: isText, purchase: (value: unknown) => !!value }
    const own =
      family === 'vouchers'
        ? { 'redemptionInstructions?': isText }
        : family === 'esims'
          ? { coverage: Array.isArray }
          : {}
    for (const item of listed) {
      const id = encodeURIComponent(String(item['offerId']))
      const { status, body } = await call(`/api/catalog/${family}/offers/${id}`)
      expect(status).toBe(200)
      expect(body).toMatchObject(item)
      expect(faultsOf([body], { ...catalog[family], ...more, ...own })).toEqual([])
      expect(body.purchase.bodySchema.properties.offerId.const).toBe(item['offerId'])
      expect(body.purchase.bodySchema.required).toEqual(
        expect.arrayContaining(['offerId', ...(item['requiredFields'] as string[])]),
      )
    }
  })
})

test('each list of values agrees with the offers it counts', async () => {
  const vouchers = await allItems(call, '/api/catalog/vouchers/offers', 100)
  const topups = await allItems(call, '/api/catalog/topups/offers', 100)
  const tally = (items: readonly Item[], name: string) => {
    const counts: Record<string, number> = {}
    for (const value of items.flatMap((item) => [item[name] ?? []].flat())) {
      counts[String(value)] = (counts[String(value)] ?? 0) + 1
    }
    return counts
  }
  const countsIn = async (path: string, key: string) => {
    const { body } = await call(`/api/catalog/${path}`)
    expect(body).toMatchObject({ total: body.items.length, limit: body.items.length, offset: 0 })
    return Object.fromEntries(body.items.map((item: Item) => [item[key], item['offers']]))
  }
  expect(await countsIn('vouchers/countries', 'code')).toEqual(tally(vouchers, 'country'))
  expect(await countsIn('topups/countries', 'code')).toEqual(tally(topups, 'country'))
  expect(await countsIn('topups/regions', 'name')).toEqual(tally(topups, 'regions'))
  expect(await countsIn('vouchers/brands', 'brand')).toEqual(tally(vouchers, 'brand'))

  const { body: filters } = await call('/api/catalog/vouchers/filters')
  // Names that differ in case only are one value of a filter that compares without case.
  const sorted = (names: string[]) => [...new Set(names.map((name) => name.toLowerCase()))].sort()
  expect(sorted(filters.brands)).toEqual(sorted(Object.keys(tally(vouchers, 'brandName'))))
  expect(sorted(filters.categories)).toEqual(sorted(Object.keys(tally(vouchers, 'categories'))))
  expect(sorted(filters.countries)).toEqual(sorted(Object.keys(tally(vouchers, 'country'))))
})

test('items of the lists of values have the decided fields', async () => {
  const { body: brands } = await call('/api/catalog/vouchers/brands')
  const { body: countries } = await call('/api/catalog/topups/countries')
  const { body: regions } = await call('/api/catalog/topups/regions')
  const brand = { brand: isText, brandName: isText, countries: isTexts, offers: isNumber }
  expect(faultsOf(brands.items, brand)).toEqual([])
  expect(faultsOf(countries.items, { code: isCode, name: isText, offers: isNumber })).toEqual([])
  expect(faultsOf(regions.items, { slug: isText, name: isText, offers: isNumber })).toEqual([])
})

test('the index and the capabilities have exactly the documented fields', async () => {
  const { body: index } = await call('/ai')
  const isPath: Check = (value) => typeof value === 'string' && value.startsWith('/ai/')
  const catalogs = { vouchers: isPath, topups: isPath, esims: isPath }
  const within =
    (fields: Fields): Check =>
    (value) =>
      faultsOf([value as Item], fields).length === 0
  const indexFields = {
    name: isText,
    description: isText,
    accepts_crypto: isTexts,
    delivery: isText,
    website: isUri,
    search: isPath,
    catalogs: within(catalogs),
    capabilities: isPath,
    version: isText,
    offers: within({ vouchers: isText, topups: isText, esims: isText }),
    catalog: isText,
    manifest: isText,
    mcp: isText,
    openapi: isText,
  }
  expect(faultsOf([index], indexFields)).toEqual([])
  for (const path of [...Object.values(index.catalogs), index.capabilities]) {
    expect((await call(String(path))).status).toBe(200)
  }
  const { body: capabilities } = await call('/ai/capabilities')
  const voucherFields = {
    countries: isTexts,
    subtypes: isTexts,
    regions: isTexts,
    brands: isTexts,
    query_url: isPath,
  }
  const capabilityFields = {
    version: isText,
    accepts_crypto: isTexts,
    delivery: oneOf('instant'),
    no_account_required: oneOf(true),
    vouchers: within(voucherFields),
    topups: within({ countries: isTexts, regions: isTexts, query_url: isPath }),
    esims: within({ coverage: isText, query_url: isPath }),
  }
  expect(faultsOf([capabilities], capabilityFields)).toEqual([])
})

test('the page behind every kind of buy_url exists', async () => {
  for (const family of ['vouchers', 'topups', 'esims']) {
    const { body } = await call(`/ai/${family}?limit=5`)
    for (const { buy_url } of body.items) {
      const page = await call(new URL(buy_url).pathname)
      expect([page.status, page.headers.get('content-type')]).toEqual([
        200,
        'text/html; charset=utf-8',
      ])
    }
  }
})
