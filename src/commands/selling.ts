import { readFile } from 'node:fs/promises'
import type { Effect } from '../catalog/selling-rules.ts'
import { readRuleFile, ruleFileOf } from '../operator/rules-file.ts'
import {
  type Ended,
  endSellingRules,
  type Placed,
  placeRules,
  type RuleData,
  rulesOf,
  type WantedRule,
} from '../operator/selling.ts'
import type { Changes } from '../operator/selling-changes.ts'
import {
  type Act,
  type Context,
  parseArguments,
  type Result,
  UsageError,
  unknownWord,
} from './act.ts'

const scopes = `A scope is everything, kind:voucher, brand:APPLE (its key or name), brand:APPLE/DE, country:DE, offer:ID,
supplier:zendit or, for pauses, method:x402 and method:BTC. The narrowest scope counts: offer, brand in a
country, brand, country, kind, supplier, everything; of equal ones the newest. A pause beats any price.
A rule is in force on all nodes within 5 s. --until TIME (2026-12-24T18:00Z) or --for 2h (m, h, d) ends it.`

const salesUsage = `Usage: kiosk402 sales [WHAT]

  status                                   what is paused, since when and why; also without a word
  pause SCOPE... --reason "..."            sells none of it; deliveries and refunds go on
  resume SCOPE|RULE... --reason "..."      ends these pauses

${scopes}

Examples:
  kiosk402 sales pause brand:APPLE --for 2h --reason "Zendit is out of codes"
  kiosk402 sales pause everything --reason "moving the database" --dry-run
  kiosk402 sales resume brand:APPLE --reason "codes are back"`

const priceUsage = `Usage: kiosk402 price [WHAT]

  list [--all]                             the margins in force; --all: with those that have ended
  set SCOPE... --margin PERCENT [--fixed USD] --reason "..."
                                           on top of the supplier's price; MARKUP_BPS counts without a rule
  least SCOPE... --margin PERCENT [--fixed USD] --reason "..."
                                           on top of what the supplier charges; nothing is sold for less
  end SCOPE|RULE... --reason "..."
  export                                   all rules in force as CSV
  import FILE --reason "..."               puts the rules of such a file in force: all, or none

${scopes}

Nothing is sold below what the supplier charges, whatever the margin (--margin=-2 lowers a price by 2 %).
A quote that was given keeps its price.

Examples:
  kiosk402 price set brand:APPLE --margin 2 --reason "dearer since May" --dry-run
  kiosk402 price set everything --margin 1.5 --fixed 0.30 --reason "fees"
  kiosk402 price export >rules.csv && kiosk402 price import rules.csv --reason "summer prices"`

const catalogUsage = `Usage: kiosk402 catalog [WHAT]

  list [--all]                             what is hidden, featured and reworded
  hide SCOPE... --reason "..."             nobody finds it or buys it
  feature SCOPE... --reason "..."          first on the home page
  name|description|picture SCOPE TEXT --reason "..."
                                           these words in place of the supplier's; vouchers have pictures
  end SCOPE|RULE... --reason "..."

${scopes}

Examples:
  kiosk402 catalog hide country:XX --reason "we must not sell there"
  kiosk402 catalog feature brand:STEAM --until 2026-12-27T00:00Z --reason "Christmas"
  kiosk402 catalog name brand:GOOGLE_PLAY "Google Play" --reason "the supplier writes it in capitals"`

const options = {
  reason: { type: 'string' },
  until: { type: 'string' },
  for: { type: 'string' },
  margin: { type: 'string' },
  fixed: { type: 'string' },
  all: { type: 'boolean' },
} as const

type Options = ReturnType<typeof read>['values']

function read(args: readonly string[]) {
  return parseArguments({ args: [...args], options, allowPositionals: true })
}

interface Asked {
  readonly act: string
  readonly names: readonly string[]
  readonly values: Options
  readonly reason: string
  readonly context: Context
}

interface Way {
  readonly takes: readonly (keyof Options)[]
  run(asked: Asked): Promise<Result>
}

const effectsOf = {
  sales: ['pause'],
  price: ['margin', 'least_margin'],
  catalog: ['hide', 'feature', 'name', 'description', 'picture'],
} as const satisfies Readonly<Record<string, readonly Effect['type'][]>>

const ending = ['reason', 'until', 'for'] as const

