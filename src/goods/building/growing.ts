/** Numbers of which nobody knows yet how many there will be. */
export interface Growing {
  push(number: number): void
  at(index: number): number
  readonly length: () => number
}

export function growing(): Growing {
  let numbers = new Uint32Array(1024)
  let length = 0
  return {
    push(number) {
      if (length === numbers.length) {
        const larger = new Uint32Array(2 * length)
        larger.set(numbers)
        numbers = larger
      }
      numbers[length++] = number
    },
    at: (index) => numbers[index] as number,
    length: () => length,
  }
}
