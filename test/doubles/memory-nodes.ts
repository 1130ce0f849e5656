import {
  aliveForMinutes,
  doesWithout,
  hereForSeconds,
  type Joining,
  type KeyUse,
  keyToUse,
  type NodeBook,
  type Other,
} from '../../src/nodes/nodes.ts'

interface Row extends Omit<Other, 'isHere'> {
  readonly id: string
  seenAt: number
  hasLeft: boolean
}

/** The nodes of a store in memory, tested by the same contract as the book in PostgreSQL. */
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
        .map(({ name, keyIds, keyId, version, settings, hasLeft, seenAt }) => {
          const isHere = !hasLeft && seenAt > now().getTime() - hereForSeconds * 1_000
          return { name, keyIds, keyId, version, settings, isHere }
        })
      const keyId = keyToUse(node, others, inForce)
      if (keyId !== inForce?.keyId) inForce = { name: node.name, keyId }
      const { lostKeys: _, settings: settingsUnder, ...own } = node
      const settings = settingsUnder(keyId)
      rows.set(node.id, { ...own, keyId, settings, seenAt: now().getTime(), hasLeft: false })
      return { keyId, others }
    },
    async leave(id) {
      const row = rows.get(id)
      if (row) row.hasLeft = true
    },
    inForce: async () => inForce,
  }
}
