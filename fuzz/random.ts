import { seeded } from '../test/model/random.ts'

/** The random choices for one input, which depend on its seed and number alone. */
export interface Random {
  /** A whole number from 0 to `end` − 1. */
  below(end: number): number
  /** True with this probability. */
  chance(share: number): boolean
  pick<T>(list: readonly T[]): T
}

export function randomFor(seed: number, number: number): Random {
  const next = seeded(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b))
  const below = (end: number) => Math.floor(next() * end)
  return {
    below,
    chance: (share) => next() < share,
    pick: <T>(list: readonly T[]) => list[below(list.length)] as T,
  }
}
