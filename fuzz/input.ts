import type { Material } from './draft.ts'
import { goodDraft } from './grammar.ts'
import { mutated } from './mutate.ts'
import { randomFor } from './random.ts'
import { brokenHttp } from './raw.ts'
import { written } from './write.ts'

/** One input, ready to send. */
export interface Input {
  readonly number: number
  /** The use of the store that it began as; `raw` for raw inputs. */
  readonly name: string
  readonly method: string
  readonly path: string
  readonly bytes: Buffer
  /** Whether it may be less or more than one request; it is then sent on a connection of its own. */
  readonly isRaw: boolean
}

/** The share of inputs that are not mutated: they show that the others are close to good requests. */
const goodShare = 0.04
/** The share of inputs with broken HTTP. */
const rawShare = 0.06

/** The input with this number; it depends on the seed and the material alone. */
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
