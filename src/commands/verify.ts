import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { fetchedKeys, NotAReceipt, verifyReceipt } from './verify-receipt.ts'

const usage = `usage: npm run verify -- receipt.json [--keys jwks.json]

Checks a delivery receipt: the answer of /api/catalog/orders/{orderId}/receipt, or its "receipt" alone.
The keys are read from the store that the receipt names, or from the file given with --keys.`

/** 0: what the receipt says is proven. 1: it is not. 2: nothing could be checked. */
async function main(args: readonly string[]): Promise<0 | 1> {
  const { file, keys } = argumentsOf(args)
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

function argumentsOf(args: readonly string[]): { file: string; keys: string | undefined } {
  try {
    const options = { keys: { type: 'string' } } as const
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    const [file, ...rest] = positionals
    if (file !== undefined && rest.length === 0) return { file, keys: values.keys }
  } catch (error) {
    throw new NotAReceipt(`${error instanceof Error ? error.message : error}\n\n${usage}`)
  }
  throw new NotAReceipt(`One file is needed.\n\n${usage}`)
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

function failed(error: unknown): 2 {
  if (!(error instanceof NotAReceipt)) throw error
  console.error(error.message)
  return 2
}

process.exitCode = await main(process.argv.slice(2)).catch(failed)
