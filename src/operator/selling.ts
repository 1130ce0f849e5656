import {
  addRules,
  endRules,
  listRules,
  lockRules,
  type NewRule,
  type RecordedRule,
} from '../adapters/storage/selling-rules.ts'
import type { Effect, Scope, SellingRule } from '../catalog/selling-rules.ts'
import { audited } from './audit.ts'
import { type Operator, Refused } from './operator.ts'
import { type Changes, changesBetween, overlap } from './selling-changes.ts'
import { readShelf, type Shelf, scopeNamed, scopeText } from './selling-scopes.ts'

export interface WantedRule {
  /** As `scopeText` writes it, or with the name of a brand. */
  readonly scope: string
  readonly effect: Effect
  readonly until?: Date | undefined
  /** Where one rule of several has another reason. */
  readonly reason?: string | undefined
  /** Of the file that it was read from. */
  readonly line?: number
}

export interface RuleData {
  readonly rule: number
  readonly scope: string
  readonly effect: Effect['type']
  readonly marginBps?: number
  readonly fixedUsd?: string
  readonly text?: string
  readonly until?: Date
  readonly by: string
  readonly at: Date
  readonly reason: string
  readonly ended?: RecordedRule['ended']
}

/** Another rule in force for some of the same offers, and which of the two counts for them. */
interface Meeting {
  readonly rule: number
  readonly scope: string
  readonly effect: Effect['type']
  readonly counts: 'the new rule' | 'the other rule'
  readonly because: string
}

export interface Placed {
  readonly placed: readonly RuleData[]
  /** How many of the wanted rules were in force already, word for word. */
  readonly kept: number
  readonly meets: readonly Meeting[]
  readonly changes: Changes
}

export interface Placing {
  readonly act: string
  readonly reason: string
  /** What is wrong besides: then nothing is placed, and all that is wrong is told at once. */
  readonly faults?: readonly string[]
}

/** The oldest first. */
export async function rulesOf(
  { database }: Pick<Operator, 'database'>,
  of: 'in force' | 'all',
): Promise<readonly RuleData[]> {
  return (await listRules(database, of)).map(dataOf)
}

/**
 * Puts rules in force: all of them, or none. One after the other with those of other operators, so each meets theirs.
 *
 * @throws Refused for a scope that does not exist, and rules that cannot be
 */
export async function placeRules(
  operator: Operator,
  wanted: readonly WantedRule[],
  { act, reason, faults: known = [] }: Placing,
): Promise<Placed> {
  const shelf = await readShelf(operator)
  const { rules, faults } = checked(wanted, shelf, operator.now(), reason)
  const allFaults = [...known, ...faults]
  if (allFaults.length > 0) throw new Refused(allFaults.join('\n'))
  const place = async (database: Parameters<typeof lockRules>[0]): Promise<Placed> => {
    await lockRules(database)
    const before = await listRules(database)
    const fresh = rules.filter((rule) => !before.some((one) => isSame(one, rule)))
    const placed = await addRules(database, fresh, operator.by)
    return {
      placed: placed.map(dataOf),
      kept: rules.length - fresh.length,
      meets: placed.flatMap((rule) => before.flatMap((one) => meeting(rule, one, shelf))),
      changes: changesBetween(shelf, { before, after: [...before, ...placed], about: placed }),
    }
  }
  const noted = ({ placed }: Placed) =>
    placed.length === 0 ? undefined : { act, subject: subjectOf(placed), after: placed, reason }
  return audited(operator, noted, place)
}

export interface Ended {
  readonly ended: readonly RuleData[]
  readonly changes: Changes
}

export interface EndedRules {
  /** Numbers of rules, or scopes in any spelling: all rules with these effects that are for just that. */
  readonly which: readonly string[]
  readonly effects: readonly Effect['type'][]
  readonly act: string
  readonly reason: string
}

/** Ends rules: all of them, or none. @throws Refused if one is not in force, and who has ended it */
export async function endSellingRules(
  operator: Operator,
  { which, effects, act, reason }: EndedRules,
): Promise<Ended> {
  const shelf = await readShelf(operator)
  const end = async (database: Parameters<typeof lockRules>[0]): Promise<Ended> => {
    await lockRules(database)
    const all = (await listRules(database, 'all')).filter(({ effect }) =>
      effects.includes(effect.type),
    )
    const before = await listRules(database)
    const isInForce = ({ id }: SellingRule) => before.some((one) => one.id === id)
    const meant = which.flatMap((text) => {
      const scope = scopeNamed(text, shelf)
      const named = typeof scope === 'string' ? text : scopeText(scope)
      return rulesMeant(named, all.filter(isInForce), all)
    })
    const ids = meant.map(({ id }) => id)
    const ended = await endRules(database, ids, { by: operator.by, why: reason })
    const after = before.filter(({ id }) => !ids.includes(id))
    return {
      ended: ended.map(dataOf),
      changes: changesBetween(shelf, { before, after, about: meant }),
    }
  }
  return audited(
    operator,
    ({ ended }) => ({ act, subject: subjectOf(ended), before: ended, reason }),
    end,
  )
}

