import type { Filters } from './filters.ts'
import type { SearchIndex } from './search-index.ts'

/** Why a result is empty, and what would find something. */
export interface Hint {
  /** The parameter that makes the result empty; absent if no single one does. */
  readonly parameter?: string
  /** A value for it that finds offers, with the other parameters as they are. */
  readonly nearest?: string
  readonly message: string
}

/** Values that could be asked for in place of another. */
export interface Instead<Value> {
  /** Nearest first. */
  readonly values: readonly Value[]
  /** Makes a sentence about those that find something. By default it names only the nearest. */
  readonly say?: (works: readonly Value[]) => string
}

/** For each parameter of a search, what could be asked instead; undefined if nothing is near. */
export type Alternatives<Params> = {
  readonly [Name in keyof Params]?: (
    given: NonNullable<Params[Name]>,
    /** The filters of the other parameters. */
    left: Filters,
    /** Whether a value finds something, with the other parameters as they are. */
    finds: (value: NonNullable<Params[Name]>) => boolean,
  ) => Instead<NonNullable<Params[Name]>> | undefined
}

export interface EmptySearch<Params extends object> {
  /** What was asked for, without limit and offset. */
  readonly params: Params
  readonly index: Pick<SearchIndex, 'count'>
  readonly filtersOf: (params: Params) => Filters
  /** In the order in which a caller would rather change the parameters. */
  readonly alternatives: Alternatives<Params>
  /** What was looked for, in the plural: "vouchers". */
  readonly noun: string
}

/** The most values that are tried for a hint. */
const maxTries = 20

/** Explains an empty result. Every value that it proposes was searched for and finds something. */
export function hintFor<Params extends object>(empty: EmptySearch<Params>): Hint {
  const given = givenNames(empty)
  if (given.length === 0) return { message: `The store has no ${empty.noun} at the moment.` }
  for (const name of given) {
    const instead = insteadOf(empty, name)
    // A change of this one parameter is enough to find something.
    if (instead !== undefined || finds(empty, without(empty.params, name)))
      return hintForOne(empty, name, instead)
  }
  return hintForSeveral(empty, given)
}

function hintForOne<Params extends object>(
  empty: EmptySearch<Params>,
  name: keyof Params,
  instead: Proposal | undefined,
): Hint {
  const parameter = String(name)
  const asked = `${parameter} "${textOf(empty.params[name])}"`
  const others = givenNames(empty).length > 1 ? ' together with the other parameters' : ''
  const message = `No ${empty.noun} have ${asked}${others}.`
  if (instead === undefined) return { parameter, message: `${message} Leave it out to find some.` }
  return { parameter, nearest: instead.nearest, message: `${message} ${instead.sentence}` }
}

function hintForSeveral<Params extends object>(
  empty: EmptySearch<Params>,
  given: readonly (keyof Params)[],
): Hint {
  const findsAlone = (name: keyof Params) => finds(empty, { [name]: empty.params[name] } as Params)
  const wrong = given.filter((name) => !findsAlone(name)).map(String)
  const names = (wrong.length > 0 ? wrong : given.map(String)).join(', ')
  const message =
    wrong.length > 0
      ? `No ${empty.noun} have what was asked for in ${names}, each by itself.`
      : `No ${empty.noun} meet ${names} together, and leaving one out is not enough.`
  return wrong[0] === undefined ? { message } : { parameter: wrong[0], message }
}

interface Proposal {
  readonly nearest: string
  readonly sentence: string
}

function insteadOf<Params extends object>(
  empty: EmptySearch<Params>,
  name: keyof Params,
): Proposal | undefined {
  type Value = NonNullable<Params[typeof name]>
  const { params, alternatives } = empty
  const works = (value: Value) => finds(empty, { ...params, [name]: value })
  const left = empty.filtersOf(without(params, name))
  const instead = alternatives[name]?.(params[name] as Value, left, works)
  const working = instead?.values.slice(0, maxTries).filter(works) ?? []
  const [first] = working
  if (first === undefined) return undefined
  const nearest = textOf(first)
  const sentence = instead?.say?.(working) ?? `The nearest that finds some is "${nearest}".`
  return { nearest, sentence }
}

function finds<Params extends object>(
  { index, filtersOf }: EmptySearch<Params>,
  params: Params,
): boolean {
  return index.count(filtersOf(params)) > 0
}

function givenNames<Params extends object>({
  params,
  alternatives,
}: EmptySearch<Params>): (keyof Params)[] {
  const names = Object.keys(alternatives) as (keyof Params)[]
  return names.filter((name) => params[name] !== undefined)
}

function without<Params extends object>(params: Params, name: keyof Params): Params {
  const { [name]: _, ...others } = params
  return others as Params
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value)
}
