import type { NewRule } from '../adapters/storage/selling-rules.ts'
import { type Effect, effectTypes, type Scope } from '../catalog/selling-rules.ts'
import type { WantedRule } from './rules-file.ts'
import { type Shelf, scopeNamed } from './selling-scopes.ts'

/** The rule that was written, or what is wrong with it. */
export function ruleIn(wanted: WantedRule, shelf: Shelf): NewRule | string {
  const { until: end = '', reason = '' } = wanted
  const [scope, effect] = [scopeNamed(wanted.scope ?? '', shelf), effectIn(wanted)]
  if (typeof scope === 'string') return scope
  if (typeof effect === 'string') return effect
  const until = end === '' ? null : new Date(end)
  // A time without a zone would be of this machine, and a day alone ends at an hour that nobody wrote.
  if (until && !(/T.*(Z|[+-]\d\d:?\d\d)$/.test(end) && until > shelf.pricing.now()))
    return `It cannot end at "${end}": write a time to come with its zone, such as 2027-12-24T18:00Z.`
  return misfit(scope, effect) ?? { scope, effect, until, reason }
}

function misfit(scope: Scope, { type }: Effect): string | undefined {
  if (scope.type === 'method' && type !== 'pause') return 'A way to pay can only be paused.'
  const isFeatured = type === 'feature'
  return isFeatured && scope.type !== 'offer' && scope.type !== 'brand'
    ? 'Only an offer or a brand can be featured.'
    : undefined
}

function effectIn(wanted: WantedRule): Effect | string {
  const { text = '' } = wanted
  const type = effectTypes.find((one) => one === wanted.effect)
  switch (type) {
    case undefined:
      return `"${wanted.effect}" is no effect: ${effectTypes.join(', ')}.`
    case 'margin':
    case 'least_margin':
      return marginIn(type, wanted)
    case 'name':
    case 'description':
    case 'picture':
      return textFault(type, text) ?? { type, text }
    default:
      return { type }
  }
}

function marginIn(
  type: 'margin' | 'least_margin',
  { margin_bps: bpsText = '', fixed_usd: usd = '' }: WantedRule,
): Effect | string {
  if (!/^-?\d{1,5}$/.test(bpsText) || !/^(-?\d{1,4}(\.\d{1,2})?)?$/.test(usd))
    return 'A margin is a whole number of basis points below 100000 (200 is 2 %), and then dollars and cents below 10000, such as 0.30.'
  const [bps, cents] = [Number(bpsText), Math.round(Number(usd) * 100)]
  if (bps <= -10_000)
    return `A margin of ${bps / 100} % gives the goods away. Nothing is sold below its cost in any case.`
  if (type === 'least_margin' && (bps < 0 || cents < 0))
    return 'A least margin is on top of the cost, so it cannot be negative.'
  return { type, bps, cents }
}

const maxTexts = { name: 100, description: 5_000, picture: 500 }

function textFault(type: keyof typeof maxTexts, text: string): string | undefined {
  if (text.trim() === '' || text.length > maxTexts[type])
    return `A ${type} has 1 to ${maxTexts[type]} characters.`
  if (type === 'name' && /\p{C}/u.test(text))
    return 'A name is one line without control characters.'
  if (type === 'picture' && !(URL.canParse(text) && text.startsWith('https://')))
    return 'A picture is an address that begins with https://.'
  return undefined
}
