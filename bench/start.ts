import { rm } from 'node:fs/promises'
import { newDataDir, startChildStore } from '../test/child-store.ts'
import { type Figure, figure, median } from './table.ts'

const rounds = 3

/** How long a store of 12,000 offers takes to start with an empty folder, to start again, and to stop. */
export async function measureStart(): Promise<Figure[]> {
  const first: number[] = []
  const again: number[] = []
  const stops: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const dataDir = await newDataDir()
    for (const times of [first, again]) {
      const store = await startChildStore({ dataDir })
      times.push(store.readyInMs / 1_000)
      stops.push((await store.stop()).ms / 1_000)
    }
    await rm(dataDir, { recursive: true, force: true })
  }
  return [
    figure('Start to ready, empty folder', median(first), 's', { most: 10 }),
    figure('Start to ready, warm', median(again), 's', { most: 4 }),
    figure('SIGTERM to stopped', median(stops), 's', { most: 10 }),
  ]
}
