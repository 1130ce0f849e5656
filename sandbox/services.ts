import { readFileSync } from 'node:fs'
import type { Services } from './launch.ts'

const { supplier, btcpay } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Services
const parts = await Promise.all([
  supplier && import('./supplier/server.ts').then((part) => part.startSupplier(supplier)),
  btcpay && import('./btcpay/server.ts').then((part) => part.startBtcpay(btcpay)),
])
process.once('SIGTERM', async () => {
  await Promise.all(parts.map((part) => part?.stop()))
  process.exit(0)
})
