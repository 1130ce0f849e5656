import { searchEsims } from '../../api/discovery/esims.ts'
import { searchTopups } from '../../api/discovery/topups.ts'
import { searchVouchers } from '../../api/discovery/vouchers.ts'
import type { Reading } from '../../api/operation.ts'
import { oneOf, refused } from '../../api/params.ts'
import { kinds } from '../../catalog/good.ts'
import type { Kind } from '../../catalog/offer.ts'
import { inArguments, textIn, without } from '../arguments.ts'
import { argumentSchema } from '../schemas.ts'
import type { Tool } from '../tool.ts'

const readings: Readonly<Record<Kind, Reading>> = {
  voucher: searchVouchers,
  topup: searchTopups,
  esim: searchEsims,
}

export const search: Tool = {
  name: 'search',
  title: 'Search the store',
  description:
    'Call this first. Finds gift vouchers (kind voucher), airtime and data for phone numbers (topup) and eSIM data plans for travel (esim) that are on sale now. Free. All filters must be met. When nothing is found, hint says which filter to change and to what. price is in minor units: 2500 with currencyDivisor 100 is 25.00; what it costs in USDC, quote says. Go on with get_offer for what an offer needs.',
  inputSchema: argumentSchema(
    { kind: { type: 'string', enum: kinds, description: 'What is searched' }, ...filters() },
    ['kind'],
  ),
  annotations: { readOnlyHint: true, openWorldHint: false },
  limit: 'discovery',
  charges: false,
  run({ args }, { reading }) {
    const { ask } = readings[kindIn(args)]
    const answer = ask(inArguments(without(args, ['kind'])), reading).answer()
    const body = answer instanceof Buffer ? JSON.parse(answer.toString()) : answer
    return { type: 'answer', body }
  },
}

function kindIn(args: Readonly<Record<string, unknown>>): Kind {
  const kind = textIn(args, 'kind')
  if (kind === undefined) throw refused('kind', `kind is required: ${kinds.join(', ')}.`)
  return oneOf(kinds).read('kind', kind)
}

/** The filters of all kinds; each says which kinds take it. */
function filters(): Record<string, object> {
  const names = new Set(kinds.flatMap((kind) => Object.keys(readings[kind].query ?? {})))
  return Object.fromEntries([...names].map((name) => [name, filter(name)]))
}

function filter(name: string): object {
  const taking = kinds.flatMap((kind) => {
    const param = readings[kind].query?.[name]
    return param === undefined ? [] : [{ kind, schema: param.schema }]
  })
  const [first] = taking
  const isSame = taking.every(
    ({ schema }) => JSON.stringify(schema) === JSON.stringify(first?.schema),
  )
  if (isSame && taking.length === kinds.length) return first?.schema ?? {}
  const description = taking
    .map(({ kind, schema: { description, enum: values } }) => {
      const list = Array.isArray(values) ? ` (one of ${values.join(', ')})` : ''
      return `${kind}: ${String(description)}${list}`
    })
    .join('. ')
  return { type: first?.schema['type'], description }
}
