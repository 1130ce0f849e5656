/**
 * A list of numbers in a typed array that grows. Unlike millions of objects, it costs the garbage collector
 * nothing.
 */
export interface Growing<Numbers> {
  push(number: number): void
  at(index: number): number
  readonly length: () => number
  /** A copy of the numbers, in an array of exactly that length. */
  take(): Numbers
}

/** Whole numbers from 0 to 2^32 - 1. */
export function growing(): Growing<Uint32Array> {
  return grow((size) => new Uint32Array(size))
}

/** Any numbers, including NaN. */
export function growingFloats(): Growing<Float64Array> {
  return grow((size) => new Float64Array(size))
}

function grow<Numbers extends Uint32Array | Float64Array>(
  make: (size: number) => Numbers,
): Growing<Numbers> {
  let numbers = make(1024)
  let length = 0
  return {
    push(number) {
      if (length === numbers.length) {
        const larger = make(2 * length)
        larger.set(numbers)
        numbers = larger
      }
      numbers[length++] = number
    },
    at: (index) => numbers[index] as number,
    length: () => length,
    take: () => numbers.slice(0, length) as Numbers,
  }
}
