import { readFile } from 'node:fs/promises'
import { listRules, type PlacedRule } from '../adapters/storage/selling-rules.ts'
import type { Effect } from '../catalog/selling-rules.ts'
import type { Operator } from '../operator/operator.ts'
import { type Changes, endSellingRules, placeRules } from '../operator/selling.ts'
import { readRuleFile, ruleFileOf, scopeText, type WantedRule } from '../operator/written-rules.ts'
import { type Act, parseCommand, type Result, UsageError } from './act.ts'

const scopes = `A scope is everything, kind:voucher, brand:APPLE (its key or name), brand:APPLE/DE, country:DE, offer:ID,
supplier:zendit or, for pauses, method:x402 and method:BTC. The narrowest scope counts: offer, brand in a
country, brand, country, kind, supplier, everything; of equal ones the newest. A pause beats any price.
A rule is in force on all nodes within 5 s, and ends by itself with --until 2027-12-24T18:00Z.`

const salesUsage = `Usage: kiosk402 sales [WHAT]

  status                                   what is paused, since when and why; also without a word
  pause SCOPE... --reason "..."            sells none of it; deliveries and refunds go on
  resume SCOPE|RULE... --reason "..."      ends these pauses

${scopes}

Examples:
  kiosk402 sales pause brand:APPLE --reason "Zendit is out of codes"
  kiosk402 sales pause everything --reason "moving the database" --dry-run
  kiosk402 sales resume brand:APPLE --reason "codes are back"`

const priceUsage = `Usage: kiosk402 price [WHAT]

  list                                     the margins in force; also without a word
  set SCOPE... --margin-bps N [--fixed-usd USD] --reason "..."
                                           on top of the supplier's price; MARKUP_BPS counts without a rule
  least SCOPE... --margin-bps N [--fixed-usd USD] --reason "..."
                                           on top of what the supplier charges; nothing is sold for less
  end SCOPE|RULE... --reason "..."
  export                                   all rules in force as CSV
  import FILE --reason "..."               puts the rules of such a file in force: all, or none

${scopes}

A margin is in basis points: 200 is 2 %. A dry run shows each price before and after. Nothing is sold below
what the supplier charges, whatever the margin (--margin-bps=-200 lowers a price by 2 %). A quote that was
given keeps its price.

Examples:
  kiosk402 price set brand:APPLE --margin-bps 200 --reason "dearer since May" --dry-run
  kiosk402 price set everything --margin-bps 150 --fixed-usd 0.30 --reason "fees"
  kiosk402 price export >rules.csv && kiosk402 price import rules.csv --reason "summer prices"`

const catalogUsage = `Usage: kiosk402 catalog [WHAT]

  list                                     what is hidden, featured and reworded; also without a word
  hide SCOPE... --reason "..."             nobody finds it or buys it
  feature SCOPE... --reason "..."          an offer or a brand, first on the home page
  name|description|picture SCOPE TEXT --reason "..."
                                           these words in place of the supplier's; vouchers have pictures
  end SCOPE|RULE... --reason "..."

${scopes}

Examples:
  kiosk402 catalog hide country:CU --reason "we must not sell there"
  kiosk402 catalog feature brand:STEAM --until 2027-12-27T00:00Z --reason "Christmas"
  kiosk402 catalog name brand:GOOGLE_PLAY "Google Play" --reason "the supplier writes it in capitals"`

const ending = ['names', 'reason'] as const
const placing = [...ending, 'until'] as const
const margin = [...placing, 'margin-bps', 'fixed-usd'] as const

const salesTakes = { status: [], pause: placing, resume: ending }
const priceTakes = {
  ...{ list: [], set: margin, least: margin },
  ...{ end: ending, export: [], import: ending },
}
const words = { name: placing, description: placing, picture: placing }
const catalogTakes = { list: [], hide: placing, feature: placing, ...words, end: ending }

type Takes = Readonly<Record<string, readonly string[]>>

const effectOf: Readonly<Record<string, Effect['type']>> = {
  ...{ pause: 'pause', set: 'margin', least: 'least_margin', hide: 'hide', feature: 'feature' },
  ...{ name: 'name', description: 'description', picture: 'picture' },
}

export const sales: Act = {
  summary: 'pauses and resumes sales: all, a brand, a country, a way to pay',
  usage: salesUsage,
  run: runOf('sales', salesTakes),
}

export const price: Act = {
  summary: 'margins, and rules in and out as CSV',
  usage: priceUsage,
  run: runOf('price', priceTakes),
}

