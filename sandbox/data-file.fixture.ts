import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'

/** A file name for each test, in a folder that does not exist yet and is removed after the test. */
export function dataFileOfTest(): () => string {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kiosk402-sandbox-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))
  return () => join(folder, 'deep', 'ledger.jsonl')
}
