import type { OfferSource } from '../catalog/ports.ts'
import type { Outside } from '../config.ts'
import { variablesOf } from '../environment/suppliers.ts'
import type { Health } from '../health/health.ts'
import { withRecentValue } from '../operations/cached-reads.ts'
import type { SupplierWallet } from '../operations/float-monitor.ts'
import {
  type ConnectedSupplier,
  type Held,
  noFundsCode,
  type Placed,
  type Supplier,
} from '../suppliers/supplier.ts'
import { type SupplierName, supplierNames, suppliers } from '../suppliers/suppliers.ts'

/** No order has this reference, so a supplier always answers that it holds no such purchase. */
const probedReference = 'kiosk402probe'

export type Supply = ReturnType<typeof connectSupply>

export function connectSuppliers(
  { suppliers: configured }: Pick<Outside, 'suppliers'>,
  now: () => Date,
  signal?: AbortSignal,
): ReadonlyMap<SupplierName, ConnectedSupplier> {
  const connected = new Map<SupplierName, ConnectedSupplier>()
  for (const name of supplierNames) {
    const access = configured[name]
    if (access) connected.set(name, suppliers[name].connect(access, now, signal))
  }
  return connected
}

export function connectSupply(config: Pick<Outside, 'suppliers'>, now: () => Date) {
  const connected = connectSuppliers(config, now)
  return {
    sources: sourcesOf(config),
    connected,
    wallets: new Map(
      Array.from(connected, ([name, one]) => [name, withRecentValue(() => walletOf(one))]),
    ),
    probes: new Map(Array.from(connected, ([name, one]) => [name, () => probe(one)])),
    async problems(): Promise<readonly string[]> {
      const answers = Array.from(connected, async ([name, one]) => {
        const [, key] = variablesOf(name)
        return (await one.acceptsKey()) === 'no' ? [`${key}: the supplier refuses it`] : []
      })
      return (await Promise.all(answers)).flat()
    },
  }
}

function sourcesOf({ suppliers: configured }: Pick<Outside, 'suppliers'>) {
  const sources = new Map<string, OfferSource>()
  for (const name of supplierNames) {
    const access = configured[name]
    if (access) sources.set(name, suppliers[name].offersOf(access))
  }
  return sources
}

export function walletsOf<How extends 'read' | 'last'>({ wallets }: Supply, how: How) {
  return new Map(Array.from(wallets, ([name, wallet]) => [name, wallet[how]]))
}

async function walletOf(supplier: ConnectedSupplier): Promise<SupplierWallet> {
  const balance = await supplier.balance()
  if (balance.outcome === 'unknown') throw new Error(balance.reason)
  return { available: balance.available / balance.divisor, currency: balance.currency }
}

async function probe(supplier: ConnectedSupplier): Promise<void> {
  const lookup = await supplier.lookup('voucher', probedReference)
  if (lookup.outcome === 'unknown') throw new Error(lookup.reason)
}

/** Tells `health` of insufficient funds and of deliveries at once. Other nodes learn of them seconds later. */
export function fundedSupplier(
  name: string,
  supplier: Supplier,
  health: Pick<Health, 'noteFundsRefusal' | 'noteFundsTaken'>,
  now: () => Date,
): Supplier {
  const noted = <T extends Placed | Held>(reference: string, answer: T): T => {
    if (answer.outcome === 'declined' && answer.code === noFundsCode) {
      health.noteFundsRefusal(name, { reference, at: now() })
    }
    if (answer.outcome === 'delivered') health.noteFundsTaken(name, reference)
    return answer
  }
  return {
    ...supplier,
    place: async (order) => noted(order.reference, await supplier.place(order)),
    lookup: async (kind, reference) => noted(reference, await supplier.lookup(kind, reference)),
  }
}
