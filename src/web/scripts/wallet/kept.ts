/** A payment that was signed and whose fate is not known yet. */
export interface KeptPayment {
  readonly purchaseUrl: string
  /** The purchase as it was sent, so that it is the very same when it is sent again. */
  readonly body: string
  readonly header: string
  readonly key: string
}

/** Where a browser keeps something for all of its tabs, also when they were closed. */
export interface BrowserStorage {
  getItem(name: string): string | null
  setItem(name: string, value: string): void
  removeItem(name: string): void
}

/**
 * Remembers a signed payment for an offer until it is known what became of it. While there is one, no
 * other is signed for this offer, so that nobody pays twice who loads the page again, opens it in
 * another tab, or comes back after closing it in the middle of paying.
 *
 * @param storageOf throws in browsers that are told to keep nothing
 */
export function keeping(storageOf: () => BrowserStorage, offerId: string) {
  const name = `kiosk402-payment ${offerId}`
  const find = (): KeptPayment | undefined => {
    const text = isPossible() ? storageOf().getItem(name) : null
    // Only the code below writes there.
    return text === null ? undefined : (JSON.parse(text) as KeptPayment)
  }
  /** Whether this browser keeps anything for this site. */
  const isPossible = (): boolean => {
    try {
      storageOf().setItem('kiosk402-probe', '')
      storageOf().removeItem('kiosk402-probe')
      return true
    } catch {
      return false
    }
  }
  return {
    find,
    isPossible,
    /** False where another tab was first: its payment stays, and this one must not be sent. */
    keep(payment: KeptPayment): boolean {
      if (find() !== undefined) return false
      storageOf().setItem(name, JSON.stringify(payment))
      return true
    },
    /** A payment that another tab has kept since is not forgotten with it. */
    forget(payment: KeptPayment): void {
      if (find()?.header === payment.header) storageOf().removeItem(name)
    },
  }
}

export type Kept = ReturnType<typeof keeping>
