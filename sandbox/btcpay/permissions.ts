/** What the calls need, as BTCPay's controllers ask for it. The first that fits counts. */
const needs: readonly (readonly [calls: RegExp, permission: string])[] = [
  [/^GET .*\/invoices/, 'canviewinvoices'],
  [/^POST .*\/invoices$/, 'cancreateinvoice'],
  [/^(POST|DELETE) .*\/invoices\//, 'canmodifyinvoices'],
  [/^GET .*\/pull-payments$/, 'canviewpullpayments'],
  [/^POST .*\/(pull-payments|payouts)$/, 'cancreatepullpayments'],
  [/^DELETE .*\/pull-payments\//, 'canarchivepullpayments'],
  [/^GET .*\/payouts/, 'canviewpayouts'],
  [/^(POST|DELETE) .*\/payouts\//, 'canmanagepayouts'],
  [/\/webhooks/, 'webhooks.canmodifywebhooks'],
  [/^GET .*\/stores\//, 'canviewstoresettings'],
]

const includes: Readonly<Record<string, readonly string[]>> = {
  canmodifystoresettings: [
    'canviewstoresettings',
    'canmodifyinvoices',
    'canmanagepullpayments',
    'canmanagepayouts',
    'webhooks.canmodifywebhooks',
  ],
  canviewstoresettings: ['canviewinvoices', 'canviewpullpayments', 'canviewpayouts'],
  canmodifyinvoices: ['canviewinvoices', 'cancreateinvoice'],
  canmanagepullpayments: ['cancreatepullpayments', 'canarchivepullpayments'],
  cancreatepullpayments: ['canviewpullpayments'],
  canmanagepayouts: ['canviewpayouts'],
}

const prefix = 'btcpay.store.'

/**
 * The permission that a call needs, by BTCPay's name; undefined if any key will do.
 *
 * @param call its method and its path
 */
export function permissionFor(call: string): string | undefined {
  const need = needs.find(([calls]) => calls.test(call))
  return need && `${prefix}${need[1]}`
}

export function isGranted(granted: readonly string[], wanted: string): boolean {
  return granted.some((one) => {
    const further = includes[one.slice(prefix.length)] ?? []
    return (
      one === wanted ||
      isGranted(
        further.map((name) => `${prefix}${name}`),
        wanted,
      )
    )
  })
}
