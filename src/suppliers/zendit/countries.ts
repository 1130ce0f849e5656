import codes from 'i18n-iso-countries/index.js'

const alpha2ByAlpha3: ReadonlyMap<string, string> = new Map(Object.entries(codes.getAlpha3Codes()))
const alpha2Codes: ReadonlySet<string> = new Set(alpha2ByAlpha3.values())

/** Codes that stand for a country although ISO 3166-1 does not assign them. */
const others: Readonly<Record<string, string>> = { XKX: 'XK', UK: 'GB', EL: 'GR' }

/** ISO 3166-1 alpha-2 of a code in either form and any case, or undefined for anything else. */
export function alpha2Of(code: string): string | undefined {
  const upper = others[code.toUpperCase()] ?? code.toUpperCase()
  return alpha2Codes.has(upper) ? upper : alpha2ByAlpha3.get(upper)
}
