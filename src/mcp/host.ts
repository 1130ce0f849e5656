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

/**
 * Reads the settings in an address. One that is unknown is refused, because a limit that is misspelt
 * would protect nobody.
 *
 * @throws Refusal `unknown_parameter`, `repeated_parameter`, `invalid_parameter`
 */
export function hostSettingsIn(url: string): HostSettings {
  const { approveAboveUsdc: approveAbove, goods } = readParams(inQuery(url), settings)
  return { approveAbove, goods }
}
