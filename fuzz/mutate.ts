import { gzipSync } from 'node:zlib'
import type { Draft, Pair } from './draft.ts'
import { mutatedJson, mutatedText, nearlyText } from './mutations.ts'
import {
  contentTypes,
  extremeValues,
  headerNames,
  headerPieces,
  methods,
  syntaxPieces,
  textPieces,
} from './pieces.ts'
import type { Random } from './random.ts'

/** Bytes to send as they are, in place of a value to serialise as JSON. */
export class Written {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}

type Mutate = (random: Random, draft: Draft) => Draft

/** Changes one to three parts of a good request. */
export function mutated(random: Random, good: Draft): Draft {
  let draft = good
  for (let left = 1 + random.below(3); left > 0; left -= 1)
    draft = mutateOf(random, draft)(random, draft)
  return draft
}

/** Picks a mutation of a part that the draft has. */
function mutateOf(random: Random, { query, body, payment, signIn }: Draft): Mutate {
  // Prefers the parts that are checked last: a request that is refused early does not test later code.
  if (payment !== undefined && random.chance(0.7)) return mutatePayment
  if (signIn !== undefined && random.chance(0.7)) return mutateSignIn
  const parts: Mutate[] = [mutatePath, mutateHeaders, mutateHeaders, mutateQuery]
  if (random.chance(0.15)) parts.push(mutateMethod)
  if (query.length > 0) parts.push(mutateQuery, mutateQuery)
  if (body !== undefined) parts.push(mutateBody, mutateBody, mutateContentType)
  return random.pick(parts)
}

const mutateMethod: Mutate = (random, draft) => ({ ...draft, method: random.pick(methods) })

const mutatePath: Mutate = (random, draft) => {
  const parts = draft.path.split('/')
  const at = 1 + random.below(parts.length - 1)
  const part = parts[at] ?? ''
  const other = random.chance(0.4)
    ? nearlyText(random, part)
    : mutatedText(random, part, textPieces, 2)
  return { ...draft, path: parts.map((text, place) => (place === at ? other : text)).join('/') }
}

const mutateQuery: Mutate = (random, draft) => {
  const { query } = draft
  const pair = query.length > 0 ? random.pick(query) : (['q', 'a'] as const)
  const [name, value] = pair
  const changed: Pair = random.chance(0.75)
    ? [name, mutatedText(random, value, textPieces, 3)]
    : [mutatedText(random, name, textPieces, 2), value]
  if (random.chance(0.2)) return { ...draft, query: [...query, changed] }
  return { ...draft, query: [...query.filter((other) => other !== pair), changed] }
}

const mutateHeaders: Mutate = (random, draft) => {
  const { headers } = draft
  if (headers.length > 0 && random.chance(0.6)) {
    const pair = random.pick(headers)
    const changed: Pair = [pair[0], mutatedText(random, pair[1], headerPieces, 3)]
    const kept = random.chance(0.3) ? headers : headers.filter((other) => other !== pair)
    return { ...draft, headers: [...kept, changed] }
  }
  const many = random.chance(0.01) ? 300 : 1
  const more = Array.from({ length: many }, (): Pair => {
    return [
      random.pick(headerNames),
      mutatedText(random, random.pick(headerPieces), headerPieces, 2),
    ]
  })
  return { ...draft, headers: [...headers, ...more] }
}

const mutateContentType: Mutate = (random, draft) => {
  const type: Pair = ['content-type', random.pick(contentTypes)]
  const encoding: Pair = ['content-encoding', random.pick(['gzip', 'br', 'identity', 'x', ''])]
  return { ...draft, headers: [...draft.headers, random.chance(0.8) ? type : encoding] }
}

const mutateBody: Mutate = (random, draft) => {
  const { body } = draft
  if (body instanceof Written) return draft
  const throwOf = random.below(20)
  if (throwOf < 12) return { ...draft, body: mutatedJson(random, body) }
  const text = JSON.stringify(body) ?? ''
  if (throwOf < 18) {
    const spoiledText = mutatedText(random, text, syntaxPieces, 4)
    return { ...draft, body: new Written(Buffer.from(spoiledText)) }
  }
  return { ...draft, body: new Written(otherBytes(random, text)) }
}

/** A body in another encoding, with bytes that are not UTF-8, deeply nested, or of a size at the limit. */
function otherBytes(random: Random, text: string): Buffer {
  switch (random.below(6)) {
    case 0:
      return Buffer.from(text, 'utf16le')
    case 1:
      return gzipSync(text)
    case 2:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)])
    case 3:
      return Buffer.from(`${text}\xff\xc0`, 'latin1')
    case 4:
      return Buffer.from('['.repeat(random.pick([1_000, 8_000, 16_384])))
    default:
      return Buffer.from(text.padEnd(random.pick([16_383, 16_384, 16_385, 40_000]), ' '))
  }
}

const mutatePayment: Mutate = (random, draft) => ({
  ...draft,
  payment: spoiledEnvelope(random, draft.payment),
})

const mutateSignIn: Mutate = (random, draft) => ({
  ...draft,
  signIn: spoiledEnvelope(random, draft.signIn),
})

/** Breaks the value, its JSON or its base64. The value is the most likely, because it is checked last. */
function spoiledEnvelope(random: Random, value: unknown): unknown {
  if (value instanceof Written) return value
  const throwOf = random.below(20)
  if (throwOf < 13) return mutatedJson(random, value)
  const json = JSON.stringify(value) ?? ''
  if (throwOf < 16) return base64Of(mutatedText(random, json, syntaxPieces, 3))
  const base64 = Buffer.from(json).toString('base64')
  if (throwOf < 19) return new Written(latin1(mutatedText(random, base64, syntaxPieces, 3)))
  const sizes = [13_311, 13_312, 13_313, 15_000]
  const other = random.pick([
    Buffer.from(json).toString('base64url'),
    Buffer.from(json).toString('hex'),
    json,
    base64.padEnd(random.pick(sizes), '='),
    `${base64}, ${base64}`,
    Buffer.from(JSON.stringify(random.pick(extremeValues)) ?? '').toString('base64'),
  ])
  return new Written(latin1(other))
}

function base64Of(text: string): Written {
  return new Written(Buffer.from(Buffer.from(text).toString('base64')))
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}
