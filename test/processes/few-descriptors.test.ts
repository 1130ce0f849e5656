import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { newDataDir, startChildStore } from '../child-store.ts'
import { bodyFor, buy, eventually, get } from '../stories/requests.ts'
import { buyerAt } from './data-folder.ts'

const run = promisify(execFile)
const prlimit = '/usr/bin/prlimit'

test.skipIf(!existsSync(prlimit))(
  'a store that may open no more files serves again when it may, and ends when it is told to',
  async () => {
    const dataDir = await newDataDir()
    const store = await startChildStore({ dataDir, env: { SANDBOX_OFFERS: '600' } })
    const visitors: Socket[] = []
    try {
      const buyer = await buyerAt(store, dataDir)
      const { pid } = store.process
      const spare = 12
      const most = readdirSync(`/proc/${pid}/fd`).length + spare
      await run(prlimit, ['--pid', String(pid), `--nofile=${most}`])
      // Who is not accepted waits in the kernel, or is let go of at once.
      for (let count = 0; count < 5 * spare; count += 1) {
        const socket = connect({ host: '127.0.0.1', port: store.port })
        socket.on('error', () => undefined)
        await once(socket, 'connect')
        visitors.push(socket)
      }
      await eventually(
        async () => readdirSync(`/proc/${pid}/fd`).length,
        (open) => open >= most - 2,
      )
      for (const socket of visitors) socket.destroy()
      await eventually(
        () => get(store.url, '/readyz').catch(() => undefined),
        (answer) => answer?.status === 200,
      )
      const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
      expect(answer.status).toBe(200)
      expect(await store.stop()).toMatchObject({ code: 0 })
    } finally {
      for (const socket of visitors) socket.destroy()
      await store.stop('SIGKILL')
      await rm(dataDir, { recursive: true, force: true })
    }
  },
)
