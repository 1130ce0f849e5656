import type { Material } from './draft.ts'
import { goodDraft } from './grammar.ts'
import { mutated } from './mutate.ts'
import { randomFor } from './random.ts'
import { brokenHttp } from './raw.ts'
import { written } from './write.ts'

/** One input, ready to be sent. */
export interface Input {
  readonly number: number
  /** Which way of using the store it began as. */
  readonly name: string
  readonly method: string
  readonly path: string
  readonly bytes: Buffer
  /** It is no whole request, or more than one: sent alone, and then the connection is ended. */
  readonly isRaw: boolean
}

/** The share of inputs that are left as they should be: they show that the rest is near to good. */
const goodShare = 0.04
/** The share of inputs that are not HTTP as it should be. */
const rawShare = 0.06

/** The input of this number: always the same for the same seed and the same material. */
export function inputOf(seed: number, number: number, material: Material): Input {
  const random = randomFor(seed, number)
  const good = goodDraft(random, material)
  const { name, method, path } = good
  const way = random.below(1_000) / 1_000
  if (way < goodShare) {
    return { number, name, method, path, bytes: written(good, material, number), isRaw: false }
  }
  if (way < goodShare + rawShare) {
    const bytes = brokenHttp(random, written(good, material, number))
    return { number, name: 'raw', method, path, bytes, isRaw: true }
  }
  const draft = mutated(random, good)
  const bytes = written(draft, material, number)
  return { number, name, method: draft.method, path: draft.path, bytes, isRaw: false }
}
