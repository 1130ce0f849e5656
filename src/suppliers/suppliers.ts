import type { SupplierIntegration } from './supplier.ts'
import { zendit } from './zendit/zendit.ts'

/** Every supplier that a store can buy from. Of two that list the same offer, the first one sells it. */
export const suppliers = { zendit } as const satisfies Record<string, SupplierIntegration>

export type SupplierName = keyof typeof suppliers

export const supplierNames = Object.keys(suppliers) as SupplierName[]
