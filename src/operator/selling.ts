import {
  addRules,
  endRules,
  listRules,
  lockRules,
  type NewRule,
  type PlacedRule,
} from '../adapters/storage/selling-rules.ts'
import type { Offer } from '../catalog/offer.ts'
import { type Retail, retailOf } from '../catalog/pricing.ts'
import {
  type Effect,
  isNarrower,
  isWithin,
  type SellingRule,
  sellingRulesOf,
} from '../catalog/selling-rules.ts'
import { audited } from './audit.ts'
import { type Operator, Refused } from './operator.ts'
import {
  readShelf,
  ruleIn,
  type Shelf,
  scopeNamed,
  scopeText,
  type WantedRule,
} from './written-rules.ts'

/** Another rule in force for some of the same offers, and which of the two counts for them. */
interface Meeting {
  readonly rule: number
  readonly scope: string
  readonly effect: Effect['type']
  readonly counts: 'the new rule' | 'the other rule'
}

interface Acting {
  readonly act: string
  readonly reason: string
}

/**
 * Puts rules in force: all of them, or none. One after the other with those of other operators, so each meets theirs.
 *
 * @returns `kept`: how many of the wanted rules were in force already, word for word
 * @throws Refused for a scope that does not exist, and rules that cannot be
 */
export async function placeRules(
  operator: Operator,
  wanted: readonly WantedRule[],
  { act, reason }: Acting,
) {
  const shelf = await readShelf(operator)
  const read = wanted.map((one) => ruleIn({ ...one, reason: one.reason || reason }, shelf))
  const faults = read.flatMap((rule, at) => {
    const { line } = wanted[at] ?? {}
    return typeof rule !== 'string' ? [] : line ? `Line ${line}: ${rule}` : rule
  })
  if (faults.length > 0) throw new Refused(faults.join('\n'))
  const rules = read.filter((rule) => typeof rule !== 'string')
  const noted = ({ placed }: { readonly placed: readonly PlacedRule[] }) =>
    placed.length === 0 ? undefined : { act, subject: subjectOf(placed), after: placed, reason }
  const { before, placed } = await audited(operator, noted, async (database) => {
    await lockRules(database)
    const before = await listRules(database)
    const fresh = rules.filter((rule) => !before.some((one) => isSame(one, rule)))
    return { before, placed: await addRules(database, fresh, operator.by) }
  })
  // The rules are in force already: a long list of prices holds up nobody.
  return {
    placed,
    kept: rules.length - placed.length,
    meets: placed.flatMap((rule) => meetings(rule, before, shelf)),
    changes: changesBetween(shelf, { before, after: [...before, ...placed], about: placed }),
  }
}

/**
 * Ends rules: all of them, or none.
 *
 * @param which numbers of rules, or scopes in any spelling: all rules with these effects that are for just that
 * @throws Refused if one is not in force
 */
export async function endSellingRules(
  operator: Operator,
  which: readonly string[],
  { act, reason, effects }: Acting & { readonly effects: readonly Effect['type'][] },
) {
  const shelf = await readShelf(operator)
  const noted = ({ ended }: { readonly ended: readonly PlacedRule[] }) => ({
    ...{ act, subject: subjectOf(ended), before: ended, reason },
  })
  const { before, ended } = await audited(operator, noted, async (database) => {
    await lockRules(database)
    const before = await listRules(database)
    const endable = before.filter(({ effect }) => effects.includes(effect.type))
    const ended = [...new Set(which.flatMap((text) => rulesMeant(text, endable, shelf)))]
    await endRules(
      database,
      ended.map(({ id }) => id),
    )
    return { before, ended }
  })
  const after = before.filter((rule) => !ended.includes(rule))
  return { ended, changes: changesBetween(shelf, { before, after, about: ended }) }
}

function rulesMeant(text: string, inForce: readonly PlacedRule[], shelf: Shelf) {
  const scope = scopeNamed(text, shelf)
  const named = typeof scope === 'string' ? text : scopeText(scope)
  const found = inForce.filter(
    (rule) => text === String(rule.id) || named === scopeText(rule.scope),
  )
  if (found.length > 0) return found
  throw new Refused(`No such rule is in force for ${text}. kiosk402 audit says what others ended.`)
}