export const catalog: Act = {
  summary: 'hides, features and rewords offers',
  usage: catalogUsage,
  run: runOf('catalog', catalogTakes),
}

function runOf(name: string, takes: Takes): Act['run'] {
  const [listing = ''] = Object.keys(takes)
  const effects = Object.keys(takes).flatMap((what) => effectOf[what] ?? [])
  return async (args, { isDryRun, withOperator }) => {
    const asked = parseCommand(args.length === 0 ? [listing] : args, takes)
    const { what, names, reason = '' } = asked
    const takesNames = takes[what]?.includes('names')
    if (takesNames && names.length === 0)
      throw new UsageError(`${what} needs a name, such as brand:APPLE`)
    if (takesNames && reason === '')
      throw new UsageError(`${what} needs a reason: --reason "codes are sold out"`)
    const about = { act: `${name} ${what}`, reason }
    return withOperator(async (operator): Promise<Result> => {
      if (what === listing || what === 'export') return listed(operator, what, effects)
      if (what === 'end' || what === 'resume') {
        const data = await endSellingRules(operator, names, { ...about, effects })
        const lines = [...data.ended.map(ruleLine), ...changeLines(data.changes)]
        return { exit: 0, data, lines: [endHeading(isDryRun), ...lines] }
      }
      const data = await placeRules(operator, await wantedIn(asked), about)
      return { exit: 0, data, lines: placedLines(data, isDryRun) }
    })
  }
}

async function listed(
  { database }: Operator,
  what: string,
  effects: readonly Effect['type'][],
): Promise<Result> {
  const rules = await listRules(database)
  if (what === 'export')
    return { exit: 0, data: rules, lines: ruleFileOf(rules).trimEnd().split('\r\n') }
  const data = rules.filter(({ effect }) => effects.includes(effect.type))
  return { exit: 0, data, lines: data.length > 0 ? data.map(ruleLine) : ['No rule is in force.'] }
}

async function wantedIn({
  what,
  names,
  ...values
}: ReturnType<typeof parseCommand>): Promise<readonly WantedRule[]> {
  const [first = '', text = ''] = names
  if (what === 'import') return readRuleFile(await readFile(first, 'utf8'))
  const isReworded = Object.hasOwn(words, what)
  if (isReworded && names.length !== 2)
    throw new UsageError(`${what} needs a scope and a text in quotes`)
  const { until = '', 'margin-bps': margin_bps = '', 'fixed-usd': fixed_usd = '' } = values
  return (isReworded ? [first] : names).map((scope) => {
    return { scope, effect: effectOf[what] ?? '', margin_bps, fixed_usd, text, until }
  })
}

function ruleLine({ id, scope, effect, until, by, at, reason }: PlacedRule): string {
  const amount =
    'bps' in effect ? ` ${effect.bps / 100} % + ${(effect.cents / 100).toFixed(2)} USD` : ''
  const text = 'text' in effect ? ` "${effect.text}"` : ''
  const end = until ? `, until ${until.toISOString()}` : ''
  return `${id}  ${scopeText(scope)}  ${effect.type}${amount}${text}  by ${by} at ${at.toISOString()}${end}  ${reason}`
}

function placedLines(
  { placed, kept, meets, changes }: Awaited<ReturnType<typeof placeRules>>,
  isDryRun: boolean,
) {
  return [
    isDryRun ? 'This would be in force:' : 'In force on all nodes within 5 s:',
    ...placed.map(ruleLine),
    ...(kept > 0 ? [`${kept} of them were in force already.`] : []),
    ...meets.map(
      ({ rule, scope, effect, counts }) =>
        `It meets rule ${rule} (${scope} ${effect}), of which ${counts} counts.`,
    ),
    ...changeLines(changes),
  ]
}

const endHeading = (isDryRun: boolean) => (isDryRun ? 'This would end:' : 'Ended:')

const maxLines = 50

function changeLines({ offers, ratesAsOf }: Changes): readonly string[] {
  const told = offers.slice(0, maxLines).map((one) => {
    const [from, to] = [one.usdcBefore ?? one.before, one.usdcAfter ?? one.after]
    return `  ${one.offerId}  ${from} -> ${to}  ${one.name}`
  })
  return [
    `Offers that change: ${offers.length}`,
    ...(ratesAsOf ? [] : ['Without exchange rates: offers in other currencies are not compared.']),
    ...told,
    ...(offers.length > maxLines
      ? [`  and ${offers.length - maxLines} more: --json lists all`]
      : []),
  ]
}
