import type { EsimOffer } from '../models.ts'
import { convert, fixedPrice } from './amounts.ts'
import { type Area, areas } from './esim-areas.ts'
import { hash32, random, stamps } from './rng.ts'
import { nothing } from './test-offers.ts'

const providers = [
  { brand: 'UBIGI', brandName: 'Ubigi' },
  { brand: 'GIGSKY', brandName: 'GigSky' },
  { brand: 'TRUPHONE', brandName: 'Truphone' },
  { brand: 'FLEXIROAM', brandName: 'Flexiroam' },
] as const
const house = { brand: 'ESIM', brandName: 'Travel eSIM' }

interface Plan {
  readonly gb: number | undefined
  readonly days: number
  readonly tier: 'Standard' | 'Fast' | 'Faster' | 'Fastest'
  readonly roams: boolean
}

const standard = '1 7,3 30,5 30,10 30,2 15,20 30,0.5 1,50 90,3 15,1 1'.split(',')
const sizes = [1, 2, 3, 5, 8, 10, 15, 20, 25, 30, 40, 50, 100]
const spans = [3, 5, 7, 10, 14, 15, 30, 45, 60, 90, 180, 365]

const standardPlan = (text: string): Plan => {
  const [gb, days = 0] = text.split(' ').map(Number)
  return { gb, days, tier: 'Standard', roams: true }
}
const grid = sizes
  .flatMap((gb) => spans.map((days) => `${gb} ${days}`))
  .filter((plan) => !standard.includes(plan))
const unlimited: readonly Plan[] = (['Fast', 'Faster', 'Fastest'] as const).flatMap((tier) =>
  [7, 1, 3, 5, 10, 15, 30].map((days) => ({ gb: undefined, days, tier, roams: true })),
)

/** The plans of an area, in the order in which the catalog adds them. */
const plans: readonly Plan[] = (() => {
  const usual = standard.map(standardPlan)
  const week = unlimited.filter((plan) => plan.days === 7)
  const others = unlimited.filter((plan) => plan.days !== 7)
  const further = [...usual.slice(4), ...others, ...grid.map(standardPlan)]
  const first = [...usual.slice(0, 4), ...week, ...further]
  const grounded = first.map((plan) => ({ ...plan, roams: false }))
  return [...first.slice(0, 7), ...grounded.slice(3, 4), ...first.slice(7), ...grounded.slice(4)]
})()

function idOf(area: Area, plan: Plan, provider: string): string {
  const volume = plan.gb === undefined ? 'UNLIMITED' : `${String(plan.gb).replace('.', '-')}GB`
  const tier = plan.tier === 'Standard' || plan.tier === 'Fast' ? '' : `-${plan.tier.toUpperCase()}`
  const maker = provider === house.brand ? '' : `-${provider}`
  return `ESIM${maker}-${area.id}-${plan.days}D-${volume}${tier}${plan.roams ? '' : '-NOROAM'}`
}

/** The price in US cents, which rises with the volume, the days and the coverage. */
function priceOf(area: Area, plan: Plan): number {
  const reach = 1 + Math.log2(area.covers.length) / 5
  const zone = 0.8 + (hash32(`zone ${area.id}`) % 60) / 100
  const speed = { Standard: 0, Fast: 1, Faster: 1.5, Fastest: 2.2 }[plan.tier]
  const volume = plan.gb === undefined ? 1.6 * plan.days * speed : 1.4 * plan.gb ** 0.85
  const dollars = (1.2 + volume + plan.days / 30) * reach * zone
  return Math.max(99, Math.ceil(dollars * 2) * 50 - 1)
}

function speedsOf(code: string): readonly string[] {
  return hash32(`speed ${code}`) % 3 === 0 ? ['3G', '4G'] : ['4G', '5G']
}

/** The coverage of each area; all plans of an area share it, because there may be 200,000 offers. */
const coverage: ReadonlyMap<string, EsimOffer['roaming']> = new Map(
  areas.map((area) => [
    area.id,
    area.covers.map((country) => ({ country, dataSpeeds: speedsOf(country) })),
  ]),
)

function notesOf(area: Area, plan: Plan): string {
  const volume = plan.gb === undefined ? 'Unlimited data' : `${plan.gb} GB of data`
  const throttle = plan.tier === 'Fast' ? ' After 1 GB within 24 hours the speed is 512 kbps.' : ''
  const where = area.covers.length > 1 ? `${area.covers.length} countries` : area.name
  return `${volume} for ${plan.days} days in ${where}. The days begin at the first connection.${throttle}`
}

function offer(area: Area, plan: Plan, slot: number): EsimOffer {
  const maker = providers[hash32(`maker ${area.id} ${slot}`) % providers.length] ?? house
  const provider = slot < 9 ? house : maker
  const offerId = idOf(area, plan, provider.brand)
  const next = random(offerId)
  const currency =
    area.regions[0] === 'Western Europe' && hash32(offerId) % 25 === 0 ? 'EUR' : 'USD'
  const price = convert(priceOf(area, plan), 'USD', currency)
  const volume = plan.gb === undefined ? 'Unlimited' : `${plan.gb} GB`
  return {
    ...nothing,
    ...provider,
    ...fixedPrice(price, currency, 0.06),
    country: area.country,
    dataGB: plan.gb ?? 0,
    dataSpeeds: speedsOf(area.covers[0] ?? ''),
    dataUnlimited: plan.gb === undefined,
    durationDays: plan.days,
    enabled: next() >= 0.01,
    notes: notesOf(area, plan),
    offerId,
    productType: 'ESIM',
    regions: area.regions,
    roaming: plan.roams ? (coverage.get(area.id) ?? []) : [],
    shortNotes: `${area.name} ${volume}, ${plan.days} days`,
    subTypes: [plan.tier],
    ...stamps(next),
  }
}

/** An endless sequence of eSIM plans: first the most common plan of every area, then the next of every area. */
export function* esims(sold: readonly Area[] = areas): Generator<EsimOffer> {
  for (const [slot, plan] of plans.entries()) {
    for (const area of sold) {
      const isBundle = area.country === ''
      if (!(isBundle && !plan.roams)) yield offer(area, plan, slot)
    }
  }
}
