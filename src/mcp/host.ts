import { nearParameter } from '../catalog/search/param-source.ts'
import { oneOf, type Param, readParams, refused } from '../catalog/search/params.ts'
import { inQuery } from '../http/in-query.ts'
import { type Usdc, usdcFromText } from '../lib/money.ts'

/** The settings of a model's host, in the query of the MCP URL that it is configured with. */
export interface HostSettings {
  /** The price above which a person must approve. */
  readonly approveAbove?: Usdc | undefined
  /** Goods are shown only by links, even if the model sets `include_goods`. */
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

/** Parts of parameter names that are probably meant as a setting of this store. */
const meantHere =
  /appro|abov|usdc?|limit|max|budget|spen|price|amount|good|code|link|reveal|person/i

/**
 * Reads the settings in a URL. A name that may be a misspelt setting is refused, because a limit that is silently
 * ignored would protect nobody. Other parameters, such as the `api_key` that registries and gateways add to every
 * URL, are ignored.
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

/** An encoded name is kept, because its meaning is known only after decoding. */
function mayBeMeantHere(name: string): boolean {
  const known = Object.keys(settings)
  return /[%+]/.test(name) || meantHere.test(name) || nearParameter(name, known) !== undefined
}
