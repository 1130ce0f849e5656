import { hkdfSync } from 'node:crypto'

/**
 * 32 bytes that follow from one of the operator's keys and a purpose. Nobody gets from them to the
 * key, or to what another purpose has, and every node with the same keys derives the same (RFC 5869).
 */
export function derivedBytes(operatorKey: Buffer, purpose: string): Buffer {
  const derived = hkdfSync('sha256', operatorKey, Buffer.alloc(0), `kiosk402:${purpose}`, 32)
  return Buffer.from(derived)
}
