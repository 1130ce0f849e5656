import { nearParameter } from '../catalog/search/param-source.ts'
import { oneOf, type Param, readParams, refused } from '../catalog/search/params.ts'
import { inQuery } from '../http/in-query.ts'
import { type Usdc, usdcFromText } from '../lib/money.ts'

/** What the host of a model has set for it, in the address that it is configured with. */
export interface HostSettings {
  /** The price above which a person must approve. */
  readonly approveAbove?: Usdc | undefined
  /** Goods are shown by links alone, whatever the model asks for. */
  readonly goods?: 'link' | undefined
}

const amount: Param<Usdc> = {
  schema: { type: 'string', pattern: String.raw`^\d{1,9}(\.\d{1,6})?$` },
  read(name, value) {
    if (/^\d{1,9}(\.\d{1,6})?$/.test(value)) return usdcFromText(value)
    throw refused(name, `${name} must be an amount in USDC with at most 6 decimals, such as 5.`)
  },
}

const settings = { approveAboveUsdc: amount, goods: oneOf(['link']) }

/** Words of names that can only be meant to set something here. */
const meantHere =
  /appro|abov|usdc?|limit|max|budget|spen|price|amount|good|code|link|reveal|person/i

/**
 * Reads the settings in an address. A name that may be one of them, misspelt, is refused, because a limit
 * that is not understood would protect nobody. Others, such as `api_key`, are added by registries and
 * gateways to every address, and say nothing to this store.
 *
 * @throws Refusal `unknown_parameter`, `repeated_parameter`, `invalid_parameter`
 */
export function hostSettingsIn(url: string): HostSettings {
  const given = inQuery(withoutForeign(url))
  const { approveAboveUsdc: approveAbove, goods } = readParams(given, settings)
  return { approveAbove, goods }
}

function withoutForeign(url: string): string {
  const start = url.indexOf('?')
  if (start < 0) return url
  const kept = url
    .slice(start + 1)
    .split('&')
    .filter((pair) => mayBeMeantHere(pair.split('=', 1)[0] ?? ''))
  return `${url.slice(0, start)}?${kept.join('&')}`
}

/** An encoded name is read with the others: what it says is only known then. */
function mayBeMeantHere(name: string): boolean {
  const known = Object.keys(settings)
  return /[%+]/.test(name) || meantHere.test(name) || nearParameter(name, known) !== undefined
}
