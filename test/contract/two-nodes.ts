import { afterEach, beforeEach } from 'vitest'

/** A new harness for each test, which is closed after it. */
export function newForEach<Harness extends { close(): Promise<void> }>(
  start: () => Promise<Harness>,
): () => Harness {
  let harness: Harness
  beforeEach(async () => {
    harness = await start()
  })
  afterEach(() => harness.close())
  return () => harness
}

/** Calls `act` this many times at once, alternating between two nodes. */
export function inTurn<Node, Answer>(
  nodes: { readonly store: Node; readonly other: Node },
  times: number,
  act: (node: Node, index: number) => Promise<Answer>,
): Promise<Answer[]> {
  const { store, other } = nodes
  return Promise.all(
    Array.from({ length: times }, (_, index) => act(index % 2 ? store : other, index)),
  )
}
