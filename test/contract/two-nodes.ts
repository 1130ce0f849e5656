import { afterEach, beforeEach } from 'vitest'

/** What a contract is held against, new for each test and closed after it. */
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

/** Does something so many times at once, on two nodes in turn. */
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