function rulesMeant(
  text: string,
  inForce: readonly RecordedRule[],
  all: readonly RecordedRule[],
): readonly RecordedRule[] {
  const isMeant = ({ id, scope }: SellingRule) => text === String(id) || text === scopeText(scope)
  const found = inForce.filter(isMeant)
  if (found.length > 0) return found
  const last = all.findLast(isMeant)
  if (last === undefined) throw new Refused(`No such rule is in force for ${text}.`)
  const { ended, until } = last
  throw new Refused(
    ended
      ? `Rule ${last.id} for ${scopeText(last.scope)} was ended by ${ended.by} at ${ended.at.toISOString()}: ${ended.why}`
      : `Rule ${last.id} for ${scopeText(last.scope)} ended by itself at ${until?.toISOString()}.`,
  )
}

function checked(wanted: readonly WantedRule[], shelf: Shelf, now: Date, reason: string) {
  const faults: string[] = []
  const rules = wanted.flatMap((one): NewRule[] => {
    const rule = ruleIn(one, shelf, now, reason)
    if (typeof rule !== 'string') return [rule]
    faults.push(one.line === undefined ? rule : `Line ${one.line}: ${rule}`)
    return []
  })
  return { rules, faults }
}

/** Or what is wrong with it. */
function ruleIn(one: WantedRule, shelf: Shelf, now: Date, reason: string): NewRule | string {
  const scope = scopeNamed(one.scope, shelf)
  if (typeof scope === 'string') return scope
  const { effect, until } = one
  const rule = { scope, effect, ...(until ? { until } : {}), why: one.reason || reason }
  return faultIn(scope, one, now) ?? rule
}

const maxBps = 100_000
const maxCents = 1_000_000
const maxTexts = { name: 100, description: 5_000, picture: 500 }

function faultIn(scope: Scope, { effect, until }: WantedRule, now: Date): string | undefined {
  if (until !== undefined && !(until > now))
    return `It would end at ${until.toISOString()}, which has passed.`
  if (scope.type === 'method' && effect.type !== 'pause') return 'A way to pay can only be paused.'
  if (effect.type === 'feature' && ['everything', 'supplier'].includes(scope.type))
    return 'Name what to feature: an offer, a brand, a country or a kind.'
  if ('bps' in effect) return marginFault(effect)
  return 'text' in effect ? textFault(effect) : undefined
}

function marginFault({ type, bps, cents }: Extract<Effect, { readonly bps: number }>) {
  if (bps <= -10_000)
    return `A margin of ${bps / 100} % gives the goods away. Nothing is sold below its cost in any case.`
  if (type === 'least_margin' && (bps < 0 || cents < 0))
    return 'A least margin is on top of the cost, so it cannot be negative.'
  const isMoney = Number.isSafeInteger(bps) && Number.isSafeInteger(cents)
  return isMoney && bps <= maxBps && Math.abs(cents) <= maxCents
    ? undefined
    : `A margin is at most ${maxBps / 100} % and ${maxCents / 100} dollars.`
}

function textFault({ type, text }: Extract<Effect, { readonly text: string }>) {
  if (text.trim() === '' || text.length > maxTexts[type])
    return `A ${type} has 1 to ${maxTexts[type]} characters.`
  if (type === 'name' && /\p{C}/u.test(text))
    return 'A name is one line without control characters.'
  if (type === 'picture' && !(URL.canParse(text) && text.startsWith('https://')))
    return 'A picture is an address that begins with https://.'
  return undefined
}

function isSame(one: SellingRule, other: NewRule): boolean {
  const key = ({ scope, effect, until }: NewRule | SellingRule) =>
    JSON.stringify([scope.type, scope.key, Object.entries(effect).sort(), until])
  return key(one) === key(other)
}

const stops: readonly Effect['type'][] = ['pause', 'hide']

/** A pause or a hidden offer beats everything else, and two of these do not contradict each other. */
function meeting(rule: RecordedRule, other: RecordedRule, shelf: Shelf): Meeting[] {
  const isStopped = stops.includes(other.effect.type)
  const isContrary = isStopped || other.effect.type === rule.effect.type
  if (stops.includes(rule.effect.type) || rule.effect.type === 'feature' || !isContrary) return []
  const narrower = overlap(rule.scope, other.scope, shelf)
  if (narrower === undefined) return []
  const { scope, effect } = dataOf(other)
  const about = { rule: other.id, scope, effect }
  if (isStopped) return [{ ...about, counts: 'the other rule', because: 'it stops the sale' }]
  const because = narrower === 'equal' ? 'it is the newer one' : 'its scope is narrower'
  return [{ ...about, counts: narrower === 'other' ? 'the other rule' : 'the new rule', because }]
}

function dataOf({
  id,
  scope,
  effect,
  until,
  placedBy,
  placedAt,
  why,
  ended,
}: RecordedRule): RuleData {
  return {
    rule: id,
    scope: scopeText(scope),
    effect: effect.type,
    ...('bps' in effect
      ? { marginBps: effect.bps, fixedUsd: (effect.cents / 100).toFixed(2) }
      : {}),
    ...('text' in effect ? { text: effect.text } : {}),
    ...(until ? { until } : {}),
    ...{ by: placedBy, at: placedAt, reason: why },
    ...(ended ? { ended } : {}),
  }
}

function subjectOf(rules: readonly RuleData[]): string {
  const [first, ...others] = rules
  return others.length === 0 ? (first?.scope ?? '') : `${first?.scope} and ${others.length} more`
}