function listing(effects: readonly Effect['type'][], nothing: string): Way {
  return {
    takes: ['all'],
    run: ({ values, context }) =>
      context.withOperator(async (operator) => {
        const rules = await rulesOf(operator, values.all ? 'all' : 'in force')
        const data = rules.filter(({ effect }) => effects.includes(effect))
        return { exit: 0, data, lines: data.length > 0 ? data.map(ruleLine) : [nothing] }
      }),
  }
}

/** @param makes the effect, from what the names have left beside the scopes */
function placing(
  takes: Way['takes'],
  makes: (asked: Asked) => { readonly scopes: readonly string[]; readonly effect: Effect },
): Way {
  return {
    takes: [...ending, ...takes],
    run(asked) {
      const { scopes, effect } = makes(asked)
      const until = endIn(asked.values)
      return place(asked, (now) => scopes.map((scope) => ({ scope, effect, until: until(now) })))
    },
  }
}

function simply(type: 'pause' | 'hide' | 'feature'): Way {
  return placing([], ({ names }) => ({ scopes: some(names), effect: { type } }))
}

function percent(type: 'margin' | 'least_margin'): Way {
  return placing(['margin', 'fixed'], ({ names, values: { margin, fixed = '0' } }) => {
    const [, whole] = /^(-?\d+(?:\.\d{1,2})?) ?%?$/.exec(margin ?? '') ?? []
    if (whole === undefined)
      throw new UsageError('--margin needs a per cent value, such as 2 or 1.25')
    if (!/^-?\d+(\.\d{1,2})?$/.test(fixed))
      throw new UsageError('--fixed needs dollars and cents, such as 0.30')
    const [bps, cents] = [whole, fixed].map((text) => Math.round(Number(text) * 100))
    return { scopes: some(names), effect: { type, bps: bps ?? 0, cents: cents ?? 0 } }
  })
}

function words(type: 'name' | 'description' | 'picture'): Way {
  return placing([], ({ names }) => {
    const [scope, text, ...others] = names
    if (scope === undefined || text === undefined || others.length > 0)
      throw new UsageError(`${type} needs a scope and a text in quotes`)
    return { scopes: [scope], effect: { type, text: text.trim() } }
  })
}

function ends(effects: readonly Effect['type'][]): Way {
  return {
    takes: ['reason'],
    run: ({ act, names, reason, context }) =>
      context.withOperator(async (operator) => {
        const data = await endSellingRules(operator, { which: some(names), effects, act, reason })
        return { exit: 0, data, lines: endedLines(data, context.isDryRun) }
      }),
  }
}

const exporting: Way = {
  takes: [],
  run: ({ context }) =>
    context.withOperator(async (operator) => {
      const data = await rulesOf(operator, 'in force')
      return { exit: 0, data, lines: ruleFileOf(data).trimEnd().split('\r\n') }
    }),
}

const importing: Way = {
  takes: ['reason'],
  async run(asked) {
    const [file, ...others] = asked.names
    if (file === undefined || others.length > 0) throw new UsageError('import needs one file')
    const { wanted, faults } = readRuleFile(await readFile(file, 'utf8'))
    return place(asked, () => wanted, faults)
  },
}

async function place(
  { act, reason, context }: Asked,
  wanted: (now: Date) => readonly WantedRule[],
  faults: readonly string[] = [],
): Promise<Result> {
  return context.withOperator(async (operator) => {
    const data = await placeRules(operator, wanted(operator.now()), { act, reason, faults })
    return { exit: 0, data, lines: placedLines(data, context.isDryRun) }
  })
}

function some(names: readonly string[]): readonly string[] {
  if (names.length === 0) throw new UsageError('Name a scope, such as brand:APPLE')
  return names
}

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

function endIn({ until, for: length }: Options): (now: Date) => Date | undefined {
  if (length === undefined) {
    const end = until === undefined ? undefined : timeIn(until)
    return () => end
  }
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(length) ?? []
  if (unit === undefined || until !== undefined)
    throw new UsageError('--for needs a length such as 30m, 2h or 7d, and no --until')
  return (now) => new Date(now.getTime() + Number(count) * unitMs[unit as keyof typeof unitMs])
}

/** A time without a zone would be of this machine, and a day alone ends at an hour that nobody wrote. */
function timeIn(text: string): Date {
  const time = new Date(text)
  if (!/T.*(Z|[+-]\d\d:?\d\d)$/.test(text) || Number.isNaN(time.getTime()))
    throw new UsageError('--until needs a time with its zone, such as 2026-12-24T18:00Z')
  return time
}

type Ways = Readonly<Record<string, Way>>

