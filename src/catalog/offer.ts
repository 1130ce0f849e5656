import type { goods } from './good.ts'

export type Kind = keyof typeof goods

/** Something the store sells, as its supplier lists it. Prices for buyers come from `pricing.ts`. */
export type Offer = Parameters<(typeof goods)[Kind]['requiredFields']>[0]

/** The list that an offer is on: the offers of one kind at one supplier. */
export type ListName = string

export function listName(supplier: string, kind: Kind): ListName {
  return `${supplier}/${kind}`
}

/** The supplier whose list it is. */
export function supplierOf(list: ListName): string {
  return list.slice(0, list.indexOf('/'))
}

export function listOf({ source, kind }: Pick<Offer, 'source' | 'kind'>): ListName {
  return listName(source.supplier, kind)
}

/** The supplier of all records from before records named one. */
export const firstSupplier = 'zendit'
