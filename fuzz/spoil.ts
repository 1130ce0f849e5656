import { gzipSync } from 'node:zlib'
import type { Dice } from './dice.ts'
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

/** Text that is already what will be sent, in place of a value that has yet to be written as JSON. */
export class Written {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}

type Spoil = (dice: Dice, draft: Draft) => Draft

/** Changes one to three parts of a good request. */
export function spoiled(dice: Dice, good: Draft): Draft {
  let draft = good
  for (let left = 1 + dice.below(3); left > 0; left -= 1) draft = spoilOf(dice, draft)(dice, draft)
  return draft
}

/** A part that is there: a request without a body has none to be spoiled. */
function spoilOf(dice: Dice, { query, body, payment, signIn }: Draft): Spoil {
  // Deepest first: what is refused at the door teaches nothing about the rooms.
  if (payment !== undefined && dice.chance(0.7)) return spoilPayment
  if (signIn !== undefined && dice.chance(0.7)) return spoilSignIn
  const parts: Spoil[] = [spoilPath, spoilHeaders, spoilHeaders, spoilQuery]
  if (dice.chance(0.15)) parts.push(spoilMethod)
  if (query.length > 0) parts.push(spoilQuery, spoilQuery)
  if (body !== undefined) parts.push(spoilBody, spoilBody, spoilContentType)
  return dice.pick(parts)
}

const spoilMethod: Spoil = (dice, draft) => ({ ...draft, method: dice.pick(methods) })

const spoilPath: Spoil = (dice, draft) => {
  const parts = draft.path.split('/')
  const at = 1 + dice.below(parts.length - 1)
  const part = parts[at] ?? ''
  const other = dice.chance(0.4) ? nearlyText(dice, part) : mutatedText(dice, part, textPieces, 2)
  return { ...draft, path: parts.map((text, place) => (place === at ? other : text)).join('/') }
}

const spoilQuery: Spoil = (dice, draft) => {
  const { query } = draft
  const pair = query.length > 0 ? dice.pick(query) : (['q', 'a'] as const)
  const [name, value] = pair
  const changed: Pair = dice.chance(0.75)
    ? [name, mutatedText(dice, value, textPieces, 3)]
    : [mutatedText(dice, name, textPieces, 2), value]
  if (dice.chance(0.2)) return { ...draft, query: [...query, changed] }
  return { ...draft, query: [...query.filter((other) => other !== pair), changed] }
}

const spoilHeaders: Spoil = (dice, draft) => {
  const { headers } = draft
  if (headers.length > 0 && dice.chance(0.6)) {
    const pair = dice.pick(headers)
    const changed: Pair = [pair[0], mutatedText(dice, pair[1], headerPieces, 3)]
    const kept = dice.chance(0.3) ? headers : headers.filter((other) => other !== pair)
    return { ...draft, headers: [...kept, changed] }
  }
  const many = dice.chance(0.01) ? 300 : 1
  const more = Array.from({ length: many }, (): Pair => {
    return [dice.pick(headerNames), mutatedText(dice, dice.pick(headerPieces), headerPieces, 2)]
  })
  return { ...draft, headers: [...headers, ...more] }
}

const spoilContentType: Spoil = (dice, draft) => {
  const type: Pair = ['content-type', dice.pick(contentTypes)]
  const encoding: Pair = ['content-encoding', dice.pick(['gzip', 'br', 'identity', 'x', ''])]
  return { ...draft, headers: [...draft.headers, dice.chance(0.8) ? type : encoding] }
}

const spoilBody: Spoil = (dice, draft) => {
  const { body } = draft
  if (body instanceof Written) return draft
  const throwOf = dice.below(20)
  if (throwOf < 12) return { ...draft, body: mutatedJson(dice, body) }
  const text = JSON.stringify(body) ?? ''
  if (throwOf < 18) {
    const spoiledText = mutatedText(dice, text, syntaxPieces, 4)
    return { ...draft, body: new Written(Buffer.from(spoiledText)) }
  }
  return { ...draft, body: new Written(otherBytes(dice, text)) }
}

/** A body in another encoding, with bytes that are no text, or of a size at the limit. */
function otherBytes(dice: Dice, text: string): Buffer {
  switch (dice.below(6)) {
    case 0:
      return Buffer.from(text, 'utf16le')
    case 1:
      return gzipSync(text)
    case 2:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)])
    case 3:
      return Buffer.from(`${text}\xff\xc0`, 'latin1')
    case 4:
      return Buffer.from('['.repeat(dice.pick([1_000, 8_000, 16_384])))
    default:
      return Buffer.from(text.padEnd(dice.pick([16_383, 16_384, 16_385, 40_000]), ' '))
  }
}

const spoilPayment: Spoil = (dice, draft) => ({
  ...draft,
  payment: spoiledEnvelope(dice, draft.payment),
})

const spoilSignIn: Spoil = (dice, draft) => ({
  ...draft,
  signIn: spoiledEnvelope(dice, draft.signIn),
})

/** Layer by layer: the value, its JSON, its base64. The first is the most likely, being deepest. */
function spoiledEnvelope(dice: Dice, value: unknown): unknown {
  if (value instanceof Written) return value
  const throwOf = dice.below(20)
  if (throwOf < 13) return mutatedJson(dice, value)
  const json = JSON.stringify(value) ?? ''
  if (throwOf < 16) return base64Of(mutatedText(dice, json, syntaxPieces, 3))
  const base64 = Buffer.from(json).toString('base64')
  if (throwOf < 19) return new Written(latin1(mutatedText(dice, base64, syntaxPieces, 3)))
  const sizes = [13_311, 13_312, 13_313, 15_000]
  const other = dice.pick([
    Buffer.from(json).toString('base64url'),
    Buffer.from(json).toString('hex'),
    json,
    base64.padEnd(dice.pick(sizes), '='),
    `${base64}, ${base64}`,
    Buffer.from(JSON.stringify(dice.pick(extremeValues)) ?? '').toString('base64'),
  ])
  return new Written(latin1(other))
}

function base64Of(text: string): Written {
  return new Written(Buffer.from(Buffer.from(text).toString('base64')))
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}
