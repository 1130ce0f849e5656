import {
  aliveForMinutes,
  doesWithout,
  type Joining,
  type KeyUse,
  keyToUse,
  type NodeBook,
  type Other,
} from '../../src/nodes.ts'

interface Row extends Other {
  readonly id: string
  seenAt: number
  hasLeft: boolean
}

/** The nodes of a store in memory, held to the same contract as the book on PostgreSQL. */
export function memoryNodes(now: () => Date = () => new Date()): NodeBook {
  const rows = new Map<string, Row>()
  let inForce: KeyUse | undefined
  const isGone = (row: Row, node: Joining) =>
    row.id !== node.id &&
    ((row.hasLeft && row.name === node.name) ||
      row.seenAt <= now().getTime() - aliveForMinutes * 60_000 ||
      doesWithout(node, row.keyId))

  return {
    async beat(node) {
      for (const row of rows.values()) if (isGone(row, node)) rows.delete(row.id)
      const others = [...rows.values()]
        .filter(({ id }) => id !== node.id)
        .map(({ name, keyIds, keyId }) => ({ name, keyIds, keyId }))
      const keyId = keyToUse(node, others, inForce)
      if (keyId !== inForce?.keyId) inForce = { name: node.name, keyId }
      const { id, name, keyIds } = node
      rows.set(id, { id, name, keyIds, keyId, seenAt: now().getTime(), hasLeft: false })
      return { keyId, others }
    },
    async leave(id) {
      const row = rows.get(id)
      if (row) row.hasLeft = true
    },
    inForce: async () => inForce,
  }
}
