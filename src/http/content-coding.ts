import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** The forms in which an answer can be sent, the smallest first. */
const codings = ['br', 'gzip', 'identity'] as const
export type Coding = (typeof codings)[number]
export type Compressed = Exclude<Coding, 'identity'>

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/**
 * Brotli's 5 is the knee: of a page of offers it makes a quarter less than gzip in about gzip's
 * time. From 9 on it takes ten times as long for one percent.
 */
const brotliQuality = 5

/** Compresses in Node's thread pool, away from the requests. */
export function compress(body: Buffer, coding: Compressed): Promise<Buffer> {
  if (coding === 'gzip') return zip(body)
  return brotli(body, {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
    },
  })
}

/**
 * The forms that the caller takes, the one it likes best first (RFC 9110, 12.5.3). Of equals the
 * smaller one comes first. Empty when it refuses everything that there is.
 */
export function acceptedCodings(header: string | undefined): Coding[] {
  // Without the header any form may be sent; who did not ask may well not be able to read it.
  if (header === undefined) return ['identity']
  const weights = weightsOf(header)
  const any = weights.get('*')
  const weightOf = (coding: Coding) =>
    weights.get(coding) ?? any ?? (coding === 'identity' ? least : 0)
  return codings
    .map((coding) => ({ coding, weight: weightOf(coding) }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ coding }) => coding)
}

/** Plain text that was not spoken of is taken, but anything that was asked for is liked better. */
const least = 0.0001

const member = /^([\w*-]+)(?:\s*;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i

/** What each coding is worth to the caller. A member that is not readable asks for nothing. */
function weightsOf(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const part of header.split(',')) {
    const [, name, weight] = member.exec(part.trim()) ?? []
    if (name !== undefined)
      weights.set(name.toLowerCase().replace(/^x-gzip$/, 'gzip'), Number(weight ?? 1))
  }
  return weights
}
