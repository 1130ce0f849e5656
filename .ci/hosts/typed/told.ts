/** What a typed client read, for the story that started it. */
export interface Told {
  readonly total: number | undefined
  readonly orderId: string
  readonly states: readonly string[]
}

export function told(said: Told): void {
  process.stdout.write(JSON.stringify(said))
}
