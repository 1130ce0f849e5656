import { hkdfSync } from 'node:crypto'

/**
 * Derives 32 bytes from an operator key and a purpose (HKDF, RFC 5869). They reveal neither the key nor
 * the bytes of another purpose. Every node with the same key derives the same bytes.
 */
export function derivedBytes(operatorKey: Buffer, purpose: string): Buffer {
  const derived = hkdfSync('sha256', operatorKey, Buffer.alloc(0), `kiosk402:${purpose}`, 32)
  return Buffer.from(derived)
}
