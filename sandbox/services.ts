import { readFileSync } from 'node:fs'
import type { BtcpayOptions } from './btcpay/options.ts'
import type { Part } from './part.ts'
import type { SupplierOptions } from './supplier/server.ts'

/** What the process of the services starts, from the file that its argument names. */
export interface Services {
  readonly supplier?: SupplierOptions
  readonly btcpay?: BtcpayOptions
}

const { supplier, btcpay } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Services
const starting: Promise<Part>[] = [
  ...(supplier
    ? [import('./supplier/server.ts').then((part) => part.startSupplier(supplier))]
    : []),
  ...(btcpay ? [import('./btcpay/server.ts').then((part) => part.startBtcpay(btcpay))] : []),
]
const parts = await Promise.all(starting)
process.once('SIGTERM', async () => {
  await Promise.all(parts.map((part) => part.stop()))
  process.exit(0)
})