function actOf(
  name: string,
  { ways, ...about }: Pick<Act, 'summary' | 'usage'> & { readonly ways: Ways },
): Act {
  return {
    ...about,
    run(args, context) {
      const { values, positionals } = read(args)
      const [what = Object.keys(ways)[0] ?? '', ...names] = positionals
      const reason = values.reason?.trim() ?? ''
      const way = wayIn(ways, what, Object.keys(values))
      if (way.takes.includes('reason') && reason === '')
        throw new UsageError(`${what} needs a reason: --reason "codes are sold out"`)
      return way.run({ act: `${name} ${what}`, names, values, reason, context })
    },
  }
}

function wayIn(ways: Ways, what: string, given: readonly string[]): Way {
  const way = Object.hasOwn(ways, what) ? ways[what] : undefined
  if (way === undefined) throw new UsageError(unknownWord(what, Object.keys(ways)))
  const stray = given.find((one) => !way.takes.some((taken) => taken === one))
  if (stray !== undefined) throw new UsageError(`--${stray} is not for ${what}`)
  return way
}

export const sales = actOf('sales', {
  summary: 'pauses and resumes sales: all, a brand, a country, a way to pay',
  usage: salesUsage,
  ways: {
    status: listing(effectsOf.sales, 'Nothing is paused.'),
    pause: simply('pause'),
    resume: ends(effectsOf.sales),
  },
})

export const price = actOf('price', {
  summary: 'margins, and rules in and out as CSV',
  usage: priceUsage,
  ways: {
    list: listing(effectsOf.price, 'No rule sets a margin: MARKUP_BPS counts.'),
    set: percent('margin'),
    least: percent('least_margin'),
    end: ends(effectsOf.price),
    export: exporting,
    import: importing,
  },
})

export const catalog = actOf('catalog', {
  summary: 'hides, features and rewords offers',
  usage: catalogUsage,
  ways: {
    list: listing(effectsOf.catalog, 'Nothing is hidden, featured or reworded.'),
    hide: simply('hide'),
    feature: simply('feature'),
    name: words('name'),
    description: words('description'),
    picture: words('picture'),
    end: ends(effectsOf.catalog),
  },
})

function ruleLine(rule: RuleData): string {
  const { scope, effect, marginBps, fixedUsd, text, until, by, at, reason, ended } = rule
  const margin = marginBps === undefined ? '' : ` ${marginBps / 100} % + ${fixedUsd} USD`
  const words = text === undefined ? '' : ` "${text}"`
  const end = ended
    ? `, ended by ${ended.by} at ${ended.at.toISOString()}: ${ended.why}`
    : until
      ? `, until ${until.toISOString()}`
      : ''
  return `${rule.rule}  ${scope}  ${effect}${margin}${words}  by ${by} at ${at.toISOString()}${end}  ${reason}`
}

function placedLines({ placed, kept, meets, changes }: Placed, isDryRun: boolean) {
  return [
    isDryRun ? 'This would be in force:' : 'In force on all nodes within 5 s:',
    ...placed.map(ruleLine),
    ...(kept > 0 ? [`${kept} of them were in force already.`] : []),
    ...meets.map(
      (one) =>
        `It meets rule ${one.rule} (${one.scope} ${one.effect}): ${one.counts} counts, because ${one.because}.`,
    ),
    ...changeLines(changes),
  ]
}

function endedLines({ ended, changes }: Ended, isDryRun: boolean) {
  return [isDryRun ? 'This would end:' : 'Ended:', ...ended.map(ruleLine), ...changeLines(changes)]
}

const maxLines = 50

function changeLines({ list, ratesAsOf, held, ...counts }: Changes): readonly string[] {
  const told = list.slice(0, maxLines).map((one) => {
    const [from, to] = [one.usdcBefore ?? one.before, one.usdcAfter ?? one.after]
    return `  ${one.offerId}  ${from} -> ${to}${one.isHeld ? '  held up' : ''}  ${one.name}`
  })
  return [
    `${counts.offers} offers change: ${counts.dearer} dearer, ${counts.cheaper} cheaper, ${counts.noLongerSold} no longer sold, ${counts.soldAgain} sold again, ${counts.reworded} reworded.`,
    ...(held > 0
      ? [`${held} would go below their cost or least margin, which holds their price up.`]
      : []),
    ...(ratesAsOf === null
      ? ['Without exchange rates: offers in other currencies are not compared.']
      : []),
    ...told,
    ...(list.length > maxLines ? [`  and ${list.length - maxLines} more: --json lists all`] : []),
  ]
}