function isSame(one: NewRule, other: NewRule): boolean {
  const key = ({ scope, effect, until }: NewRule) =>
    JSON.stringify([scopeText(scope), Object.entries(effect).sort(), until])
  return key(one) === key(other)
}

const stops: readonly Effect['type'][] = ['pause', 'hide']

/** A pause or a hidden offer beats everything else, and two of these do not contradict each other. */
function meetings(
  { scope, effect }: PlacedRule,
  others: readonly PlacedRule[],
  { offers }: Shelf,
): readonly Meeting[] {
  if (stops.includes(effect.type) || effect.type === 'feature') return []
  const own = offers.filter((offer) => isWithin(scope, offer))
  return others.flatMap((other) => {
    const isStop = stops.includes(other.effect.type)
    const isContrary = isStop || other.effect.type === effect.type
    if (!isContrary || !own.some((offer) => isWithin(other.scope, offer))) return []
    const isBeaten = isStop || isNarrower(other.scope, scope)
    return {
      ...{ rule: other.id, scope: scopeText(other.scope), effect: other.effect.type },
      counts: isBeaten ? 'the other rule' : 'the new rule',
    }
  })
}

function subjectOf(rules: readonly PlacedRule[]): string {
  const [first, ...others] = rules.map(({ scope }) => scopeText(scope))
  return others.length === 0 ? (first ?? '') : `${first} and ${others.length} more`
}

export interface Changes {
  /** When the exchange rates are of; null without any: then offers in other currencies are not compared. */
  readonly ratesAsOf: Date | null
  /** The offers that have another price or state, or other words. */
  readonly offers: readonly ChangedOffer[]
}

interface ChangedOffer {
  readonly offerId: string
  readonly name: string
  /** The price, or those of the least and the greatest value: "5.10 to 102.00"; null where it is not sold. */
  readonly usdcBefore: string | null
  readonly usdcAfter: string | null
  readonly before: State
  readonly after: State
}

type State = 'sold' | 'paused' | 'hidden' | 'unavailable'

/** @param about the rules that come or go */
function changesBetween(
  shelf: Shelf,
  { before, after, about }: Readonly<Record<'before' | 'after' | 'about', readonly SellingRule[]>>,
): Changes {
  const [was, is] = [viewOf(shelf, before), viewOf(shelf, after)]
  const changed = shelf.offers.flatMap((offer): readonly ChangedOffer[] => {
    if (!about.some(({ scope }) => isWithin(scope, offer))) return []
    const [old, now] = [was(offer), is(offer)]
    if (now.usdc === old.usdc && now.state === old.state && now.words === old.words) return []
    const prices = { usdcBefore: old.usdc, usdcAfter: now.usdc }
    return [{ offerId: offer.id, name: now.name, ...prices, before: old.state, after: now.state }]
  })
  return { ratesAsOf: shelf.pricing.rates()?.asOf ?? null, offers: changed }
}

/** What buyers see of an offer under some rules. */
function viewOf({ pricing }: Shelf, inForce: readonly SellingRule[]) {
  const rules = sellingRulesOf(inForce)
  return (offer: Offer) => {
    const retail = retailOf(offer, { ...pricing, rules: () => rules })
    const shown = rules.reworded(offer)
    const unsold =
      retail.type === 'NOT_SOLD' && (retail.code === 'paused' ? 'paused' : 'unavailable')
    const state: State = rules.hides(offer) ? 'hidden' : unsold || 'sold'
    return {
      state,
      usdc: state === 'sold' ? usdcText(retail) : null,
      name: shown.brandName,
      words: shown === offer ? '' : JSON.stringify(shown),
    }
  }
}

function usdcText(retail: Retail): string | null {
  const dollars = (cents: number) => (cents / 100).toFixed(2)
  switch (retail.type) {
    case 'FIXED':
      return dollars(retail.cents)
    case 'RANGE':
      return `${dollars(retail.lowest)} to ${dollars(retail.highest)}`
    case 'NOT_SOLD':
      return null
  }
}
