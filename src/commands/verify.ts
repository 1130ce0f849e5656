import { readFile } from 'node:fs/promises'
import { parsed, runCommand, UsageError } from './command-line.ts'
import { fetchedKeys, NotAReceipt, verifyReceipt } from './verify-receipt.ts'

const usage = `Usage: npm run verify -- receipt.json [--keys jwks.json]

Checks a delivery receipt: the answer of /api/catalog/orders/{orderId}/receipt, or its "receipt" alone.
The keys are read from the store that the receipt names, or from the file given with --keys.`

/** 0: what the receipt says is proven. 1: it is not. 2: nothing could be checked. */
async function main(args: readonly string[]): Promise<0 | 1 | 2> {
  const wanted = argumentsOf(args)
  try {
    return await check(wanted)
  } catch (error) {
    if (!(error instanceof NotAReceipt)) throw error
    console.error(error.message)
    return 2
  }
}

interface Wanted {
  readonly file: string
  /** The file with the keys; absent: the store's own. */
  readonly keys: string | undefined
}

async function check({ file, keys }: Wanted): Promise<0 | 1> {
  const text = await readText(file)
  const { isProven, lines } = await verifyReceipt(
    text,
    keys === undefined
      ? fetchedKeys
      : async () => ({ keys: jsonOf(await readText(keys), keys), from: keys }),
  )
  console.log(lines.join('\n'))
  return isProven ? 0 : 1
}

function argumentsOf(args: readonly string[]): Wanted {
  const options = { keys: { type: 'string' } } as const
  const { values, positionals } = parsed({ args: [...args], options, allowPositionals: true })
  const [file, ...rest] = positionals
  if (file === undefined || rest.length > 0) throw new UsageError('One file is needed')
  return { file, keys: values.keys }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    throw new NotAReceipt(`${file} cannot be read: ${code}`)
  }
}

function jsonOf(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new NotAReceipt(`${file} is not JSON; it should be a copy of /.well-known/jwks.json`)
  }
}

await runCommand({ name: 'verify', usage, main, failed: 2 })
