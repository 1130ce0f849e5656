/** What the calls of the adapter need, by the document of each. */
const needed = [
  'canviewinvoices',
  'cancreateinvoice',
  'cancreatepullpayments',
  'canarchivepullpayments',
  'canviewpullpayments',
  'canviewstoresettings',
] as const

/** What one permission brings with it. */
const includes: Readonly<Record<string, readonly string[]>> = {
  canmodifystoresettings: ['canviewstoresettings', 'canmodifyinvoices', 'canmanagepullpayments'],
  canviewstoresettings: ['canviewinvoices', 'canviewpullpayments'],
  canmodifyinvoices: ['canviewinvoices', 'cancreateinvoice'],
  canmanagepullpayments: ['cancreatepullpayments', 'canarchivepullpayments', 'canviewpullpayments'],
  cancreatepullpayments: ['canviewpullpayments'],
}

/**
 * The permissions that an API key lacks for this store, by BTCPay's names.
 *
 * @param granted "btcpay.store.canviewinvoices" for all stores, or with ":{storeId}" for one
 */
export function permissionsMissing(granted: readonly string[], storeId: string): readonly string[] {
  if (granted.includes('unrestricted')) return []
  const here = granted.flatMap((one) => {
    const [, name, store = storeId] = /^btcpay\.store\.(\w+)(?::(.+))?$/.exec(one) ?? []
    return name !== undefined && store === storeId ? [name] : []
  })
  const all = new Set(here)
  // A set may grow while it is walked: what comes in is walked as well.
  for (const name of all) for (const further of includes[name] ?? []) all.add(further)
  return needed.filter((name) => !all.has(name)).map((name) => `btcpay.store.${name}`)
}
