/** A payment that was signed and whose fate is not known yet. */
export interface KeptPayment {
  readonly purchaseUrl: string
  /** The purchase as it was sent, so that it is the very same when it is sent again. */
  readonly body: string
  readonly header: string
  readonly key: string
}

/** Where a tab of a browser keeps something while it is open, reloads included. */
export interface TabStorage {
  getItem(name: string): string | null
  setItem(name: string, value: string): void
  removeItem(name: string): void
}

const name = 'kiosk402-payment'

/**
 * Remembers a signed payment until it is known what became of it. While there is one, no other is
 * signed, so that whoever loads the page again in the middle of paying cannot pay twice.
 */
export function keeping(storage: TabStorage) {
  return {
    find(): KeptPayment | undefined {
      const text = storage.getItem(name)
      // What stands there was written below, by this very site.
      return text === null ? undefined : (JSON.parse(text) as KeptPayment)
    },
    keep: (payment: KeptPayment) => storage.setItem(name, JSON.stringify(payment)),
    forget: () => storage.removeItem(name),
  }
}

export type Kept = ReturnType<typeof keeping>
